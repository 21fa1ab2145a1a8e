//! An organization as it is answered, and the notions around it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{RetentionPolicy, RetentionRule, Subscription};

pub(crate) const EXTERNAL_ID_PREFIX: &str = "org-";

/// How long a session lasts, and is remembered, where the organization says nothing: two weeks, in minutes.
pub const DEFAULT_SESSION_MINUTES: u64 = 20160;

/// Which of the two products the server behaves as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edition {
    /// The service that many customers share: plans, subscriptions.
    Hosted,
    /// The product that one customer runs: everything included, a site administrator.
    SelfHosted,
}

/// What an organization has paid for. It decides entitlements and permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// Hosted, without a paid subscription.
    Free,
    /// Hosted, the first of the paid plans.
    Standard,
    /// Hosted, paid; what came before business.
    Plus,
    /// Hosted, paid.
    Business,
    /// Hosted, paid, with everything that can be had.
    Premium,
    /// Self-hosted.
    Enterprise,
}

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

    /// What the plan is called on the wire.
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

/// Where runs happen if nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionMode {
    /// On the server's own workers.
    Remote,
    /// At the user's.
    Local,
    /// On the workers of an agent pool.
    Agent,
}

impl ExecutionMode {
    /// What the mode is called on the wire.
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

/// How members must prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollaboratorAuthPolicy {
    /// By a password.
    Password,
    /// By a password and a second factor.
    TwoFactorMandatory,
}

impl CollaboratorAuthPolicy {
    /// What the policy is called on the wire.
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

/// An organization with everything that is stored about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// In the capitalisation that was given; unique without regard to case.
    pub name: String,
    /// `org-` and 16 letters and digits; stays through renames, never used again.
    pub external_id: String,
    /// Milliseconds since 1970-01-01T00:00Z.
    pub created_at: u64,
    /// `prj-` and 16 letters and digits.
    pub default_project_id: String,
    /// The plan in force.
    pub plan: Plan,
    /// What it has taken. In the self-hosted edition this says nothing about the plan in force.
    pub subscription: Subscription,
    /// What its owners have chosen.
    pub settings: Settings,
    /// Whether a site administrator has switched it off: to all others it then does not exist.
    pub disabled: bool,
    /// Whether its modules are shared with every organization of the installation.
    pub global_module_sharing: bool,
    /// Whether its providers are shared with every organization of the installation.
    pub global_provider_sharing: bool,
    /// With how many organizations by name it shares its modules. Only the self-hosted edition tells.
    pub module_consumers: u32,
    /// With how many organizations by name it shares its providers. Only the self-hosted edition tells.
    pub provider_consumers: u32,
    /// Its own data retention policy; `None` where the installation's applies.
    pub retention: Option<RetentionPolicy>,
    /// What the installation's data retention policy does. Only the self-hosted edition tells.
    pub default_retention: RetentionRule,
    /// What site administrators have set.
    pub administration: Administration,
}

/// What only site administrators set of an organization (contract 4.14). Except that it is shown, it has no effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Administration {
    /// Whether it sees what is not finished yet.
    #[serde(default)]
    pub access_beta_tools: bool,
    /// Whether runs may become root.
    #[serde(default)]
    pub terraform_worker_sudo_enabled: bool,
    /// How long an apply may take, such as `24h`; `None` for the installation's limit.
    #[serde(default)]
    pub apply_timeout: Option<String>,
    /// How long a plan may take; `None` for the installation's limit.
    #[serde(default)]
    pub plan_timeout: Option<String>,
    /// How many workspaces it may have; `None` for no limit.
    #[serde(default)]
    pub workspace_limit: Option<u64>,
}

impl Administration {
    /// Whether nobody has set anything.
    pub(crate) fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// What the owners of an organization choose, beside its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Where notices go; need not be unique.
    pub email: String,
    /// Minutes after which an idle session ends, as set; `None` until it is set.
    pub session_timeout: Option<u64>,
    /// Minutes for which a session is remembered, as set; `None` until it is set.
    pub session_remember: Option<u64>,
    /// How members must prove who they are.
    pub collaborator_auth_policy: CollaboratorAuthPolicy,
    /// Whether costs are estimated.
    pub cost_estimation_enabled: bool,
    /// Whether speculative plans that nothing triggered report a passing status. Never together with
    /// `aggregated_commit_status_enabled`; always false in the self-hosted edition.
    pub send_passing_statuses_for_untriggered_speculative_plans: bool,
    /// Whether one commit status stands for all workspaces.
    pub aggregated_commit_status_enabled: bool,
    /// Whether outdated speculative plans are cancelled.
    pub speculative_plan_management_enabled: bool,
    /// The SAML role whose bearers are owners; `None` for none.
    pub owners_team_saml_role_id: Option<String>,
    /// Whether health assessments are enforced.
    pub assessments_enforced: bool,
    /// Whether administrators of a workspace may delete it with its resources.
    pub allow_force_delete_workspaces: bool,
    /// Where runs happen if a workspace says nothing.
    pub default_execution_mode: ExecutionMode,
    /// The pool for mode `agent`; `None` in every other mode.
    pub default_agent_pool_id: Option<String>,
    /// Whether stacks can be made.
    pub stacks_enabled: bool,
    /// Where stacks run if they say nothing: never [`ExecutionMode::Local`].
    pub stacks_default_execution_mode: ExecutionMode,
    /// The pool for stacks; `None` for none.
    pub stacks_default_agent_pool_id: Option<String>,
    /// Whether tokens of users open this organization.
    pub user_tokens_enabled: bool,
    /// Whether token lifetimes are limited.
    pub max_ttl_enabled: bool,
    /// Whether data must be encrypted under a key of the customer's own.
    pub enforce_hyok: bool,
    /// Whether one repository may hold many modules.
    pub registry_monorepo_support_enabled: bool,
    /// Whether deleted items can be recovered.
    pub recoverable_items_enabled: bool,
}

impl Default for Settings {
    /// What a new organization has (contract 2.2); the e-mail address has no default and is empty.
    fn default() -> Self {
        Self {
            email: String::new(),
            session_timeout: None,
            session_remember: None,
            collaborator_auth_policy: CollaboratorAuthPolicy::Password,
            cost_estimation_enabled: false,
            send_passing_statuses_for_untriggered_speculative_plans: false,
            aggregated_commit_status_enabled: true,
            speculative_plan_management_enabled: true,
            owners_team_saml_role_id: None,
            assessments_enforced: false,
            allow_force_delete_workspaces: false,
            default_execution_mode: ExecutionMode::Remote,
            default_agent_pool_id: None,
            stacks_enabled: false,
            stacks_default_execution_mode: ExecutionMode::Remote,
            stacks_default_agent_pool_id: None,
            user_tokens_enabled: true,
            max_ttl_enabled: false,
            enforce_hyok: false,
            registry_monorepo_support_enabled: false,
            recoverable_items_enabled: false,
        }
    }
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

/// What somebody is to an organization, as far as permissions are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Administers the whole installation.
    SiteAdministrator,
    /// May manage the organization.
    Owner,
    /// Belongs to it, with the rights of their teams.
    Member,
    /// Is the organization itself, by its token.
    OrganizationToken,
}

/// One thing that may be done in an organization, or may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The key of the `permissions` object, such as `can-update`.
    pub key: Cow<'static, str>,
    /// Whether it may be done.
    pub granted: bool,
}

/// One thing that a plan includes, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlement {
    /// The attribute of the entitlement set, such as `state-storage`.
    pub key: Cow<'static, str>,
    /// Whether, or how much.
    pub value: EntitlementValue,
}

/// Whether, or how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntitlementValue {
    /// Included or not.
    Included(bool),
    /// Included up to a number; `None` for no limit.
    Limit(Option<u32>),
}
