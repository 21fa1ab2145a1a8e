//! The interface `token-roles`: its functions, its error texts, and the schema of roles, which are kept as they are shown.

use gatehouse_storage::wraps_failure;

use crate::{
    InvalidRange, KeyPage, ServiceError, ServiceField, TokenRole, TokenRoleChanges,
    TokenRoleWarning, WritePermission,
};

/// Token-store roles. The WIT interface is the specification.
pub trait TokenRoles {
    /// The names of token-store roles, sorted, at most `limit` of them: from the beginning of the list, or from behind `after`.
    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError>;

    /// A token-store role.
    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, ServiceError>;

    /// Makes a token-store role or changes one, as far as `permission` goes.
    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError>;

    /// Removes a token-store role; a missing one is a success.
    fn delete_token_role(&self, name: &str) -> Result<(), ServiceError>;
}

impl gatehouse_storage::Record for TokenRole {
    const SCHEMA: u16 = 1;
}

/// Why a token-store role was not written. Nothing was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRoleError {
    /// The name is empty, longer than 128 bytes, or has other than printable ASCII characters or a slash.
    #[error("a role's name has 1 to 128 printable ASCII characters without slashes")]
    InvalidName,
    /// The caller may create or change roles, and this write would do the other.
    #[error("the write would create a role, or change one, and the caller may only do the other")]
    Denied,
    /// The path suffix has other than letters, digits, `_`, `-` and `.`, or does not begin and end with one of the first three.
    #[error(
        "a path suffix has 3 to 256 letters, digits, '_', '-' and '.', and no '-' or '.' at its ends"
    )]
    InvalidPathSuffix,
    /// The path suffix has two dots in a row.
    #[error("a path suffix cannot contain '..'")]
    PathSuffixWithParent,
    /// A negative number of uses.
    #[error("the number of uses cannot be negative")]
    NegativeNumUses,
    /// A text that is not an address range.
    #[error("bound CIDR {:?} is neither an address nor an address range", .0.range)]
    InvalidBoundCidr(InvalidRange),
    /// A token type that does not exist; holds it.
    #[error("there is no token type {0:?}: use default-service, default-batch, service or batch")]
    InvalidTokenType(String),
    /// Type `batch` for tokens that have parents.
    #[error("batch tokens of a role are orphans: set orphan to true")]
    BatchWithParent,
    /// Type `batch` for renewable tokens.
    #[error("batch tokens cannot be renewed: set renewable to false")]
    RenewableBatch,
    /// Type `batch` with this field, which only service tokens have.
    #[error("batch tokens cannot have {:?} set", .0.name())]
    BatchWith(ServiceField),
    /// More than a role may hold; holds that number of bytes.
    #[error("a role holds at most {0} bytes: name fewer policies, aliases or address ranges")]
    TooLarge(u32),
    /// A list of policies, entity aliases or address ranges that holds only blanks: what it is to bind would not be bound.
    #[error("the list holds only blanks; name what it is to hold, or send [] for none")]
    OnlyBlanks,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: TokenRoleError);
