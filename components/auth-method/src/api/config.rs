//! Configuration of a mount (contract 2).

use std::borrow::Cow;
use std::fmt;

use gatehouse_storage::StorageError;
use serde::{Deserialize, Serialize};

use super::{ApiRefusal, CredentialsFailure, IdentityTokenError};

/// The two kinds of roles, which also name two sets of configuration fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleType {
    /// Service accounts log in.
    Iam,
    /// Instances log in.
    Gce,
}

impl fmt::Display for RoleType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Iam => "iam",
            Self::Gce => "gce",
        })
    }
}

/// What the alias of an identity is named after (contract 7.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AliasSource {
    /// The role: everybody who uses the role is one entity.
    #[default]
    RoleId,
    /// The caller: the unique id of the service account, or the id of the instance.
    Caller,
}

/// The configuration in force (contract 2.5). It has no field that could hold a private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigView {
    /// The identifying members of the stored credentials; `None` when there are none.
    pub credentials: Option<CredentialsView>,
    /// For iam roles.
    pub iam_alias: AliasSource,
    /// For gce roles.
    pub gce_alias: AliasSource,
    /// Names of the metadata fields for iam roles, in reading order.
    pub iam_metadata: Vec<String>,
    /// Names of the metadata fields for gce roles, in reading order.
    pub gce_metadata: Vec<String>,
    /// As the operator wrote them.
    pub custom_endpoint: CustomEndpoints,
    /// Where access tokens come from.
    pub credentials_source: CredentialsSource,
    /// The service account that workload identity federation acts as; empty when none is set.
    pub service_account_email: String,
    /// Audience of the identity tokens that federation exchanges; empty when there is no federation.
    pub identity_token_audience: String,
    /// Seconds that such an identity token is valid, as it is in force.
    pub identity_token_ttl: u64,
    /// When the stored key is replaced by itself.
    pub rotation: RotationSettings,
}

/// Where a mount's access tokens come from, in order of precedence (contract 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialsSource {
    /// A stored service-account key.
    Static,
    /// Workload identity federation: this server's own identity tokens, exchanged.
    Federation,
    /// The application default credentials of the server.
    ApplicationDefault,
}

/// When a stored key is replaced by a new one (contract 2.2). At most one of `schedule` and `period` is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationSettings {
    /// Five fields of cron, in UTC; empty for none.
    pub schedule: String,
    /// Seconds between two rotations; 0 for none.
    pub period: u64,
    /// Seconds after a scheduled time during which the rotation may still begin; 0 for until the next one.
    pub window: u64,
    /// Kept and shown; has no effect.
    pub policy: String,
    /// Stops rotations that nobody asked for.
    pub disabled: bool,
}

/// What may be shown of stored credentials. Each may be empty, except `private_key_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsView {
    /// E-mail address of the service account.
    pub client_email: String,
    /// Its unique id.
    pub client_id: String,
    /// Names the key.
    pub private_key_id: String,
    /// Its project.
    pub project_id: String,
}

/// Replacements of Google's base URLs, as written by the operator (contract 2.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomEndpoints {
    /// Where both kinds of key documents come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// Service accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iam: Option<String>,
    /// Project ancestry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crm: Option<String>,
    /// Instances and instance groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<String>,
}

/// What a write says. A field of `None` keeps its stored value.
///
/// It has no `Debug`: it may hold a private key.
#[derive(Clone, Default)]
pub struct ConfigChanges {
    /// JSON text of a service-account key file; empty text removes the stored credentials.
    pub credentials: Option<String>,
    /// `role_id`, `unique_id`, or empty for the default.
    pub iam_alias: Option<String>,
    /// `role_id`, `instance_id`, or empty for the default.
    pub gce_alias: Option<String>,
    /// Field names; the one name `default` alone for the default set; no names for no metadata (contract 2.4).
    pub iam_metadata: Option<Vec<String>>,
    /// The same for gce roles.
    pub gce_metadata: Option<Vec<String>>,
    /// API names with base URLs. An API that is not named keeps its value; an empty value clears it.
    pub custom_endpoint: Option<Vec<(String, String)>>,
    /// The service account that federation acts as.
    pub service_account_email: Option<String>,
    /// Audience of identity tokens; a text that is not empty turns federation on and removes stored credentials.
    pub identity_token_audience: Option<String>,
    /// Seconds; 0 for the default, 3600.
    pub identity_token_ttl: Option<u64>,
    /// Five fields of cron; empty for none.
    pub rotation_schedule: Option<String>,
    /// Seconds; 0 for none.
    pub rotation_period: Option<u64>,
    /// Seconds; only together with a schedule.
    pub rotation_window: Option<u64>,
    /// Kept and shown.
    pub rotation_policy: Option<String>,
    /// Stops rotations that nobody asked for.
    pub disable_automated_rotation: Option<bool>,
}

/// What an operator should know about a configuration that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigWarning {
    /// Public keys come from a host that is not Google's: whoever runs it decides who can log in (contract 9.3).
    KeysFromForeignHost,
}

/// What is wrong with a service-account key file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsFlaw {
    /// Not one JSON object with text members. Says where, never what.
    #[error("not a JSON object of a key file (line {line}, column {column})")]
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1; 0 when the line had not begun.
        column: usize,
    },
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

/// What is wrong with a list of metadata fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataFlaw {
    /// `default` stands beside other names.
    #[error("default can't be used in combination with other fields")]
    DefaultWithOthers {
        /// All names, as normalised: lower case, each once, sorted.
        names: Vec<String>,
    },
    /// There is no such field.
    #[error("{name:?} is not an available field")]
    Unavailable {
        /// The first unknown name, cut to 128 bytes.
        name: String,
        /// The names that exist, in reading order.
        available: Vec<Cow<'static, str>>,
    },
}

/// What is wrong with a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointFlaw {
    /// Not `[scheme://]host[:port][/path]`, or its path has a segment `.` or `..`, also percent-encoded.
    #[error(
        "it is not a URL of the form [scheme://]host[:port][/path] without segments '.' and '..'"
    )]
    NotUrl,
    /// It carries a user name or password.
    #[error("it must not contain user information")]
    UserInformation,
    /// It carries a query or a fragment.
    #[error("it must not contain a query or a fragment")]
    QueryOrFragment,
    /// Another scheme than `https` and `http`.
    #[error("the scheme must be https")]
    Scheme,
    /// Plain `http` to a host where that is not allowed.
    #[error(
        "plain http is allowed for loopback addresses only, and only where the server operator allowed it"
    )]
    PlainHttp,
    /// A link-local address or a metadata server.
    #[error("link-local addresses and metadata servers are never allowed")]
    LinkLocal,
    /// The host is neither one of Google's API hosts nor named by the server's operator.
    #[error(
        "the host is not among those that the server operator allowed: beside Google's own API hosts, only those that google.allowed_hosts names in the server's settings"
    )]
    HostNotAllowed,
    /// A path on one of Google's own hosts, where others than the API's lead to what anybody may have uploaded.
    #[error(
        "a path is not allowed on Google's own hosts, except that of the compute API, unless google.allowed_hosts names the host in the server's settings"
    )]
    PathNotAllowed,
}

/// Why a configuration was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The key file is not usable.
    #[error("the credentials are not usable: {0}")]
    Credentials(#[from] CredentialsFlaw),
    /// The alias source is not one of those that exist for the kind of role.
    #[error("invalid {0} alias type")]
    Alias(RoleType),
    /// The metadata list is not acceptable.
    #[error("invalid {role_type} metadata: {flaw}")]
    Metadata {
        /// Whose metadata.
        role_type: RoleType,
        /// Why.
        flaw: MetadataFlaw,
    },
    /// There is no API of this name; holds the name, cut to 128 bytes.
    #[error("invalid custom endpoint type {0:?}")]
    EndpointKey(String),
    /// The base URL for an API is not acceptable.
    #[error("invalid custom endpoint value for {key:?}: {flaw}")]
    EndpointValue {
        /// The API: `api`, `iam`, `crm` or `compute`.
        key: Cow<'static, str>,
        /// Why.
        flaw: EndpointFlaw,
    },
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
    RotationSchedule(ScheduleFlaw),
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
    #[error("'{field}' cannot be longer than {maximum} bytes")]
    TooLong {
        /// The field.
        field: Cow<'static, str>,
        /// Bytes.
        maximum: u64,
    },
    /// A text is larger than a configuration can hold.
    #[error("the configuration is too large to be stored")]
    TooLarge,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What is wrong with a rotation schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleFlaw {
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

/// A key of the root credentials that was replaced (contract 2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// Names the key in use from now on.
    pub private_key_id: String,
    /// Names the key before it, when Google would not delete it: it still opens everything.
    pub key_left_behind: Option<String>,
}

/// Why a key was not replaced. The one before it stays in use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RotationError {
    /// There is no stored key to replace.
    #[error("the mount has no stored credentials")]
    NoStoredCredentials,
    /// Another rotation of the mount is at work. Worth trying again.
    #[error("another rotation is at work")]
    Busy,
    /// Google would not make a key.
    #[error("Google refused to make a key (status {})", .0.status)]
    Refused(ApiRefusal),
    /// What Google sent is not a key file for the same account.
    #[error("the new key could not be read")]
    AnswerUnreadable,
    /// Google does not accept the new key yet. It is kept, and the next rotation goes on with it; holds its id.
    #[error("the new key {0} is not accepted yet")]
    NotYetAccepted(String),
    /// The mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsFailure),
    /// The host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error("outgoing requests to the API {0:?} are not allowed")]
    EndpointDenied(Cow<'static, str>),
    /// Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(Cow<'static, str>),
    /// The configuration was changed in the meantime.
    #[error("the configuration was changed in the meantime")]
    ConfigurationChanged,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What the root credentials of a mount may do (the extension `config/check`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsReport {
    /// Where access tokens come from.
    pub source: CredentialsSource,
    /// Why there is no access token; then no project was asked about.
    pub failure: Option<CallFailure>,
    /// One for each project asked about, in their order.
    pub projects: Vec<ProjectReport>,
}

/// What the root credentials may do in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectReport {
    /// The project's id.
    pub project: String,
    /// What Google answered.
    pub outcome: Result<PermissionsFound, CallFailure>,
}

/// Permissions that logins and rotations can need, by what Google says of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionsFound {
    /// Those that the credentials have, sorted.
    pub held: Vec<String>,
    /// Those that they lack, sorted.
    pub lacking: Vec<String>,
}

/// Why a call to Google gave nothing to work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// Google refused.
    #[error("Google refused with status {}", .0.status)]
    Refused(ApiRefusal),
    /// The mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsFailure),
    /// The host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error("outgoing requests to the API {0:?} are not allowed")]
    EndpointDenied(Cow<'static, str>),
    /// Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(Cow<'static, str>),
    /// Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(Cow<'static, str>),
}
