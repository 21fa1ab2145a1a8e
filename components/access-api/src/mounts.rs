//! The interface `mounts`: its functions and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{FieldTooLong, Leases, MountRequest, MountTuning, MountView, ServiceError};

/// Where auth methods are enabled. The WIT interface is the specification.
pub trait Mounts {
    /// All auth mounts, `token/` included, sorted by path.
    fn list_mounts(&self) -> Result<Vec<MountView>, ServiceError>;

    /// The mount at `path`, written with or without its trailing `/` and without the leading `auth/`.
    fn read_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError>;

    /// The mount that serves `path`: the one at it, or above it.
    fn find_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError>;

    /// Enables an auth method at `path`.
    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError>;

    /// Changes how an enabled mount, `token/` included, treats its tokens.
    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError>;

    /// Disables the method at `path`, which ends all its tokens at once.
    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError>;

    /// Identifiers of disabled mounts that [`Self::forget_disabled_mount`] was not called for, sorted: the first `limit` of them, 1 to
    /// 1000.
    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, ServiceError>;

    /// Takes a disabled mount off [`Self::list_disabled_mounts`], for when the method has removed what it kept for it.
    fn forget_disabled_mount(&self, id: &str) -> Result<(), ServiceError>;
}

/// Why a mount was not tuned (contract 6.3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// There is no mount at the path.
    #[error("there is no mount at this path")]
    NoMount,
    /// The default lease would exceed the maximum.
    #[error("a default lease of {} seconds exceeds the maximum of {}", .0.default_ttl, .0.max_ttl)]
    MaxBelowDefault(Leases),
    /// A token type that does not exist.
    #[error("a mount's token type is default-service, default-batch, service or batch")]
    InvalidTokenType,
    /// The mount `token/` makes every type of token that its callers ask for.
    #[error("the token type of the mount token/ cannot be tuned")]
    TokenMountType,
    /// A listing visibility that does not exist.
    #[error("a mount's listing visibility is hidden or unauth")]
    InvalidListingVisibility,
    /// A key of identity tokens that does not exist.
    #[error("identity_token_key: the only key is \"default\"")]
    UnknownIdentityTokenKey,
    /// A field that is longer than it may be.
    #[error(transparent)]
    TooLong(#[from] FieldTooLong),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

/// Why the mounts stay as they are (contract 6.3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    /// The path is empty, longer than 256 bytes, deeper than 12 segments, or holds an empty, `.` or `..` segment or a
    /// character that is not printable ASCII or is a blank.
    #[error(
        "a mount path has 1 to 12 segments of printable ASCII without blanks, at most 256 bytes"
    )]
    InvalidPath,
    /// The path, an ancestor or a descendant of it, is taken; holds the existing mount's path.
    #[error("path is already in use at {0}")]
    PathInUse(String),
    /// No type was given.
    #[error("backend type must be specified as a string")]
    MissingType,
    /// A type that does not exist; holds it.
    #[error("plugin not found in the catalog: {0}")]
    UnknownType(String),
    /// The default lease exceeds the maximum.
    #[error("given default lease TTL greater than given max lease TTL")]
    DefaultAboveMaximum,
    /// A token type that does not exist.
    #[error("invalid value for 'token_type'")]
    InvalidTokenType,
    /// A listing visibility that does not exist.
    #[error("invalid value for 'listing_visibility'")]
    InvalidListingVisibility,
    /// A key of identity tokens that does not exist.
    #[error("identity_token_key: the only key is \"default\"")]
    UnknownIdentityTokenKey,
    /// The mount `token/` cannot be disabled.
    #[error("token credential backend cannot be disabled")]
    TokenMount,
    /// As many mounts as there may be; holds that number.
    #[error("at most {0} auth methods: disable one first")]
    TooManyMounts(u32),
    /// A field that is longer than it may be.
    #[error(transparent)]
    TooLong(#[from] FieldTooLong),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: TuneError, MountError);
