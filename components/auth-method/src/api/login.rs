//! Logging in and renewing (contract 4).

use std::borrow::Cow;
use std::net::IpAddr;

use gatehouse_storage::StorageError;

use super::{AccountRefusal, ApiRefusal, CredentialsFailure, TokenParameters};

/// What a caller sent to log in.
///
/// It has no `Debug`: it holds a bearer token.
#[derive(Clone)]
pub struct LoginRequest {
    /// Name of the role, in any letter case; empty when none was sent.
    pub role: String,
    /// The signed token, empty when none was sent.
    pub jwt: String,
    /// The peer's address; `None` when the caller's host does not know it, which fails a role with bound networks.
    pub source_address: Option<IpAddr>,
}

/// Who has logged in, and what their token is to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name of the role, in lower case.
    pub role: String,
    /// UUID of the role.
    pub role_id: String,
    /// E-mail address of the service account (iam), or name of the instance (gce).
    pub display_name: String,
    /// Names the entity among those of the mount; never empty.
    pub alias_name: String,
    /// Selected facts about the caller, in reading order; only those that are not empty.
    pub metadata: Vec<(String, String)>,
    /// Names of the groups that the project's ancestors stand for, in Google's order (contract 7.3). Empty when the role
    /// does not ask for them: then the caller is in none.
    pub group_aliases: Vec<String>,
    /// What the role says about tokens.
    pub token: TokenParameters,
    /// To be kept with the token, out of sight, and given back at renewal. Its content is this capability's own.
    pub renewal_state: Vec<u8>,
}

/// What is needed to decide whether an earlier login may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenewalRequest {
    /// [`Identity::renewal_state`] of the login.
    pub renewal_state: Vec<u8>,
    /// The policies on the token.
    pub token_policies: Vec<String>,
    /// The peer's address; `None` when the caller's host does not know it.
    pub source_address: Option<IpAddr>,
}

/// What a token may be like from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// What the role says about tokens now.
    pub token: TokenParameters,
    /// As in [`Identity::group_aliases`]; `None` when the role does not ask for them or Google could not be asked, so that membership stays
    /// as it was.
    pub group_aliases: Option<Vec<String>>,
}

/// What is wrong with the form of a token. None of these holds any of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtFlaw {
    /// More than 16 KiB.
    #[error("the token is longer than 16 KiB")]
    TooLong,
    /// Not three non-empty parts between dots.
    #[error("the token does not have three non-empty parts")]
    NotThreeParts,
    /// A part is not strict base64url.
    #[error("a part is not base64url without padding")]
    NotBase64Url,
    /// The header is not one JSON object in UTF-8, without duplicate names.
    #[error("the header is not a JSON object with unique member names")]
    Header,
    /// The claims are not one JSON object in UTF-8, without duplicate names.
    #[error("the claims are not a JSON object with unique member names")]
    Claims,
    /// JSON deeper or larger than allowed.
    #[error("the JSON of the token is too deep or has too many members")]
    TooComplex,
    /// `alg` is not `RS256`.
    #[error("alg is not RS256")]
    Algorithm,
    /// `kid` is not 1 to 256 printable ASCII characters.
    #[error("kid is missing or not 1 to 256 printable ASCII characters")]
    KeyId,
    /// The header has `crit`, `b64` or `zip`.
    #[error("the header asks for an extension that is not supported")]
    Extension,
    /// `typ` is there and is not `JWT`.
    #[error("typ is not JWT")]
    Type,
}

/// Why there is no key for a token.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error,
)]
pub enum KeyRefusal {
    /// `sub` is neither a unique id nor a plain e-mail address, so no document is asked for.
    #[error("the subject is neither a unique id nor an e-mail address of a service account")]
    SubjectShape,
    /// Google does not publish keys for this service account.
    #[error("no keys are published for the service account")]
    AccountUnknown,
    /// The document of the account does not have the key.
    #[error("the service account has no such key")]
    KeyUnknown,
    /// Google has no such key of its own, and a gce role takes no other.
    #[error("no Google OAuth2 provider key found for GCE role")]
    NotGoogles,
    /// The answer was not a key document, or was a refusal.
    #[error("the key document could not be read")]
    DocumentUnreadable,
}

/// Why a login was refused. The first check that failed, in the order of contract 4.2.
///
/// The comment of each says which class it is of: *refused* (the caller's fault), *forbidden*, *credentials* (the operator's
/// fault) or *unavailable* (worth trying again).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// Refused: no role was named.
    #[error("role is required")]
    RoleMissing,
    /// Refused: there is no such role; holds the name as sent, cut to 256 bytes.
    #[error("role {0:?} not found")]
    RoleNotFound(String),
    /// Refused: no token was sent.
    #[error("jwt argument is required")]
    JwtMissing,
    /// Forbidden: the peer's address is outside the role's networks, or not known.
    #[error("the source address is outside the networks of the role")]
    AddressNotAllowed,
    /// Refused: the token is not a well-formed compact RS256 token.
    #[error("the token is malformed: {0}")]
    MalformedJwt(JwtFlaw),
    /// Refused: no key for the token.
    #[error("no public key {key_id:?} for subject {subject:?}: {refusal}")]
    KeyNotFound {
        /// The token's `kid`, cut to 256 bytes.
        key_id: String,
        /// The token's `sub`, cut to 320 bytes; nothing has been verified.
        subject: String,
        /// Why.
        refusal: KeyRefusal,
    },
    /// Refused: the signature is not by that key.
    #[error("the signature is not valid")]
    SignatureInvalid,
    /// Refused: `exp` is missing, not a number in range, or over.
    #[error("the token is expired or has no proper exp claim")]
    Expired,
    /// Refused: `exp` is more than an hour ahead.
    #[error("the token expires in {expires_in} s, which is more than an hour")]
    ExpiresTooLate {
        /// Seconds from now to `exp`.
        expires_in: u64,
    },
    /// Refused: `nbf` or `iat` is in the future, not a number, or `iat` is after `exp`.
    #[error("the token is not yet valid")]
    NotYetValid,
    /// Refused: `sub` is missing, empty or not a text.
    #[error("the token has no sub claim")]
    SubjectMissing,
    /// Refused: `aud` is not made for this role; holds the role as sent.
    #[error("the audience is not for role {0:?}")]
    AudienceNotForRole(String),
    /// Refused: `iss` does not belong to whose key signed.
    #[error("the issuer is not acceptable")]
    IssuerNotAcceptable,
    /// Refused: a Google-signed token on a role that does not allow it; holds the role's name.
    #[error("role {0:?} does not allow Google-signed tokens")]
    InferenceNotAllowed(String),
    /// Refused: `exp` is further ahead than the role allows.
    #[error("the role requires tokens that expire within {maximum_jwt_lifetime} s")]
    ExpiresBeyondRole {
        /// Seconds.
        maximum_jwt_lifetime: u64,
    },
    /// Refused: Google does not have the service account, or does not show it to us.
    #[error("the service account could not be read (status {})", .0.refusal.status)]
    AccountNotFound(AccountRefusal),
    /// Refused: the service account is disabled; holds its e-mail address.
    #[error("service account {0} is disabled")]
    AccountDisabled(String),
    /// Refused: Google's answer is about another service account.
    #[error("the service account does not match the subject of the token")]
    AccountMismatch,
    /// Refused: the account's project is not one of the role's.
    #[error("service account {email:?} is not in the bound projects")]
    ProjectNotBound {
        /// The account's e-mail address.
        email: String,
        /// The role's projects.
        bound_projects: Vec<String>,
    },
    /// Refused: the account is not one of the role's.
    #[error("service account {email} is not authorized for the role")]
    AccountNotBound {
        /// The account's e-mail address.
        email: String,
        /// The account's unique id.
        unique_id: String,
    },
    /// Refused: a token that was not signed by Google, on a role that trusts claims without asking Google's APIs.
    #[error("a role without live checks takes only tokens that Google has signed")]
    NotGoogleSigned,
    /// Refused: the token has logged in before.
    #[error("the token has logged in before")]
    Replayed,
    /// Refused: the token has no complete claims of an instance.
    #[error("the token has no complete claims of an instance")]
    InstanceClaimsMissing,
    /// Refused: the instance's project is not one of the role's.
    #[error("instance {instance_id:?} of project {project:?} is not in the bound projects")]
    InstanceProjectNotBound {
        /// The numeric id.
        instance_id: String,
        /// The project's id.
        project: String,
        /// The role's projects.
        bound_projects: Vec<String>,
    },
    /// Refused: the instance is not the one that the token is about, or not in a state to log in.
    #[error("instance {name:?} of project {project:?} in zone {zone:?}: {flaw}")]
    Instance {
        /// The project's id.
        project: String,
        /// The zone's name.
        zone: String,
        /// The instance's name.
        name: String,
        /// Why.
        flaw: InstanceFlaw,
    },
    /// Refused: the instance was created too long ago.
    #[error("the instance is {age} s old, and the role allows {maximum} s")]
    InstanceTooOld {
        /// Seconds.
        age: u64,
        /// Seconds.
        maximum: u64,
    },
    /// Refused: the instance does not have a label of the role.
    #[error("the instance does not have the label {key}:{value}")]
    LabelMissing {
        /// The label's key.
        key: String,
        /// The value that the role asks for.
        value: String,
    },
    /// Refused: the instance's zone is not one of the role's, which this holds.
    #[error("the instance is not in a bound zone")]
    ZoneNotBound(Vec<String>),
    /// Refused: the instance's region is not one of the role's, which this holds.
    #[error("the instance is not in a bound region")]
    RegionNotBound(Vec<String>),
    /// Refused: none of the role's instance groups exists where the role looks for them.
    #[error(
        "instance group {group:?} does not exist in the role's locations of project {project:?}"
    )]
    GroupNotFound {
        /// The first of the role's groups.
        group: String,
        /// The project's id.
        project: String,
        /// Where groups were looked for.
        locations: GroupLocations,
    },
    /// Refused: the instance is in none of the role's instance groups, which this holds.
    #[error("the instance is not in a bound instance group")]
    NotInGroups(Vec<String>),
    /// Refused: Google would not list the instance groups of the project.
    #[error("the instance groups of project {project:?} could not be read (status {})", .refusal.status)]
    GroupsUnreadable {
        /// The project's id.
        project: String,
        /// What Google said.
        refusal: ApiRefusal,
    },
    /// Refused: the account of the instance could not be read; the role asks for certain accounts.
    #[error("the service account could not be read (status {})", .0.refusal.status)]
    BoundAccountNotFound(AccountRefusal),
    /// Refused: the account of the instance could not be read.
    #[error("the service account could not be read (status {})", .0.refusal.status)]
    InstanceAccountNotFound(AccountRefusal),
    /// Refused: the account of the instance is not one of the role's.
    #[error("service account {email} is not one of the role's")]
    InstanceAccountNotBound {
        /// The account's unique id.
        unique_id: String,
        /// The account's e-mail address.
        email: String,
        /// The role's accounts.
        bound: Vec<String>,
    },
    /// Refused: the account that the token is about is not attached to the instance; holds its e-mail address.
    #[error("service account {0} is not attached to the instance")]
    AccountNotAttached(String),
    /// Refused: Google would not tell the ancestors of the project.
    #[error("the ancestors of project {project:?} could not be read (status {})", .refusal.status)]
    AncestryUnreadable {
        /// The project's id.
        project: String,
        /// What Google said.
        refusal: ApiRefusal,
    },
    /// Refused: no ancestor of the project is one of the role's folders.
    #[error("project {project:?} is in none of the bound folders")]
    FolderNotBound {
        /// The project's id.
        project: String,
        /// The role's folders.
        bound: Vec<String>,
    },
    /// Refused: no ancestor of the project is one of the role's organizations.
    #[error("project {project:?} is in none of the bound organizations")]
    OrganizationNotBound {
        /// The project's id.
        project: String,
        /// The role's organizations.
        bound: Vec<String>,
    },
    /// Refused: there is nothing to name the entity by.
    #[error("the alias would have no name")]
    AliasEmpty,
    /// Credentials: the mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsFailure),
    /// Credentials: the host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error(
        "outgoing requests to the API {0:?} are not allowed: add its host to the allowed hosts"
    )]
    EndpointDenied(Cow<'static, str>),
    /// Credentials: Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(Cow<'static, str>),
    /// Unavailable: Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(Cow<'static, str>),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an instance is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstanceFlaw {
    /// Google does not have it, or does not show it.
    #[error("Google refused with status {}", .0.status)]
    Refused(Box<ApiRefusal>),
    /// It is not running or about to; holds Google's word for its state.
    #[error("it has status {0}")]
    Status(String),
    /// Another instance has its name now.
    #[error("it has another id")]
    OtherId,
    /// The token is about an instance that was there before it. Times are seconds since 1970.
    #[error("the token names a creation time before its own")]
    CreatedLater {
        /// As the token has it.
        claimed: u64,
        /// As Google has it.
        created: u64,
    },
}

/// Where a role looks for instance groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupLocations {
    /// In these zones.
    Zones(Vec<String>),
    /// In these regions and the zones of them.
    Regions(Vec<String>),
}

/// Why a renewal was refused. The first check that failed, in the order of contract 4.10.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenewalError {
    /// The renewal state is not one that this capability wrote.
    #[error("the renewal state cannot be read")]
    StateUnreadable,
    /// Refused: the role is gone; holds its name.
    #[error("role {0:?} no longer exists")]
    RoleGone(String),
    /// Refused: the role has other policies now; holds its name.
    #[error("policies on role {0:?} have changed")]
    PoliciesChanged(String),
    /// Refused: the service account is gone, hidden or disabled; holds its unique id.
    #[error("cannot find service account {0}")]
    AccountNotFound(String),
    /// Refused: the role does not allow Google-signed tokens any more; holds its name.
    #[error("role {0} does not allow Google-signed tokens any more")]
    InferenceNotAllowed(String),
    /// Refused: the role does not have the account or its project any more; holds its name.
    #[error("the service account is no longer authorized for role {0}")]
    AccountNotBound(String),
    /// Refused: the instance is not let in any more.
    #[error("cannot renew under role {role:?}: {refusal}")]
    InstanceRefused {
        /// The role's name.
        role: String,
        /// The check of a login that failed now.
        refusal: Box<LoginError>,
    },
    /// Forbidden: the peer's address is outside the token's networks, or not known.
    #[error("the source address is outside the networks of the token")]
    AddressNotAllowed,
    /// Credentials: the mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsFailure),
    /// Credentials: the host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error(
        "outgoing requests to the API {0:?} are not allowed: add its host to the allowed hosts"
    )]
    EndpointDenied(Cow<'static, str>),
    /// Credentials: Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(Cow<'static, str>),
    /// Unavailable: Google did not answer in time, or said so; holds the name of the API. The lease stays as it was.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(Cow<'static, str>),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
