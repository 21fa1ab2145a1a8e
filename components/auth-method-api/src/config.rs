//! The interface `config`: its functions, its error texts, and what a write says, without `Debug`.

use std::fmt;

use zeroize::Zeroize;

use crate::storage_error::wraps_storage_error;
use crate::{
    ApiRefusal, ConfigBound, ConfigView, ConfigWarning, CredentialsError, CredentialsReport,
    EndpointError, EndpointValue, IdentityTokenError, JsonPosition, Metadata, Mount, RoleType,
    Rotated, StorageError, Unavailable,
};

/// The configuration of mounts, with their root credentials. The WIT interface is the specification.
///
/// Every call names the mount, since one capability serves any number of them. Its caller has authorized the request before.
pub trait Config {
    /// The configuration in force; a mount that was never configured has the defaults.
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError>;

    /// Changes the fields that `changes` names and keeps the others (contract 2.2).
    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError>;

    /// Resets the configuration to the defaults, without credentials.
    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError>;

    /// Replaces the stored key by a new one of the same service account (contract 2.6).
    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError>;

    /// As [`Self::rotate_root`], if the mount's schedule or period says that it is time; `None` when it is not.
    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError>;

    /// When the stored key is due to be replaced by the mount's schedule or period, in seconds since 1970: in the past for as long as that
    /// has not succeeded.
    fn next_rotation(&self, mount: &Mount) -> Result<Option<u64>, StorageError>;

    /// The permissions of the root credentials in `projects`; without any, in the project of the credentials and those that roles name.
    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError>;

    /// When the keys of Google's own were fetched that logins to the mount are verified with here, in milliseconds since 1970; `None` where
    /// none are kept, as before the first login or once they are too old to serve.
    fn google_keys_fetched_at(&self, mount: &Mount) -> Result<Option<u64>, StorageError>;

    /// Deletes everything kept for a mount that is gone.
    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError>;
}

/// The fields that a write sends. A field of `None` keeps its stored value.
///
/// It may hold a private key, so it can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Clone, Default, Zeroize)]
pub struct ConfigChanges {
    /// JSON text of a service-account key file; empty text removes the stored credentials.
    pub credentials: Option<String>,
    /// `role_id`, `unique_id`, or empty for the default.
    #[zeroize(skip)]
    pub iam_alias: Option<String>,
    /// `role_id`, `instance_id`, or empty for the default.
    #[zeroize(skip)]
    pub gce_alias: Option<String>,
    /// Field names; the one name `default` alone for the default set; no names for no metadata (contract 2.4).
    #[zeroize(skip)]
    pub iam_metadata: Option<Vec<String>>,
    /// The same for gce roles.
    #[zeroize(skip)]
    pub gce_metadata: Option<Vec<String>>,
    /// API names with base URLs. An API that is not named keeps its value; an empty value clears it.
    #[zeroize(skip)]
    pub custom_endpoint: Option<Vec<(String, String)>>,
    /// The service account that federation acts as.
    #[zeroize(skip)]
    pub service_account_email: Option<String>,
    /// Audience of identity tokens; a text that is not empty turns federation on and removes stored credentials.
    #[zeroize(skip)]
    pub identity_token_audience: Option<String>,
    /// Seconds; 0 for the default, 3600.
    #[zeroize(skip)]
    pub identity_token_ttl: Option<u64>,
    /// Five fields of cron; empty for none.
    #[zeroize(skip)]
    pub rotation_schedule: Option<String>,
    /// Seconds; 0 for none.
    #[zeroize(skip)]
    pub rotation_period: Option<u64>,
    /// Seconds; only together with a schedule.
    #[zeroize(skip)]
    pub rotation_window: Option<u64>,
    /// Kept and shown.
    #[zeroize(skip)]
    pub rotation_policy: Option<String>,
    /// Stops rotations that follow from the schedule or the period.
    #[zeroize(skip)]
    pub disable_automated_rotation: Option<bool>,
}

/// Why a service-account key file is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Not one JSON object with text members. Says where, never what.
    #[error("not a JSON object of a key file (line {}, column {})", .0.line, .0.column)]
    NotJson(JsonPosition),
    /// More than 64 KiB.
    #[error("longer than 64 KiB")]
    TooLong,
    /// `private_key_id` is missing or empty.
    #[error("missing private key in credentials")]
    PrivateKeyIdMissing,
    /// `type` is present and is not `service_account`.
    #[error("type is not service_account")]
    NotServiceAccount,
    /// `client_email` is missing or empty.
    #[error("client_email is missing")]
    ClientEmailMissing,
    /// `private_key` is not a PEM RSA key of 2048 to 4096 bits whose parts fit together.
    #[error("private_key is not a usable PEM RSA key")]
    PrivateKeyUnusable,
}

/// Why a list of metadata fields is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// `default` stands beside other names; holds all names, in lower case, each once, sorted.
    #[error("default can't be used in combination with other fields")]
    DefaultWithOthers(Vec<String>),
    /// There is no such field.
    #[error("{:?} is not an available field", .0.name)]
    Unavailable(Unavailable),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotUrl => "it is not a URL of the form [scheme://]host[:port][/path] without segments '.' and '..'",
            Self::UserInformation => "it must not contain user information",
            Self::QueryOrFragment => "it must not contain a query or a fragment",
            Self::Scheme => "the scheme must be https",
            Self::PlainHttp => "plain http is allowed for loopback addresses only, and only where the server operator allowed it",
            Self::LinkLocal => "link-local addresses and metadata servers are never allowed",
            Self::HostNotAllowed => "the host is not among those that the server operator allowed: beside Google's own API hosts, only those that google.allowed_hosts names in the server's settings",
            Self::PathNotAllowed => "a path is not allowed on Google's own hosts, except that of the compute API, unless google.allowed_hosts names the host in the server's settings",
        })
    }
}

/// Why a rotation schedule is not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Not five fields.
    #[error("expected exactly 5 fields")]
    FieldCount,
    /// A field, counted from 1, that cron does not know.
    #[error("field {0} cannot be read")]
    Field(u8),
    /// A time that never comes, such as the 30th of February.
    #[error("it never fires")]
    Never,
}

/// Why a configuration was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The key file is not usable.
    #[error("the credentials are not usable: {0}")]
    Credentials(#[from] KeyFileError),
    /// The alias source is not one of those that exist for the kind of role.
    #[error("invalid {0} alias type")]
    Alias(RoleType),
    /// The metadata list is not acceptable.
    #[error("invalid {} metadata: {}", .0.role_type, .0.flaw)]
    Metadata(Metadata),
    /// There is no API of this name; holds the name, cut to 128 bytes.
    #[error("invalid custom endpoint type {0:?}")]
    EndpointKey(String),
    /// The base URL for an API is not acceptable.
    #[error("invalid custom endpoint value for {:?}: {}", .0.key, .0.flaw)]
    EndpointValue(EndpointValue),
    /// Both a key file and an audience for federation were sent.
    #[error("only one of 'credentials' or 'identity_token_audience' can be set")]
    CredentialsTwice,
    /// `service_account_email` is not the e-mail address of a service account.
    #[error("'service_account_email' must be the e-mail address of a service account")]
    ServiceAccountEmail,
    /// Federation without a service account to act as.
    #[error("missing required 'service_account_email' when 'identity_token_audience' is set")]
    ServiceAccountMissing,
    /// No identity token can be made, so federation cannot work.
    #[error("no identity token can be made: {0}")]
    IdentityToken(#[from] IdentityTokenError),
    /// The schedule is not five fields of cron; holds what is wrong with it.
    #[error("failed to parse provided rotation_schedule: {0}")]
    RotationSchedule(ScheduleError),
    /// Both a schedule and a period were sent.
    #[error(
        "mutually exclusive fields rotation_schedule and rotation_period were both specified; only one of them can be provided"
    )]
    RotationTwice,
    /// A window without a schedule in the same write.
    #[error("cannot use rotation_window without rotation_schedule")]
    WindowWithoutSchedule,
    /// A window together with a period.
    #[error("rotation_window does not apply to period")]
    WindowWithPeriod,
    /// A text is longer than it may be.
    #[error("'{}' cannot be longer than {} bytes", .0.field, .0.maximum)]
    TooLong(ConfigBound),
    /// A text is larger than a configuration can hold.
    #[error("the configuration is too large to be stored")]
    TooLarge,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a key was not replaced. The one before it stays in use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RotationError {
    /// There is no stored key to replace.
    #[error("the mount has no stored credentials")]
    NoStoredCredentials,
    /// Another rotation of the mount is under way. Worth trying again.
    #[error("another rotation is at work")]
    Busy,
    /// Google would not make a key.
    #[error("Google refused to make a key (status {})", .0.status)]
    Refused(ApiRefusal),
    /// Google's answer is not a key file for the same account.
    #[error("the new key could not be read")]
    AnswerUnreadable,
    /// Google does not accept the new key yet. It is kept, and the next rotation continues with it; holds its id.
    #[error("the new key {0} is not accepted yet")]
    NotYetAccepted(String),
    /// The mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsError),
    /// The host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error("outgoing requests to the API {0:?} are not allowed")]
    EndpointDenied(String),
    /// Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(String),
    /// The configuration was changed in the meantime.
    #[error("the configuration was changed in the meantime")]
    ConfigurationChanged,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

wraps_storage_error!(ConfigError, RotationError);
