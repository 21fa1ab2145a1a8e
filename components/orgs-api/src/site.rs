//! The interface `site`: its functions, and the general settings, which are kept as they are shown.

use crate::{
    AdministrationChanges, ApiRate, Bounds, Caller, ChangeError, GeneralSettings,
    GeneralSettingsChanges, Organization, Overview, ServiceError,
};

impl Bounds {
    /// The highest bounds that a site administrator can set.
    pub const HIGHEST: Self = Self {
        teams_per_organization: 4_000,
        memberships_per_organization: 20_000,
        teams_per_membership: 400,
        agent_pools_per_organization: 4_000,
    };
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            teams_per_organization: 1_000,
            memberships_per_organization: 5_000,
            teams_per_membership: 100,
            agent_pools_per_organization: 1_000,
        }
    }
}

impl gatehouse_storage::Record for GeneralSettings {
    const SCHEMA: u16 = 1;
}

impl gatehouse_storage::Cacheable for GeneralSettings {}

impl Default for GeneralSettings {
    /// The settings with which an installation begins.
    fn default() -> Self {
        Self {
            limit_user_organization_creation: false,
            api_rate_limiting_enabled: true,
            api_rate_limit: 30,
            send_passing_statuses_for_untriggered_speculative_plans: false,
            allow_speculative_plans_on_pull_requests_from_forks: false,
            require_two_factor_for_admins: false,
            fair_run_queuing_enabled: true,
            limit_organizations_per_user: false,
            default_organizations_per_user_ceiling: None,
            limit_workspaces_per_organization: false,
            default_workspaces_per_organization_ceiling: None,
            apply_timeout: Some("24h".to_owned()),
            plan_timeout: Some("2h".to_owned()),
            default_remote_state_access: true,
            bounds: Bounds::default(),
        }
    }
}

/// The administration of the whole installation. Its caller has made sure that a site administrator asks. The WIT interface is the
/// specification.
pub trait Site {
    /// The settings of the whole installation.
    fn read_general_settings(&self) -> Result<GeneralSettings, ServiceError>;

    /// Changes the settings that are mentioned, and no other.
    fn change_general_settings(
        &self,
        changes: &GeneralSettingsChanges,
        by: &Caller,
    ) -> Result<GeneralSettings, ChangeError>;

    /// How many requests each user has now.
    fn read_api_rate(&self) -> Result<ApiRate, ServiceError>;

    /// Changes the attributes of an organization that site administrators set, those that are mentioned, in one commit.
    fn administer(
        &self,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError>;

    /// The overview that site administrators are shown beside these organizations, at a cost that does not depend on the number of all
    /// organizations.
    fn oversee(&self, organizations: &[String]) -> Result<Overview, ServiceError>;
}
