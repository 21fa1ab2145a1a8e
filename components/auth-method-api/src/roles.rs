//! The interface `roles`: its functions and its error texts.

use std::fmt;

use gatehouse_ports::RandomError;

use crate::storage_error::wraps_storage_error;
use crate::{
    AboveBound, FieldsOfOtherType, ListEdit, Mount, Precondition, Role, RoleBound, RoleChanges,
    RoleNames, RoleRules, RoleType, RoleWarning, RoleWritten, SentTwice, StorageError,
};

/// The roles of mounts. As for [`crate::Config`], the gateway has authorized the caller before. The WIT interface is the specification.
pub trait Roles {
    /// The role of this name, in any letter case; `None` where there is none.
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError>;

    /// Makes a role or changes the fields that `changes` names (contract 3.2 to 3.4).
    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError>;

    /// Adds and removes service accounts of an iam role (contract 3.6).
    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError>;

    /// Adds labels, each `key:value`, and removes labels by their keys, of a gce role (contract 3.6).
    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError>;

    /// Removes the role of this name, in any letter case; a role that is not there is no error.
    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError>;

    /// The names of all roles, in byte order.
    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError>;

    /// The names of at most `limit` roles that come after `after` in byte order; a limit of 0 counts as 1.
    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError>;
}

impl fmt::Display for RoleType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Iam => "iam",
            Self::Gce => "gce",
        })
    }
}

impl RoleRules {
    /// The kind of role that has these rules.
    #[must_use]
    pub const fn role_type(&self) -> RoleType {
        match self {
            Self::Iam(_) => RoleType::Iam,
            Self::Gce(_) => RoleType::Gce,
        }
    }
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

/// Why a role was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoleError {
    /// The name is not one that a role can have.
    #[error(
        "a role name has 1 to 128 letters, digits, '_', '.' or '-', the first and last no '.' or '-'"
    )]
    InvalidName,
    /// [`crate::Precondition::MustBeNew`] did not hold.
    #[error("the role exists")]
    Exists,
    /// [`crate::Precondition::MustExist`] did not hold.
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
    #[error("a period of {} s is greater than the mount's maximum of {} s", .0.given, .0.bound)]
    PeriodAboveMountMaximum(AboveBound),
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
    #[error("invalid fields for a role of type {}", .0.role_type)]
    FieldsOfOtherType(FieldsOfOtherType),
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
    #[error("both {:?} and {:?} were sent", .0.old, .0.new)]
    SentTwice(SentTwice),
    /// `alias_source` is not one that roles of this type have.
    #[error("invalid alias source for a role of type {0}")]
    AliasSource(RoleType),
    /// A folder or organization is not named by its number; holds the entry, cut to 128 bytes.
    #[error("{0:?} is not the number of a folder or an organization")]
    AncestorNumber(String),
    /// Fields that only Google's APIs can check, on a role that does not ask them; holds the fields, sorted.
    #[error("{0:?} cannot be checked without live checks")]
    NeedsLiveChecks(Vec<String>),
    /// A list that binds the role was given, and holds blanks only: empty it would let every caller in; holds the field.
    #[error("'{0}' holds only blanks: give it without entries if it is to bind nothing")]
    BlankList(String),
    /// A list has more entries than a role may have.
    #[error("'{}' cannot have more than {} entries", .0.field, .0.maximum)]
    TooMany(RoleBound),
    /// An entry of a list is longer than it may be.
    #[error("an entry of '{}' cannot be longer than {} bytes", .0.field, .0.maximum)]
    TooLong(RoleBound),
    /// A list or text is larger than a role can hold.
    #[error("the role is too large to be stored")]
    TooLarge,
    /// No id could be made for a new role.
    #[error("the host's source of randomness failed")]
    Random,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<RandomError> for RoleError {
    fn from(_: RandomError) -> Self {
        Self::Random
    }
}

wraps_storage_error!(EditError, RoleError);
