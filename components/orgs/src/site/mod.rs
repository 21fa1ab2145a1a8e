//! The administration of the whole installation (contract 4.14).

mod store;

use serde::{Deserialize, Serialize};

use crate::{Attribute, Bounds, Caller, ChangeError, Edition, Failure, Organization};

/// What holds for the whole installation. The first three and the bounds have an effect; the others are kept and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneralSettings {
    /// Whether only site administrators may make organizations. Has no effect in the hosted edition.
    pub limit_user_organization_creation: bool,
    /// Whether requests are limited at all.
    pub api_rate_limiting_enabled: bool,
    /// How many requests each user has in a second.
    pub api_rate_limit: u64,
    /// See contract 4.14, as of everything below.
    pub send_passing_statuses_for_untriggered_speculative_plans: bool,
    /// Shown as it was set.
    pub allow_speculative_plans_on_pull_requests_from_forks: bool,
    /// Shown as it was set.
    pub require_two_factor_for_admins: bool,
    /// Shown as it was set.
    pub fair_run_queuing_enabled: bool,
    /// Shown as it was set.
    pub limit_organizations_per_user: bool,
    /// A number, or `None` for no limit.
    pub default_organizations_per_user_ceiling: Option<u64>,
    /// Shown as it was set.
    pub limit_workspaces_per_organization: bool,
    /// A number, or `None` for no limit.
    pub default_workspaces_per_organization_ceiling: Option<u64>,
    /// How long an apply may take, such as `24h`.
    pub apply_timeout: Option<String>,
    /// How long a plan may take.
    pub plan_timeout: Option<String>,
    /// Shown as it was set.
    pub default_remote_state_access: bool,
    /// How much organizations may have.
    pub bounds: Bounds,
}

impl Default for GeneralSettings {
    /// What an installation begins with.
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

/// What a request says about [`GeneralSettings`]. Null resets what is true or false and the rate to what an installation
/// begins with; of ceilings and timeouts it stands for none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneralSettingsChanges {
    /// See [`GeneralSettings::limit_user_organization_creation`].
    pub limit_user_organization_creation: Attribute<bool>,
    /// See [`GeneralSettings::api_rate_limiting_enabled`].
    pub api_rate_limiting_enabled: Attribute<bool>,
    /// At least 1.
    pub api_rate_limit: Attribute<i64>,
    /// See [`GeneralSettings::send_passing_statuses_for_untriggered_speculative_plans`].
    pub send_passing_statuses_for_untriggered_speculative_plans: Attribute<bool>,
    /// See [`GeneralSettings::allow_speculative_plans_on_pull_requests_from_forks`].
    pub allow_speculative_plans_on_pull_requests_from_forks: Attribute<bool>,
    /// See [`GeneralSettings::require_two_factor_for_admins`].
    pub require_two_factor_for_admins: Attribute<bool>,
    /// See [`GeneralSettings::fair_run_queuing_enabled`].
    pub fair_run_queuing_enabled: Attribute<bool>,
    /// See [`GeneralSettings::limit_organizations_per_user`].
    pub limit_organizations_per_user: Attribute<bool>,
    /// At least 0.
    pub default_organizations_per_user_ceiling: Attribute<i64>,
    /// See [`GeneralSettings::limit_workspaces_per_organization`].
    pub limit_workspaces_per_organization: Attribute<bool>,
    /// At least 0.
    pub default_workspaces_per_organization_ceiling: Attribute<i64>,
    /// At most 64 characters.
    pub apply_timeout: Attribute<String>,
    /// At most 64 characters.
    pub plan_timeout: Attribute<String>,
    /// See [`GeneralSettings::default_remote_state_access`].
    pub default_remote_state_access: Attribute<bool>,
    /// 1 to that of [`Bounds::HIGHEST`], as of the others below; null resets.
    pub teams_per_organization: Attribute<i64>,
    /// See [`Bounds::memberships_per_organization`].
    pub memberships_per_organization: Attribute<i64>,
    /// See [`Bounds::teams_per_membership`].
    pub teams_per_membership: Attribute<i64>,
    /// See [`Bounds::agent_pools_per_organization`].
    pub agent_pools_per_organization: Attribute<i64>,
}

/// How many requests each user has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiRate {
    /// Whether requests are limited at all.
    pub enabled: bool,
    /// In a second.
    pub per_second: u64,
}

/// What a site administrator wants of an organization. Null makes false what is true or false; of timeouts and the limit it
/// stands for none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdministrationChanges {
    /// See [`Organization::disabled`].
    pub disabled: Attribute<bool>,
    /// See [`Organization::global_module_sharing`]. Switched on, its explicit consumers are forgotten. Self-hosted only.
    pub global_module_sharing: Attribute<bool>,
    /// The same of providers.
    pub global_provider_sharing: Attribute<bool>,
    /// See [`crate::Administration::access_beta_tools`].
    pub access_beta_tools: Attribute<bool>,
    /// See [`crate::Administration::terraform_worker_sudo_enabled`].
    pub terraform_worker_sudo_enabled: Attribute<bool>,
    /// At most 64 characters.
    pub apply_timeout: Attribute<String>,
    /// At most 64 characters.
    pub plan_timeout: Attribute<String>,
    /// At least 0, which is not the same as no limit.
    pub workspace_limit: Attribute<i64>,
}

/// How many organizations there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    /// All of them.
    pub total: u64,
    /// Those that are switched off.
    pub disabled: u64,
}

/// The administration of the whole installation. Whoever calls has made sure that a site administrator asks.
pub trait Site {
    /// What holds for the whole installation.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_general_settings(&self) -> Result<GeneralSettings, Failure>;

    /// Changes the settings that are mentioned, and no other.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Invalid`] with every fault at once.
    fn change_general_settings(
        &self,
        changes: &GeneralSettingsChanges,
        by: &Caller,
    ) -> Result<GeneralSettings, ChangeError>;

    /// How many requests each user has now. To be asked with every request: the store is asked whether a small record has
    /// changed, and no more than that.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read_api_rate(&self) -> Result<ApiRate, Failure>;

    /// Changes what site administrators set of an organization, as far as it is mentioned, in one commit.
    ///
    /// # Errors
    ///
    /// [`ChangeError::NotFound`] where there is no such organization, [`ChangeError::Invalid`] with every fault at once.
    fn administer(
        &self,
        edition: Edition,
        external_id: &str,
        changes: &AdministrationChanges,
        by: &Caller,
    ) -> Result<Organization, ChangeError>;

    /// How many organizations there are; costs the same however many.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn count_organizations(&self) -> Result<Census, Failure>;
}
