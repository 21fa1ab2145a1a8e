//! Configuration of a mount (contract 2).

use std::borrow::Cow;
use std::fmt;

use gatehouse_storage::StorageError;
use serde::{Deserialize, Serialize};

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
    /// The server operator's list of allowed hosts does not have it.
    #[error("the host is not among those that the server operator allowed")]
    HostNotAllowed,
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
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
