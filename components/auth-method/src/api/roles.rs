//! Login rules with a name (contract 3).

use std::borrow::Cow;
use std::collections::BTreeMap;

use gatehouse_ports::RandomError;
use gatehouse_storage::StorageError;
use serde::{Deserialize, Serialize};

use super::{AliasSource, RoleType};

/// Which kind of token a login gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenType {
    /// What the mount gives.
    #[default]
    Default,
    /// Kept by the server, renewable.
    Service,
    /// Not kept by the server, not renewable.
    Batch,
}

/// What a role says about the tokens of its logins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenParameters {
    /// Seconds; 0 for the mount's default.
    pub ttl: u64,
    /// Seconds; 0 for the mount's maximum.
    pub maximum_ttl: u64,
    /// Seconds from issue that no renewal can go beyond; 0 for none.
    pub explicit_maximum_ttl: u64,
    /// Seconds that every renewal gives; 0 for a token that is not periodic.
    pub period: u64,
    /// As written by the operator, trimmed: not sorted, not folded to lower case.
    pub policies: Vec<String>,
    /// Networks and single addresses from which the token may be used; empty for any.
    pub bound_cidrs: Vec<String>,
    /// Leaves the policy `default` out.
    pub no_default_policy: bool,
    /// How often the token can be used; 0 for no limit.
    pub number_of_uses: u64,
    /// Which kind of token.
    pub token_type: TokenType,
}

/// Values last set through an old field name, which reads show under that name too (contract 3.5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyTokenFields {
    /// `policies`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// `ttl`, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// `max_ttl`, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_ttl: Option<u64>,
    /// `period`, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<u64>,
}

/// The rules that only one kind of role has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleRules {
    /// Service accounts log in.
    Iam {
        /// Seconds that the `exp` of an account-signed token may lie ahead, 1 to 3600.
        maximum_jwt_lifetime: u64,
        /// Whether Google-signed identity tokens may log in.
        allow_gce_inference: bool,
    },
    /// Instances log in.
    Gce(GceRules),
}

/// What a gce role asks of an instance. Kinds of bounds add up: an instance has to be within each that is not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GceRules {
    /// Zone names; empty for any. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_zones: Vec<String>,
    /// Region names; empty for any, and without effect beside zones. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_regions: Vec<String>,
    /// Names of instance groups in those zones or regions; empty for any. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_instance_groups: Vec<String>,
    /// Labels that the instance has to have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bound_labels: BTreeMap<String, String>,
    /// Seconds since the creation of an instance after which it cannot log in; 0 for no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub maximum_instance_age: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RoleRules {
    /// The kind of role that has these rules.
    #[must_use]
    pub const fn role_type(&self) -> RoleType {
        match self {
            Self::Iam { .. } => RoleType::Iam,
            Self::Gce(_) => RoleType::Gce,
        }
    }
}

/// A role as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// UUID, made with the role and never changed.
    pub role_id: String,
    /// What only its kind of role has.
    pub rules: RoleRules,
    /// E-mail addresses, unique ids, or the single `*` for all. Sorted.
    pub bound_service_accounts: Vec<String>,
    /// Project ids; empty for any. Sorted.
    pub bound_projects: Vec<String>,
    /// Whether logins bring group aliases of the project's ancestry.
    pub add_group_aliases: bool,
    /// What its tokens are like.
    pub token: TokenParameters,
    /// What reads show under old names.
    pub legacy: LegacyTokenFields,
    /// Numbers of folders, one of which has to be an ancestor of the project; empty for any. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_folders: Vec<String>,
    /// Numbers of organizations, one of which has to be an ancestor of the project; empty for any. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_organizations: Vec<String>,
    /// Audiences that a token may name beside `vault/<role>`, compared exactly. Sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_audiences: Vec<String>,
    /// What entities are named after; `None` for the mount's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasSource>,
    /// Whether a token logs in only once.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refuse_replay: bool,
    /// Whether claims that Google signed are trusted without asking Google's APIs, so that no root credentials are needed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub trust_claims: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A part of the list of roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleNames {
    /// In byte order.
    pub names: Vec<String>,
    /// The name after which the list goes on; `None` at its end.
    pub next: Option<String>,
}

/// What a write says, under the contract's field names. A field of `None` was not sent.
///
/// Old and new names stand side by side, because what counts when both are sent is a rule of roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleChanges {
    /// `type`
    pub role_type: Option<String>,
    /// `bound_service_accounts`
    pub bound_service_accounts: Option<Vec<String>>,
    /// `service_accounts`, the old name of `bound_service_accounts`
    pub service_accounts: Option<Vec<String>>,
    /// `bound_projects`
    pub bound_projects: Option<Vec<String>>,
    /// `project_id`, the old name of `bound_projects`
    pub project_id: Option<String>,
    /// `add_group_aliases`
    pub add_group_aliases: Option<bool>,
    /// `max_jwt_exp`, seconds; iam only
    pub max_jwt_exp: Option<u64>,
    /// `allow_gce_inference`; iam only
    pub allow_gce_inference: Option<bool>,
    /// `bound_zones`; gce only
    pub bound_zones: Option<Vec<String>>,
    /// `bound_regions`; gce only
    pub bound_regions: Option<Vec<String>>,
    /// `bound_instance_groups`; gce only
    pub bound_instance_groups: Option<Vec<String>>,
    /// `bound_labels`, each `key:value`; gce only
    pub bound_labels: Option<Vec<String>>,
    /// `bound_zone`, the old name of `bound_zones`; without effect on iam roles
    pub bound_zone: Option<String>,
    /// `bound_region`, the old name of `bound_regions`; without effect on iam roles
    pub bound_region: Option<String>,
    /// `bound_instance_group`, the old name of `bound_instance_groups`; without effect on iam roles
    pub bound_instance_group: Option<String>,
    /// `token_ttl`, seconds
    pub token_ttl: Option<u64>,
    /// `token_max_ttl`, seconds
    pub token_max_ttl: Option<u64>,
    /// `token_explicit_max_ttl`, seconds
    pub token_explicit_max_ttl: Option<u64>,
    /// `token_period`, seconds
    pub token_period: Option<u64>,
    /// `token_policies`
    pub token_policies: Option<Vec<String>>,
    /// `token_bound_cidrs`
    pub token_bound_cidrs: Option<Vec<String>>,
    /// `token_no_default_policy`
    pub token_no_default_policy: Option<bool>,
    /// `token_num_uses`
    pub token_num_uses: Option<i64>,
    /// `token_type`
    pub token_type: Option<String>,
    /// `policies`, the old name of `token_policies`
    pub policies: Option<Vec<String>>,
    /// `ttl`, the old name of `token_ttl`, seconds
    pub ttl: Option<u64>,
    /// `max_ttl`, the old name of `token_max_ttl`, seconds
    pub max_ttl: Option<u64>,
    /// `period`, the old name of `token_period`, seconds
    pub period: Option<u64>,
    /// `bound_folders`
    pub bound_folders: Option<Vec<String>>,
    /// `bound_organizations`
    pub bound_organizations: Option<Vec<String>>,
    /// `bound_audiences`
    pub bound_audiences: Option<Vec<String>>,
    /// `alias_source`: `role_id`, `unique_id` (iam), `instance_id` (gce), or empty for the mount's choice
    pub alias_source: Option<String>,
    /// `refuse_replay`
    pub refuse_replay: Option<bool>,
    /// `live_checks`: false trusts the claims that Google signed
    pub live_checks: Option<bool>,
    /// `max_instance_age`, seconds, 0 for no limit; gce only
    pub max_instance_age: Option<u64>,
}

/// What a change of one list of a role says (contract 3.6).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListEdit {
    /// What to add.
    pub add: Vec<String>,
    /// What to remove; wins over `add`, and need not be there.
    pub remove: Vec<String>,
}

/// Why a list of a role was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is nothing to add or remove.
    #[error("must provide at least one value to add or remove")]
    Empty,
    /// There is no such role; holds the name as sent, cut to 256 bytes.
    #[error("role {0:?} not found")]
    RoleNotFound(String),
    /// The role is of the other type; holds its type.
    #[error("the role is of type {0}")]
    WrongType(RoleType),
    /// Labels to add that are not `key:value`; holds them, each cut to 128 bytes.
    #[error("given invalid labels to add: {0:?}")]
    InvalidLabels(Vec<String>),
    /// The role would not be acceptable.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What a write requires of the role's existence; checked in the same commit that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    Any,
    /// The role must not exist.
    MustBeNew,
    /// The role must exist.
    MustExist,
}

/// A write that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleWritten {
    /// Whether the role is new.
    pub created: bool,
    /// What the operator should know, in the order of the checks that found it.
    pub warnings: Vec<RoleWarning>,
}

/// What an operator should know about a role that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleWarning {
    /// A field was set through its old name.
    DeprecatedField {
        /// The name used.
        used: Cow<'static, str>,
        /// The name to use.
        instead: Cow<'static, str>,
    },
    /// The TTL is above what a token of the mount can live at most; logins cut it.
    TtlAboveMountMaximum {
        /// Seconds.
        ttl: u64,
        /// Seconds.
        mount_maximum: u64,
    },
    /// The TTL is above the mount's default.
    TtlAboveMountDefault {
        /// Seconds.
        ttl: u64,
        /// Seconds.
        mount_default: u64,
    },
    /// The maximum TTL is above what a token of the mount can live at most; logins cut it.
    MaximumTtlAboveMountMaximum {
        /// Seconds.
        maximum_ttl: u64,
        /// Seconds.
        mount_maximum: u64,
    },
    /// Group aliases are on while all users of the role share one entity (contract 7.3).
    GroupAliasesOnSharedEntity,
    /// Any service account of any project can log in.
    AnyServiceAccountOfAnyProject,
    /// The period is above what a token of the mount can live at most; logins cut it.
    PeriodAboveMountMaximum {
        /// Seconds.
        period: u64,
        /// Seconds.
        mount_maximum: u64,
    },
    /// The maximum TTL, under its old name, is above the mount's default.
    MaximumTtlAboveMountDefault {
        /// Seconds.
        maximum_ttl: u64,
        /// Seconds.
        mount_default: u64,
    },
    /// Regions have no effect beside zones.
    RegionsBesideZones,
    /// Nothing but labels binds the role, and whoever may edit an instance may label it.
    BoundByLabelsOnly,
    /// Claims are trusted without asking Google: an account or instance that is gone can log in until its token expires.
    ClaimsTrusted,
}

/// Why a role was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoleError {
    /// The name is not one that a role can have.
    #[error(
        "a role name has 1 to 128 letters, digits, '_', '.' or '-', the first and last no '.' or '-'"
    )]
    InvalidName,
    /// [`Precondition::MustBeNew`] did not hold.
    #[error("the role exists")]
    Exists,
    /// [`Precondition::MustExist`] did not hold.
    #[error("the role does not exist")]
    DoesNotExist,
    /// An entry of `token_bound_cidrs` is neither an address nor a network; holds the entry, cut to 128 bytes.
    #[error("{0:?} is neither an address nor a network")]
    BoundCidr(String),
    /// `token_num_uses` is below 0.
    #[error("'token_num_uses' cannot be negative")]
    NegativeNumberOfUses,
    /// There is no such token type; holds the value, cut to 128 bytes.
    #[error("invalid 'token_type' value {0:?}")]
    TokenType(String),
    /// Batch tokens cannot be periodic.
    #[error("batch tokens cannot be periodic")]
    PeriodicBatch,
    /// Batch tokens cannot have a limited number of uses.
    #[error("batch tokens cannot have a limited number of uses")]
    LimitedUseBatch,
    /// `token_ttl` is above `token_max_ttl`.
    #[error("'token_ttl' cannot be greater than 'token_max_ttl'")]
    TtlAboveMaximumTtl,
    /// `token_period` is above what a token of the mount can live at most.
    #[error("a period of {period} s is greater than the mount's maximum of {mount_maximum} s")]
    PeriodAboveMountMaximum {
        /// Seconds.
        period: u64,
        /// Seconds.
        mount_maximum: u64,
    },
    /// A new role needs a type.
    #[error("role type cannot be empty")]
    TypeMissing,
    /// There is no such type; holds the value, cut to 128 bytes.
    #[error("role type {0:?} is invalid")]
    TypeInvalid(String),
    /// The role exists with another type.
    #[error("role type cannot be changed for an existing role")]
    TypeChanged,
    /// `*` stands beside other service accounts.
    #[error("the wildcard '*' cannot be combined with other service accounts")]
    WildcardWithOthers,
    /// Both `bound_projects` and `project_id` were sent.
    #[error("only one of 'bound_projects' or 'project_id' can be given")]
    ProjectsTwice,
    /// Fields were sent that only the other kind of role has.
    #[error("invalid fields for a role of type {role_type}")]
    FieldsOfOtherType {
        /// The type of this role.
        role_type: RoleType,
        /// The fields, sorted.
        fields: Vec<Cow<'static, str>>,
    },
    /// `max_jwt_exp` is above an hour.
    #[error("max_jwt_exp cannot be more than 60 minutes")]
    JwtLifetimeTooLong,
    /// An iam role without any service account.
    #[error("an iam role must have at least one service account")]
    NoServiceAccounts,
    /// Instance groups without zones or regions to look for them in.
    #[error("region or zone information must be specified if an instance group is given")]
    GroupsWithoutLocation,
    /// Labels that are not `key:value`; holds them, each cut to 128 bytes.
    #[error("given invalid labels: {0:?}")]
    InvalidLabels(Vec<String>),
    /// A list was sent under its old and its new name.
    #[error("both {old:?} and {new:?} were sent")]
    SentTwice {
        /// The old name.
        old: Cow<'static, str>,
        /// The new name.
        new: Cow<'static, str>,
    },
    /// `alias_source` is not one that roles of this type have.
    #[error("invalid alias source for a role of type {0}")]
    AliasSource(RoleType),
    /// A folder or organization is not named by its number; holds the entry, cut to 128 bytes.
    #[error("{0:?} is not the number of a folder or an organization")]
    AncestorNumber(String),
    /// Fields that only Google's APIs can check, on a role that does not ask them; holds the fields, sorted.
    #[error("{0:?} cannot be checked without live checks")]
    NeedsLiveChecks(Vec<Cow<'static, str>>),
    /// A list that binds the role was given, and holds blanks only: empty it would let everybody in; holds the field.
    #[error("'{0}' holds only blanks: give it without entries if it is to bind nothing")]
    BlankList(Cow<'static, str>),
    /// A list has more entries than a role may have.
    #[error("'{field}' cannot have more than {maximum} entries")]
    TooMany {
        /// The field.
        field: Cow<'static, str>,
        /// Entries.
        maximum: u64,
    },
    /// An entry of a list is longer than it may be.
    #[error("an entry of '{field}' cannot be longer than {maximum} bytes")]
    TooLong {
        /// The field.
        field: Cow<'static, str>,
        /// Bytes.
        maximum: u64,
    },
    /// A list or text is larger than a role can hold.
    #[error("the role is too large to be stored")]
    TooLarge,
    /// No id could be made for a new role.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
