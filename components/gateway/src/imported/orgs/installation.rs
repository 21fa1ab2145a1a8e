//! What the installation sets, and what organizations share in it.

use gatehouse_orgs::{
    AdministrationChanges, ApiRate, Caller, Census, ChangeError, ConsumerChanges, Edition, Failure,
    Filter, GeneralSettings, GeneralSettingsChanges, Organization, Page, Partnership, Retention,
    RetentionPolicy, RetentionRequest, ShareError, Shared, Sharing, Site,
};

use super::{Cross, ImportedOrganizations, wit};

impl Retention for ImportedOrganizations {
    fn set_retention(
        &self,
        external_id: &str,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        let (request, by) = (request.clone().cross(), by.clone().cross());
        wit::retention::set_retention(external_id, request, &by).cross()
    }

    fn unset_retention(&self, external_id: &str, by: &Caller) -> Result<(), ChangeError> {
        wit::retention::unset_retention(external_id, &by.clone().cross()).cross()
    }

    fn default_retention(&self) -> Result<RetentionPolicy, Failure> {
        wit::retention::default_retention().cross()
    }

    fn set_default_retention(
        &self,
        request: &RetentionRequest,
        by: &Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        let (request, by) = (request.clone().cross(), by.clone().cross());
        wit::retention::set_default_retention(request, &by).cross()
    }

    fn unset_default_retention(&self, by: &Caller) -> Result<(), ChangeError> {
        wit::retention::unset_default_retention(&by.clone().cross()).cross()
    }
}

impl Sharing for ImportedOrganizations {
    fn replace_consumers(
        &self,
        external_id: &str,
        changes: &ConsumerChanges,
        by: &Caller,
    ) -> Result<(), ShareError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::sharing::replace_consumers(external_id, &changes, &by).cross()
    }

    fn module_partnerships(&self, external_id: &str) -> Result<Vec<Partnership>, Failure> {
        wit::sharing::module_partnerships(external_id).cross()
    }

    fn consumers(
        &self,
        edition: Edition,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        wit::sharing::consumers(edition.cross(), external_id, shared.cross(), number, size).cross()
    }

    fn producers(
        &self,
        edition: Edition,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        wit::sharing::producers(edition.cross(), external_id, shared.cross(), number, size).cross()
    }

    fn all_producers(
        &self,
        edition: Edition,
        shared: &[Shared],
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        let shared: Vec<_> = shared.to_vec().cross();
        let filter = filter.clone().cross();
        wit::sharing::all_producers(edition.cross(), &shared, &filter, number, size).cross()
    }
}

impl Site for ImportedOrganizations {
    fn read_general_settings(&self) -> Result<GeneralSettings, Failure> {
        wit::site::read_general_settings().cross()
    }

    fn change_general_settings(
        &self,
        changes: &GeneralSettingsChanges,
        by: &Caller,
    ) -> Result<GeneralSettings, ChangeError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::site::change_general_settings(&changes, &by).cross()
    }

    fn read_api_rate(&self) -> Result<ApiRate, Failure> {
        wit::site::read_api_rate().cross()
    }

    fn administer(
        &self,
        edition: Edition,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError> {
        let (changes, by) = (changes.clone().cross(), by.clone().cross());
        wit::site::administer(edition.cross(), external_id, &changes, &by).cross()
    }

    fn count_organizations(&self) -> Result<Census, Failure> {
        wit::site::count_organizations().cross()
    }
}
