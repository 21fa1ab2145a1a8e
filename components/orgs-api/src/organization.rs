//! Names on the wire of the parts of an organization, the values of a new one, and the flags that depend on nothing else.

use crate::{
    Attribute, CollaboratorAuthPolicy, Edition, ExecutionMode, Field, OrganizationChanges, Plan,
    Right, Settings,
};

/// How long a session lasts, and is remembered, where the organization says nothing: two weeks, in minutes.
pub const DEFAULT_SESSION_MINUTES: u64 = 20160;

impl Plan {
    /// The edition in which this plan exists.
    #[must_use]
    pub const fn edition(self) -> Edition {
        match self {
            Self::Free | Self::Standard | Self::Plus | Self::Business | Self::Premium => {
                Edition::Hosted
            }
            Self::Enterprise => Edition::SelfHosted,
        }
    }

    /// The name of the plan on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Standard => "standard",
            Self::Plus => "plus",
            Self::Business => "business",
            Self::Premium => "premium",
            Self::Enterprise => "enterprise",
        }
    }
}

impl ExecutionMode {
    /// The name of the mode on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Local => "local",
            Self::Agent => "agent",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Remote, Self::Local, Self::Agent]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }
}

impl CollaboratorAuthPolicy {
    /// The name of the policy on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::TwoFactorMandatory => "two_factor_mandatory",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Password, Self::TwoFactorMandatory]
            .into_iter()
            .find(|policy| policy.as_str() == name)
    }
}

/// A flag of an organization that depends on none of its other attributes.
#[derive(Debug)]
pub struct IndependentFlag<'a> {
    /// The attribute.
    pub field: Field,
    /// The change that a request asks for.
    pub change: &'a Attribute<bool>,
    /// The value that null gives back.
    pub default: bool,
    /// The value that is kept.
    pub kept: &'a mut bool,
}

/// Writes the values of a new organization, and the flags that depend on nothing else, which are its rows: field, member and value. A row is all
/// that such a flag needs as a rule.
macro_rules! settings_of_a_new_organization {
    ($($field:ident $flag:ident = $default:literal;)*) => {
        impl Default for Settings {
            /// The values of a new organization (contract 2.2), and those that a record of an older release does not have; the e-mail
            /// address has no default and is empty.
            fn default() -> Self {
                Self {
                    email: String::new(),
                    session_timeout: None,
                    session_remember: None,
                    collaborator_auth_policy: CollaboratorAuthPolicy::Password,
                    send_passing_statuses_for_untriggered_speculative_plans: false,
                    aggregated_commit_status_enabled: true,
                    owners_team_saml_role_id: None,
                    default_execution_mode: ExecutionMode::Remote,
                    default_agent_pool_id: None,
                    stacks_default_execution_mode: ExecutionMode::Remote,
                    stacks_default_agent_pool_id: None,
                    enforce_hyok: false,
                    $($flag: $default,)*
                }
            }
        }

        impl Settings {
            /// The flags that depend on nothing else, each with the change that `changes` asks for.
            pub fn independent_flags<'a>(
                &'a mut self,
                changes: &'a OrganizationChanges,
            ) -> impl Iterator<Item = IndependentFlag<'a>> {
                [$(IndependentFlag {
                    field: Field::$field,
                    change: &changes.$flag,
                    default: $default,
                    kept: &mut self.$flag,
                },)*]
                .into_iter()
            }
        }
    };
}

settings_of_a_new_organization! {
    CostEstimationEnabled cost_estimation_enabled = false;
    SpeculativePlanManagementEnabled speculative_plan_management_enabled = true;
    AssessmentsEnforced assessments_enforced = false;
    AllowForceDeleteWorkspaces allow_force_delete_workspaces = false;
    StacksEnabled stacks_enabled = false;
    UserTokensEnabled user_tokens_enabled = true;
    MaxTtlEnabled max_ttl_enabled = false;
    RegistryMonorepoSupportEnabled registry_monorepo_support_enabled = false;
    RecoverableItemsEnabled recoverable_items_enabled = false;
}

impl Settings {
    /// Minutes after which an idle session ends (contract 2.3).
    #[must_use]
    pub fn effective_session_timeout(&self) -> u64 {
        self.session_timeout.unwrap_or(DEFAULT_SESSION_MINUTES)
    }

    /// Minutes for which a session is remembered (contract 2.3).
    #[must_use]
    pub fn effective_session_remember(&self) -> u64 {
        self.session_remember.unwrap_or(DEFAULT_SESSION_MINUTES)
    }
}

impl Right {
    /// Every right, in the order of the contract.
    pub const ALL: [Self; 16] = [
        Self::ManagePolicies,
        Self::ManagePolicyOverrides,
        Self::DelegatePolicyOverrides,
        Self::ManageWorkspaces,
        Self::ManageVcsSettings,
        Self::ManageProviders,
        Self::ManageModules,
        Self::ManageRunTasks,
        Self::ManageProjects,
        Self::ReadWorkspaces,
        Self::ReadProjects,
        Self::ManageMembership,
        Self::ManageTeams,
        Self::ManageOrganizationAccess,
        Self::AccessSecretTeams,
        Self::ManageAgentPools,
    ];

    /// The name of the right on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ManagePolicies => "manage-policies",
            Self::ManagePolicyOverrides => "manage-policy-overrides",
            Self::DelegatePolicyOverrides => "delegate-policy-overrides",
            Self::ManageWorkspaces => "manage-workspaces",
            Self::ManageVcsSettings => "manage-vcs-settings",
            Self::ManageProviders => "manage-providers",
            Self::ManageModules => "manage-modules",
            Self::ManageRunTasks => "manage-run-tasks",
            Self::ManageProjects => "manage-projects",
            Self::ReadWorkspaces => "read-workspaces",
            Self::ReadProjects => "read-projects",
            Self::ManageMembership => "manage-membership",
            Self::ManageTeams => "manage-teams",
            Self::ManageOrganizationAccess => "manage-organization-access",
            Self::AccessSecretTeams => "access-secret-teams",
            Self::ManageAgentPools => "manage-agent-pools",
        }
    }
}
