//! The settings of the installation, and the data that organizations share in it.

use gatehouse_orgs_api::{
    AdministrationChanges, ApiRate, Caller, ChangeError, ConsumerChanges, Filter, GeneralSettings,
    GeneralSettingsChanges, Organization, Overview, Page, Partnership, Retention, RetentionPolicy,
    RetentionRequest, ServiceError, ShareError, Shared, Sharing, Site,
};

use gatehouse_orgs_api::bindings::gatehouse::orgs::{
    retention as retention_wit, sharing as sharing_wit, site as site_wit,
};

use super::ImportedOrganizations;

impl Retention for ImportedOrganizations {
    fn set_retention(
        &self,
        external_id: &str,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        retention_wit::set_retention(external_id, *request, by)
    }

    fn unset_retention(&self, external_id: &str, by: &Caller) -> Result<(), ChangeError> {
        retention_wit::unset_retention(external_id, by)
    }

    fn default_retention(&self) -> Result<RetentionPolicy, ServiceError> {
        retention_wit::default_retention()
    }

    fn set_default_retention(
        &self,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        retention_wit::set_default_retention(*request, by)
    }

    fn unset_default_retention(&self, by: &Caller) -> Result<(), ChangeError> {
        retention_wit::unset_default_retention(by)
    }
}

impl Sharing for ImportedOrganizations {
    fn replace_consumers(
        &self,
        external_id: &str,
        changes: &ConsumerChanges,
        by: &Caller,
    ) -> Result<(), ShareError> {
        sharing_wit::replace_consumers(external_id, changes, by)
    }

    fn module_partnerships(&self, external_id: &str) -> Result<Vec<Partnership>, ServiceError> {
        sharing_wit::module_partnerships(external_id)
    }

    fn consumers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        sharing_wit::consumers(external_id, shared, number, size)
    }

    fn producers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        sharing_wit::producers(external_id, shared, number, size)
    }

    fn all_producers(
        &self,
        shared: &[Shared],
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        sharing_wit::all_producers(shared, filter, number, size)
    }
}

impl Site for ImportedOrganizations {
    fn read_general_settings(&self) -> Result<GeneralSettings, ServiceError> {
        site_wit::read_general_settings()
    }

    fn change_general_settings(
        &self,
        changes: &GeneralSettingsChanges,
        by: &Caller,
    ) -> Result<GeneralSettings, ChangeError> {
        site_wit::change_general_settings(changes, by)
    }

    fn read_api_rate(&self) -> Result<ApiRate, ServiceError> {
        site_wit::read_api_rate()
    }

    fn administer(
        &self,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError> {
        site_wit::administer(external_id, changes, by)
    }

    fn oversee(&self, organizations: &[String]) -> Result<Overview, ServiceError> {
        site_wit::oversee(organizations)
    }
}
