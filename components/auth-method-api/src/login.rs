//! The interface `login`: its functions, its error texts, and what a caller sends, without `Debug`.

use std::fmt;

use gatehouse_ports::IpAddress;
use zeroize::Zeroize;

use crate::storage_error::wraps_storage_error;
use crate::{
    AccountNotBound, AccountRefusal, AncestorNotBound, ApiRefusal, CheckReport, CreatedLater,
    CredentialsError, GroupNotFound, Identity, Instance, InstanceAccountNotBound,
    InstanceProjectNotBound, InstanceRefused, InstanceTooOld, JwtError, KeyLookupError,
    KeyNotFound, LabelMissing, Mount, ProjectNotBound, ProjectRefusal, RenewalRequest, Renewed,
    StorageError,
};

/// Tells who a caller is and under which role, as decided by Google's word. The WIT interface is the specification.
pub trait Login {
    /// Decides who holds the token in `request` and whether the role lets them in (contract 4.2 to 4.7).
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError>;

    /// Makes every check of a login and returns the outcome of each, in their order.
    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport>;

    /// Repeats the authorization of an earlier login against the role and Google as they are now (contract 4.10).
    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError>;
}

/// The request of a caller to log in.
///
/// It holds a bearer token, so it can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Clone, Zeroize)]
pub struct LoginRequest {
    /// Name of the role, in any letter case; empty when none was sent.
    #[zeroize(skip)]
    pub role: String,
    /// The signed token, empty when none was sent.
    pub jwt: String,
    /// Where the caller is: a [`std::net::IpAddr`] by `into`. `None` when that is not known, which fails a role with bound networks.
    #[zeroize(skip)]
    pub source_address: Option<IpAddress>,
}

impl fmt::Display for JwtError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => "the token is longer than 16 KiB",
            Self::NotThreeParts => "the token does not have three non-empty parts",
            Self::NotBase64Url => "a part is not base64url without padding",
            Self::Header => "the header is not a JSON object with unique member names",
            Self::Claims => "the claims are not a JSON object with unique member names",
            Self::TooComplex => "the JSON of the token is too deep or has too many members",
            Self::Algorithm => "alg is not RS256",
            Self::KeyId => "kid is missing or not 1 to 256 printable ASCII characters",
            Self::Extension => "the header asks for an extension that is not supported",
            Self::Type => "typ is not JWT",
        })
    }
}

impl fmt::Display for KeyLookupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SubjectShape => {
                "the subject is neither a unique id nor an e-mail address of a service account"
            }
            Self::AccountUnknown => "no keys are published for the service account",
            Self::KeyUnknown => "the service account has no such key",
            Self::NotGoogles => "no Google OAuth2 provider key found for GCE role",
            Self::DocumentUnreadable => "the key document could not be read",
        })
    }
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
    MalformedJwt(JwtError),
    /// Refused: no key for the token.
    #[error("no public key {:?} for subject {:?}: {}", .0.key_id, .0.subject, .0.refusal)]
    KeyNotFound(KeyNotFound),
    /// Refused: the signature is not by that key.
    #[error("the signature is not valid")]
    SignatureInvalid,
    /// Refused: `exp` is missing, not a number in range, or over.
    #[error("the token is expired or has no proper exp claim")]
    Expired,
    /// Refused: `exp` is more than an hour ahead.
    #[error("the token expires in {0} s, which is more than an hour")]
    ExpiresTooLate(u64),
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
    #[error("the role requires tokens that expire within {0} s")]
    ExpiresBeyondRole(u64),
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
    #[error("service account {:?} is not in the bound projects", .0.email)]
    ProjectNotBound(ProjectNotBound),
    /// Refused: the account is not one of the role's.
    #[error("service account {} is not authorized for the role", .0.email)]
    AccountNotBound(AccountNotBound),
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
    #[error("instance {:?} of project {:?} is not in the bound projects", .0.instance_id, .0.project)]
    InstanceProjectNotBound(InstanceProjectNotBound),
    /// Refused: the instance is not the one that the token is about, or not in a state to log in.
    #[error("instance {:?} of project {:?} in zone {:?}: {}", .0.name, .0.project, .0.zone, .0.flaw)]
    Instance(Instance),
    /// Refused: the instance was created too long ago.
    #[error("the instance is {} s old, and the role allows {} s", .0.age, .0.maximum)]
    InstanceTooOld(InstanceTooOld),
    /// Refused: the instance does not have a label of the role.
    #[error("the instance does not have the label {}:{}", .0.key, .0.value)]
    LabelMissing(LabelMissing),
    /// Refused: the instance's zone is not one of the role's, which this holds.
    #[error("the instance is not in a bound zone")]
    ZoneNotBound(Vec<String>),
    /// Refused: the instance's region is not one of the role's, which this holds.
    #[error("the instance is not in a bound region")]
    RegionNotBound(Vec<String>),
    /// Refused: none of the role's instance groups exists where the role looks for them.
    #[error("instance group {:?} does not exist in the role's locations of project {:?}", .0.group, .0.project)]
    GroupNotFound(GroupNotFound),
    /// Refused: the instance is in none of the role's instance groups, which this holds.
    #[error("the instance is not in a bound instance group")]
    NotInGroups(Vec<String>),
    /// Refused: Google would not list the instance groups of the project.
    #[error("the instance groups of project {:?} could not be read (status {})", .0.project, .0.refusal.status)]
    GroupsUnreadable(ProjectRefusal),
    /// Refused: the account of the instance could not be read; the role asks for certain accounts.
    #[error("the service account could not be read (status {})", .0.refusal.status)]
    BoundAccountNotFound(AccountRefusal),
    /// Refused: the account of the instance could not be read.
    #[error("the service account could not be read (status {})", .0.refusal.status)]
    InstanceAccountNotFound(AccountRefusal),
    /// Refused: the account of the instance is not one of the role's.
    #[error("service account {} is not one of the role's", .0.email)]
    InstanceAccountNotBound(InstanceAccountNotBound),
    /// Refused: the account that the token is about is not attached to the instance; holds its e-mail address.
    #[error("service account {0} is not attached to the instance")]
    AccountNotAttached(String),
    /// Refused: Google would not tell the ancestors of the project.
    #[error("the ancestors of project {:?} could not be read (status {})", .0.project, .0.refusal.status)]
    AncestryUnreadable(ProjectRefusal),
    /// Refused: no ancestor of the project is one of the role's folders.
    #[error("project {:?} is in none of the bound folders", .0.project)]
    FolderNotBound(AncestorNotBound),
    /// Refused: no ancestor of the project is one of the role's organizations.
    #[error("project {:?} is in none of the bound organizations", .0.project)]
    OrganizationNotBound(AncestorNotBound),
    /// Refused: there is nothing to name the entity by.
    #[error("the alias would have no name")]
    AliasEmpty,
    /// Credentials: the mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsError),
    /// Credentials: the host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error(
        "outgoing requests to the API {0:?} are not allowed: add its host to the allowed hosts"
    )]
    EndpointDenied(String),
    /// Credentials: Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(String),
    /// Unavailable: Google did not answer in time, or said so; holds the name of the API.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(String),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an instance is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstanceError {
    /// Google does not have it, or does not show it.
    #[error("Google refused with status {}", .0.status)]
    Refused(ApiRefusal),
    /// It is not running or about to; holds Google's word for its state.
    #[error("it has status {0}")]
    Status(String),
    /// Another instance has its name now.
    #[error("it has another id")]
    OtherId,
    /// The token is about an instance that existed before this one. Times are seconds since 1970.
    #[error("the token names a creation time before its own")]
    CreatedLater(CreatedLater),
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
    #[error("cannot renew under role {:?}: {}", .0.role, .0.refusal)]
    InstanceRefused(InstanceRefused),
    /// Forbidden: the peer's address is outside the token's networks, or not known.
    #[error("the source address is outside the networks of the token")]
    AddressNotAllowed,
    /// Credentials: the mount's own credentials give no access to Google's APIs.
    #[error("the credentials of the mount are not usable: {0}")]
    Credentials(#[from] CredentialsError),
    /// Credentials: the host, or the operator's list of hosts, does not allow the call; holds the name of the API.
    #[error(
        "outgoing requests to the API {0:?} are not allowed: add its host to the allowed hosts"
    )]
    EndpointDenied(String),
    /// Credentials: Google's answer was not what the API promises; holds the name of the API.
    #[error("the API {0:?} of Google gave an answer of no use")]
    GoogleUnusable(String),
    /// Unavailable: Google did not answer in time, or said so; holds the name of the API. The lease stays as it was.
    #[error("the API {0:?} of Google is unavailable")]
    GoogleUnavailable(String),
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

wraps_storage_error!(LoginError, RenewalError);

#[cfg(test)]
mod tests {
    use super::LoginRequest;
    use crate::ConfigChanges;

    #[test]
    fn k6_what_brings_a_secret_cannot_be_printed() {
        gatehouse_ports::assert_lacks!(
            [ConfigChanges, LoginRequest],
            [std::fmt::Debug, std::fmt::Display]
        );
    }
}
