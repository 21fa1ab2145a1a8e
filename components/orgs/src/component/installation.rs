//! What the installation sets, and what organizations share in it.

use super::wit::retention::{RetentionPolicy, RetentionRequest};
use super::wit::sharing::{ConsumerChanges, Filter, Page, Partnership, ShareError, Shared};
use super::wit::site::{
    AdministrationChanges, ApiRate, Census, GeneralSettings, GeneralSettingsChanges,
};
use super::wit::types::{Caller, ChangeError, Edition, Failure, Organization};
use super::{Component, Cross, ORGS, wit};
use crate::{Retention, Sharing, Site};

impl wit::retention::Guest for Component {
    fn set_retention(
        external_id: String,
        request: RetentionRequest,
        by: Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        ORGS.set_retention(&external_id, &request.cross(), &by.cross())
            .cross()
    }

    fn unset_retention(external_id: String, by: Caller) -> Result<(), ChangeError> {
        ORGS.unset_retention(&external_id, &by.cross()).cross()
    }

    fn default_retention() -> Result<RetentionPolicy, Failure> {
        ORGS.default_retention().cross()
    }

    fn set_default_retention(
        request: RetentionRequest,
        by: Caller,
    ) -> Result<RetentionPolicy, ChangeError> {
        ORGS.set_default_retention(&request.cross(), &by.cross())
            .cross()
    }

    fn unset_default_retention(by: Caller) -> Result<(), ChangeError> {
        ORGS.unset_default_retention(&by.cross()).cross()
    }
}

impl wit::sharing::Guest for Component {
    fn replace_consumers(
        external_id: String,
        changes: ConsumerChanges,
        by: Caller,
    ) -> Result<(), ShareError> {
        ORGS.replace_consumers(&external_id, &changes.cross(), &by.cross())
            .cross()
    }

    fn module_partnerships(external_id: String) -> Result<Vec<Partnership>, Failure> {
        ORGS.module_partnerships(&external_id).cross()
    }

    fn consumers(
        edition: Edition,
        external_id: String,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        ORGS.consumers(edition.cross(), &external_id, shared.cross(), number, size)
            .cross()
    }

    fn producers(
        edition: Edition,
        external_id: String,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        ORGS.producers(edition.cross(), &external_id, shared.cross(), number, size)
            .cross()
    }

    fn all_producers(
        edition: Edition,
        shared: Vec<Shared>,
        filter: Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        let shared: Vec<_> = shared.cross();
        ORGS.all_producers(edition.cross(), &shared, &filter.cross(), number, size)
            .cross()
    }
}

impl wit::site::Guest for Component {
    fn read_general_settings() -> Result<GeneralSettings, Failure> {
        ORGS.read_general_settings().cross()
    }

    fn change_general_settings(
        changes: GeneralSettingsChanges,
        by: Caller,
    ) -> Result<GeneralSettings, ChangeError> {
        ORGS.change_general_settings(&changes.cross(), &by.cross())
            .cross()
    }

    fn read_api_rate() -> Result<ApiRate, Failure> {
        ORGS.read_api_rate().cross()
    }

    fn administer(
        edition: Edition,
        external_id: String,
        changes: AdministrationChanges,
        by: Caller,
    ) -> Result<Organization, ChangeError> {
        ORGS.administer(edition.cross(), &external_id, &changes.cross(), &by.cross())
            .cross()
    }

    fn count_organizations() -> Result<Census, Failure> {
        ORGS.count_organizations().cross()
    }
}
