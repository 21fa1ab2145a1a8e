//! What a request wants of an organization, and what is wrong with it.

use std::borrow::Cow;

use gatehouse_storage::StorageError;

use crate::Failure;

/// What a request says about one field.
///
/// Whoever reads the request tells apart what the wire tells apart, and leaves the judgement to the capability, so that one
/// answer can name every fault.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Attribute<T> {
    /// Nothing: the field keeps its value, or gets its default.
    #[default]
    Absent,
    /// Null: the field is reset, where that is possible.
    Null,
    /// Something of another type than the field has. Always a fault, unless the edition ignores the field.
    WrongType,
    /// This value.
    Value(T),
}

/// What a request says about every field that can be written (contract 2.2).
///
/// Fields that only the server sets have no place here, and neither has what the contract says to ignore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrganizationChanges {
    /// 1 to 90 of `A-Z a-z 0-9 _ -`; required on create.
    pub name: Attribute<String>,
    /// One `@` with something on both sides, no blanks, at most 254 characters; required on create.
    pub email: Attribute<String>,
    /// Minutes, at least 1; null resets.
    pub session_timeout: Attribute<i64>,
    /// Minutes, at least 1; null resets.
    pub session_remember: Attribute<i64>,
    /// `password` or `two_factor_mandatory`.
    pub collaborator_auth_policy: Attribute<String>,
    /// Default false.
    pub cost_estimation_enabled: Attribute<bool>,
    /// Default false; ignored in the self-hosted edition.
    pub send_passing_statuses_for_untriggered_speculative_plans: Attribute<bool>,
    /// Default true.
    pub aggregated_commit_status_enabled: Attribute<bool>,
    /// Default true.
    pub speculative_plan_management_enabled: Attribute<bool>,
    /// At most 255 characters; null and the empty text unset it.
    pub owners_team_saml_role_id: Attribute<String>,
    /// Default false.
    pub assessments_enforced: Attribute<bool>,
    /// Default false.
    pub allow_force_delete_workspaces: Attribute<bool>,
    /// `remote` (default), `local` or `agent`.
    pub default_execution_mode: Attribute<String>,
    /// The pool named by the attribute.
    pub default_agent_pool_id: Attribute<String>,
    /// The same pool named by the relationship.
    pub default_agent_pool: Attribute<String>,
    /// Default false.
    pub stacks_enabled: Attribute<bool>,
    /// `remote` (default) or `agent`.
    pub stacks_default_execution_mode: Attribute<String>,
    /// The pool named by the relationship.
    pub stacks_default_agent_pool: Attribute<String>,
    /// Default true.
    pub user_tokens_enabled: Attribute<bool>,
    /// Default false.
    pub max_ttl_enabled: Attribute<bool>,
    /// Default false; ignored in the self-hosted edition.
    pub enforce_hyok: Attribute<bool>,
    /// Default false.
    pub registry_monorepo_support_enabled: Attribute<bool>,
    /// Default false.
    pub recoverable_items_enabled: Attribute<bool>,
}

/// A field that can be written, in the order in which faults are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Attribute `name`.
    Name,
    /// Attribute `email`.
    Email,
    /// Attribute `session-timeout`.
    SessionTimeout,
    /// Attribute `session-remember`.
    SessionRemember,
    /// Attribute `collaborator-auth-policy`.
    CollaboratorAuthPolicy,
    /// Attribute `cost-estimation-enabled`.
    CostEstimationEnabled,
    /// Attribute `send-passing-statuses-for-untriggered-speculative-plans`.
    SendPassingStatusesForUntriggeredSpeculativePlans,
    /// Attribute `aggregated-commit-status-enabled`.
    AggregatedCommitStatusEnabled,
    /// Attribute `speculative-plan-management-enabled`.
    SpeculativePlanManagementEnabled,
    /// Attribute `owners-team-saml-role-id`.
    OwnersTeamSamlRoleId,
    /// Attribute `assessments-enforced`.
    AssessmentsEnforced,
    /// Attribute `allow-force-delete-workspaces`.
    AllowForceDeleteWorkspaces,
    /// Attribute `default-execution-mode`.
    DefaultExecutionMode,
    /// Attribute `default-agent-pool-id`.
    DefaultAgentPoolId,
    /// Relationship `default-agent-pool`.
    DefaultAgentPool,
    /// Attribute `stacks-enabled`.
    StacksEnabled,
    /// Attribute `stacks-default-execution-mode`.
    StacksDefaultExecutionMode,
    /// Relationship `stacks-default-agent-pool`.
    StacksDefaultAgentPool,
    /// Attribute `user-tokens-enabled`.
    UserTokensEnabled,
    /// Attribute `max-ttl-enabled`.
    MaxTtlEnabled,
    /// Attribute `enforce-hyok`.
    EnforceHyok,
    /// Attribute `registry-monorepo-support-enabled`.
    RegistryMonorepoSupportEnabled,
    /// Attribute `recoverable-items-enabled`.
    RecoverableItemsEnabled,
}

/// A field and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldFault {
    /// Which field.
    pub field: Field,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong with a field (contract 2.7 to 2.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A required text is absent, null or empty.
    Blank,
    /// A name has a character other than `A-Z a-z 0-9 _ -`.
    ForbiddenCharacter,
    /// The text has more characters than this many.
    TooLong(u32),
    /// Something else has this name or address, without regard to case.
    Taken,
    /// Not an e-mail address.
    NotAnAddress,
    /// Not one of the values that the field can have.
    NotIncluded,
    /// A text was wanted.
    NotText,
    /// A whole number was wanted.
    NotInteger,
    /// True or false was wanted.
    NotBoolean,
    /// An object was wanted.
    NotObject,
    /// A number of at least 1 was wanted.
    NotPositive,
    /// A number of at least 0 was wanted.
    Negative,
    /// A number of at most this was wanted.
    TooLarge(u32),
    /// No pool of this organization has that id.
    UnknownPool,
    /// Mode `agent` needs a pool, and none is named.
    PoolRequired,
    /// A pool is named, and the mode is not `agent`.
    PoolWithoutAgentMode,
    /// The attribute and the relationship name different pools.
    PoolsDiffer,
    /// Cannot be true while passing statuses for untriggered speculative plans are sent.
    ExcludedByPassingStatuses,
    /// Needs a key of the customer's own, and none is configured.
    KeyRequired,
    /// A point in time was wanted.
    NotTimestamp,
    /// Later than the organization lets tokens of this kind live.
    LifetimeExceeded,
    /// No team of this organization has that id.
    UnknownTeam,
    /// Not the id of an entity.
    UnknownEntity,
    /// Always there, and always as it is.
    Protected,
}

/// An attribute and what is wrong with it, of anything but an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeIssue {
    /// The attribute, in lower case with dashes.
    pub attribute: Cow<'static, str>,
    /// What is wrong.
    pub fault: Fault,
}

impl AttributeIssue {
    /// An attribute of this name that has this fault.
    #[must_use]
    pub const fn new(attribute: &'static str, fault: Fault) -> Self {
        Self {
            attribute: Cow::Borrowed(attribute),
            fault,
        }
    }
}

/// Why something was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// There is no such organization.
    #[error("there is no such organization")]
    NotFound,
    /// At least one attribute is not as it must be.
    #[error("{} attributes are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<StorageError> for ChangeError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.into())
    }
}
