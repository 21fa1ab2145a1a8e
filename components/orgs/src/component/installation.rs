//! The settings of the installation, and the sharing among its organizations.

use super::{Component, ORGS, wit};
use crate::{
    AdministrationChanges, ApiRate, Caller, ChangeError, ConsumerChanges, Filter, GeneralSettings,
    GeneralSettingsChanges, Organization, Overview, Page, Partnership, Retention, RetentionPolicy,
    RetentionRequest, ServiceError, ShareError, Shared, Sharing, Site,
};

impl wit::retention::Guest for Component {
    fn set_retention(
        external_id: String,
        request: RetentionRequest,
        by: Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        ORGS.set_retention(&external_id, &request, &by)
    }

    fn unset_retention(external_id: String, by: Caller) -> Result<(), ChangeError> {
        ORGS.unset_retention(&external_id, &by)
    }

    fn default_retention() -> Result<RetentionPolicy, ServiceError> {
        ORGS.default_retention()
    }

    fn set_default_retention(
        request: RetentionRequest,
        by: Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        ORGS.set_default_retention(&request, &by)
    }

    fn unset_default_retention(by: Caller) -> Result<(), ChangeError> {
        ORGS.unset_default_retention(&by)
    }
}

impl wit::sharing::Guest for Component {
    fn replace_consumers(
        external_id: String,
        changes: ConsumerChanges,
        by: Caller,
    ) -> Result<(), ShareError> {
        ORGS.replace_consumers(&external_id, &changes, &by)
    }

    fn module_partnerships(external_id: String) -> Result<Vec<Partnership>, ServiceError> {
        ORGS.module_partnerships(&external_id)
    }

    fn consumers(
        external_id: String,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        ORGS.consumers(&external_id, shared, number, size)
    }

    fn producers(
        external_id: String,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        ORGS.producers(&external_id, shared, number, size)
    }

    fn all_producers(
        shared: Vec<Shared>,
        filter: Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        ORGS.all_producers(&shared, &filter, number, size)
    }
}

impl wit::site::Guest for Component {
    fn read_general_settings() -> Result<GeneralSettings, ServiceError> {
        ORGS.read_general_settings()
    }

    fn change_general_settings(
        changes: GeneralSettingsChanges,
        by: Caller,
    ) -> Result<GeneralSettings, ChangeError> {
        ORGS.change_general_settings(&changes, &by)
    }

    fn read_api_rate() -> Result<ApiRate, ServiceError> {
        ORGS.read_api_rate()
    }

    fn administer(
        external_id: String,
        changes: AdministrationChanges,
        by: Caller,
    ) -> Result<Organization, ChangeError> {
        ORGS.administer(&external_id, &changes, &by)
    }

    fn oversee(organizations: Vec<String>) -> Result<Overview, ServiceError> {
        ORGS.oversee(&organizations)
    }
}
