//! Auth mounts as operators see them.

use serde::{Deserialize, Serialize};

use super::{Failure, FieldTooLong};

/// A mount as a request meets it, with the leases that are in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// A UUID; a path that is disabled and enabled again gets a new one.
    pub id: String,
    /// `auth_<type>_` and 8 hexadecimal digits.
    pub accessor: String,
    /// Below `auth/`, with one trailing `/`: `gcp/`.
    pub path: String,
    /// `gcp` or `token`.
    pub mount_type: String,
    /// Seconds that a token lives where nobody says otherwise.
    pub default_lease_ttl: u64,
    /// Seconds beyond which no token lives.
    pub max_lease_ttl: u64,
    /// Request fields that audit records show in clear.
    pub audit_non_hmac_request_keys: Vec<String>,
    /// Response fields that audit records show in clear.
    pub audit_non_hmac_response_keys: Vec<String>,
}

/// What the mount makes of a role's token type (contract 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountTokenType {
    /// Service unless the role says otherwise.
    #[default]
    DefaultService,
    /// Batch unless the role says otherwise.
    DefaultBatch,
    /// Service, whatever the role says.
    Service,
    /// Batch, whatever the role says.
    Batch,
}

/// Whether clients without a token see the mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListingVisibility {
    /// They do not.
    Hidden,
    /// They do.
    Unauthenticated,
}

/// What an operator can tune; kept in this very form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MountConfiguration {
    /// Seconds; 0 for the system's default.
    pub default_lease_ttl: u64,
    /// Seconds; 0 for the system's maximum.
    pub max_lease_ttl: u64,
    /// Kept and shown.
    pub force_no_cache: bool,
    /// What tokens of the mount are.
    pub token_type: MountTokenType,
    /// `None` when it was never set.
    pub listing_visibility: Option<ListingVisibility>,
    /// Request fields that audit records show in clear.
    pub audit_non_hmac_request_keys: Vec<String>,
    /// Response fields that audit records show in clear.
    pub audit_non_hmac_response_keys: Vec<String>,
    /// Request headers that reach the method.
    pub passthrough_request_headers: Vec<String>,
    /// Response headers that the method may set.
    pub allowed_response_headers: Vec<String>,
    /// Name of the key that signs the mount's own identity tokens: `default`; `None` when it was never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_token_key: Option<String>,
    /// Kept and shown: the one path that is judged and served has no slash at its end anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trim_request_trailing_slashes: bool,
}

/// The leases that are in force, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leases {
    /// How long a token lives where nobody says otherwise.
    pub default_ttl: u64,
    /// Beyond which no token lives.
    pub max_ttl: u64,
}

/// A mount as `sys/auth` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountView {
    /// Below `auth/`, with one trailing `/`.
    pub path: String,
    /// A UUID.
    pub id: String,
    /// `auth_<type>_` and 8 hexadecimal digits.
    pub accessor: String,
    /// `gcp` or `token`.
    pub mount_type: String,
    /// The operator's words.
    pub description: String,
    /// As it was set, 0 where the system's values apply.
    pub configuration: MountConfiguration,
    /// What that amounts to.
    pub leases: Leases,
    /// Sorted by name.
    pub options: Vec<(String, String)>,
    /// Kept and shown.
    pub local: bool,
    /// Kept and shown.
    pub seal_wrap: bool,
    /// Kept and shown.
    pub external_entropy_access: bool,
}

/// A mount to be enabled. Names of enumerated values are the contract's, so that their refusal is decided here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MountRequest {
    /// `gcp`.
    pub mount_type: String,
    /// The operator's words.
    pub description: String,
    /// Seconds; 0 for the system's default.
    pub default_lease_ttl: u64,
    /// Seconds; 0 for the system's maximum.
    pub max_lease_ttl: u64,
    /// Kept and shown.
    pub force_no_cache: bool,
    /// `default-service`, `default-batch`, `service`, `batch`; `None` or empty for the first.
    pub token_type: Option<String>,
    /// `hidden`, `unauth`; `None` or empty for unset.
    pub listing_visibility: Option<String>,
    /// Request fields that audit records show in clear.
    pub audit_non_hmac_request_keys: Vec<String>,
    /// Response fields that audit records show in clear.
    pub audit_non_hmac_response_keys: Vec<String>,
    /// Request headers that reach the method.
    pub passthrough_request_headers: Vec<String>,
    /// Response headers that the method may set.
    pub allowed_response_headers: Vec<String>,
    /// `default`; `None` or empty for unset.
    pub identity_token_key: Option<String>,
    /// Kept and shown.
    pub trim_request_trailing_slashes: bool,
    /// Names and values.
    pub options: Vec<(String, String)>,
    /// Kept and shown.
    pub local: bool,
    /// Kept and shown.
    pub seal_wrap: bool,
    /// Kept and shown.
    pub external_entropy_access: bool,
}

/// A change to an enabled mount. What is `None` stays as it is; empty lists and texts take away what was set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MountTuning {
    /// Seconds; 0 for the system's default.
    pub default_lease_ttl: Option<u64>,
    /// Seconds; 0 for the system's maximum.
    pub max_lease_ttl: Option<u64>,
    /// The operator's words.
    pub description: Option<String>,
    /// `default-service`, `default-batch`, `service`, `batch`; empty changes nothing.
    pub token_type: Option<String>,
    /// `hidden`, `unauth`; empty for unset.
    pub listing_visibility: Option<String>,
    /// Request fields that audit records show in clear.
    pub audit_non_hmac_request_keys: Option<Vec<String>>,
    /// Response fields that audit records show in clear.
    pub audit_non_hmac_response_keys: Option<Vec<String>>,
    /// Request headers that reach the method.
    pub passthrough_request_headers: Option<Vec<String>>,
    /// Response headers that the method may set.
    pub allowed_response_headers: Option<Vec<String>>,
    /// Name of the key that signs the mount's own identity tokens: `default`; empty for unset.
    pub identity_token_key: Option<String>,
    /// Kept and shown.
    pub trim_request_trailing_slashes: Option<bool>,
    /// Names and values, in place of all that were there.
    pub options: Option<Vec<(String, String)>>,
}

/// Why a mount was not tuned (contract 6.3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// There is no mount at the path.
    #[error("there is no mount at this path")]
    NoMount,
    /// The default lease would exceed the maximum.
    #[error("a default lease of {default_ttl} seconds exceeds the maximum of {max_ttl}")]
    MaxBelowDefault {
        /// The default as it would be, in seconds.
        default_ttl: u64,
        /// The maximum as it would be in force, in seconds.
        max_ttl: u64,
    },
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
    Failure(#[from] Failure),
}

/// Why the mounts stay as they are (contract 6.3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    /// The path is empty, longer than 256 bytes, deeper than 12 segments, or holds an empty, `.` or `..` segment or a
    /// character that is not printable ASCII.
    #[error("a mount path has 1 to 12 segments of printable ASCII, at most 256 bytes")]
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
    Failure(#[from] Failure),
}
