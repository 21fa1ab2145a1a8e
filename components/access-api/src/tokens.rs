//! The interface `tokens`: its functions, its error texts, and what holds secrets.

use gatehouse_ports::IpAddress;
use gatehouse_storage::wraps_failure;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    ClientToken, CreateRequest, FieldTooLong, KeyPage, LoginGrant, PoliciesOfRole, RenewalSubject,
    Revalidated, ServiceError, ServiceField, TokenGrant, TokenView,
};

/// Tokens of logins. The WIT interface is the specification.
pub trait Logins {
    /// Makes the token of a successful login, its entity at the first one, and its memberships in external groups, in one commit.
    fn issue_login(&self, grant: &LoginGrant) -> Result<Issued, LoginError>;
}

/// Tokens that token holders make. The WIT interface is the specification.
pub trait TokenCreation {
    /// Makes a token for an authenticated caller (contract 5.4).
    fn create_token(&self, parent: &Parent, request: &CreateRequest)
    -> Result<Issued, CreateError>;
}

/// Tokens that are valid. The WIT interface is the specification.
pub trait TokenLookup {
    /// Shows a valid token.
    fn lookup_token(&self, reference: &TokenReference) -> Result<TokenView, LookupError>;

    /// The accessors of valid tokens, at most `limit` of them: from the beginning of the list, or after the accessor `after`, whose token
    /// need not be valid.
    fn list_accessors(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError>;
}

/// More time for tokens. The WIT interface is the specification.
pub trait Renewal {
    /// The facts to check before the token may be renewed, for a caller at `source_address`; `None` when that is unknown, which no bound
    /// address range contains.
    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<IpAddress>,
    ) -> Result<RenewalSubject, RenewError>;

    /// Extends a token.
    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError>;
}

/// The end of tokens. The WIT interface is the specification.
pub trait Revocation {
    /// Ends a token and everything that descends from it, at once.
    fn revoke_token(&self, reference: &TokenReference) -> Result<bool, RevokeError>;

    /// Ends a token alone: its children become orphans and keep their descendants, all in one commit.
    fn revoke_token_alone(&self, reference: &TokenReference) -> Result<bool, RevokeError>;
}

/// Clearing away what ended tokens left. The WIT interface is the specification.
pub trait Tidying {
    /// Starts clearing away what no valid token leads to, which is for [`System::maintain`](crate::System::maintain) to do.
    fn tidy_tokens(&self) -> Result<bool, ServiceError>;
}

/// The token that is meant. It is wiped from memory when it is dropped, and cannot be printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub enum TokenReference {
    /// The token itself, a secret.
    Id(String),
    /// Its accessor.
    Accessor(String),
    /// Its lease: the path that issued it and a hash, `auth/gcp/login/h...`. Of tokens that no mount issued, which are the first
    /// root token and wrapping tokens, there is none.
    Lease(String),
}

/// A new token. It can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Zeroize)]
pub struct Issued {
    /// The secret; shown once, kept nowhere.
    pub client_token: String,
    /// Its terms.
    #[zeroize(skip)]
    pub grant: TokenGrant,
}

impl Issued {
    /// The token as the reference that other calls take.
    #[must_use]
    pub fn reference(&self) -> TokenReference {
        TokenReference::Id(self.client_token.clone())
    }
}

impl ClientToken {
    /// This token as the reference that other calls take.
    #[must_use]
    pub fn reference(&self) -> TokenReference {
        TokenReference::Id(self.expose().into())
    }
}

/// The caller that asks for a token. The caller's token is wiped from memory when this is dropped, and cannot be printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Parent {
    /// The caller's token, a secret, as it was admitted.
    pub token: String,
    /// True if the admission found `sudo` on the path.
    pub sudo: bool,
    /// True if the admission found a limited number of uses.
    pub limited_uses: bool,
    /// True if the path itself makes orphans (`create-orphan`).
    pub orphan_path: bool,
}

/// The policy of wrapping tokens.
pub const RESPONSE_WRAPPING: &str = "response-wrapping";

impl TokenView {
    /// True if it is a wrapping token, which may ask for what it wraps and for nothing else.
    #[must_use]
    pub fn is_wrapping(&self) -> bool {
        self.policies
            .iter()
            .any(|policy| policy == RESPONSE_WRAPPING)
    }
}

/// Why a token is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Unknown, expired, revoked, used up and malformed alike.
    #[error("there is no such token")]
    UnknownToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

impl ServiceField {
    /// The field's name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NumUses => "num_uses",
            Self::Period => "period",
            Self::ExplicitMaxTtl => "explicit_max_ttl",
        }
    }
}

/// Why a login earned no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The mount was disabled in the meantime.
    #[error("the auth method was disabled in the meantime")]
    MountGone,
    /// The method gave no name for the identity.
    #[error("the login yields no alias name")]
    EmptyAliasName,
    /// Logins never make root tokens.
    #[error("auth methods cannot create root tokens")]
    RootPolicy,
    /// A policy that cannot be attached to a token; holds its name.
    #[error("policy {0:?} cannot be assigned")]
    UnassignablePolicy(String),
    /// More policies than a token may hold; holds that number.
    #[error("a token holds at most {0} policies: put rules into fewer policies")]
    TooManyPolicies(u32),
    /// An address range that does not parse; holds it.
    #[error("bound CIDR {0:?} is neither an address nor an address range")]
    InvalidBoundCidr(String),
    /// A batch token cannot have a limited number of uses.
    #[error("batch tokens cannot have num_uses set: use service tokens")]
    BatchWithNumUses,
    /// A batch token cannot be periodic.
    #[error("batch tokens cannot have a period: use service tokens")]
    BatchWithPeriod,
    /// A batch token would hold more than it may; holds that number of bytes.
    #[error(
        "a batch token holds at most {0} bytes: attach less metadata, fewer policies or fewer address ranges, or use service tokens"
    )]
    BatchTooLarge(u32),
    /// More group aliases than a login may bring; holds that number.
    #[error("a login brings at most {0} group aliases")]
    TooManyGroupAliases(u32),
    /// The role binds tokens to address ranges that do not contain the client.
    #[error("the token may not be used from this address")]
    AddressDenied,
    /// The entity is disabled, or the alias points to one that was deleted.
    #[error("the entity of this identity is disabled or was deleted")]
    EntityUnusable,
    /// A field that is longer than it may be.
    #[error(transparent)]
    TooLong(#[from] FieldTooLong),
    /// The mount has as many live tokens of logins as it may have; holds that number.
    #[error(
        "quota of live tokens exceeded: this auth method has {0}; revoke some, wait until some end, or raise limits.live_tokens_per_mount"
    )]
    TooManyTokensOfMount(u32),
    /// The role has as many live tokens of logins as it may have; holds that number.
    #[error(
        "quota of live tokens exceeded: this role has {0}; revoke some, wait until some end, or raise limits.live_tokens_per_role"
    )]
    TooManyTokensOfRole(u32),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

/// Why a token was not created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The caller's token is not valid any more.
    #[error("the token is not valid: log in again")]
    InvalidToken,
    /// The caller's token has limited uses.
    #[error("restricted use token cannot generate child tokens")]
    RestrictedUseParent,
    /// The caller's token has as many ancestors as a token may have; holds that number.
    #[error("a token has at most {0} ancestors: create an orphan token instead")]
    TooManyAncestors(u32),
    /// A policy beyond the parent's, without `sudo`.
    #[error("child policies must be subset of parent")]
    PoliciesNotSubset,
    /// Policy `root` for a parent without it.
    #[error("root tokens may not be created without parent token being root")]
    RootFromNonRoot,
    /// A root token without an end for a root parent that has one.
    #[error("expiring root tokens cannot create non-expiring root tokens")]
    EndlessRootFromExpiring,
    /// A policy that cannot be attached to a token; holds its name.
    #[error("policy {0:?} cannot be assigned")]
    UnassignablePolicy(String),
    /// More policies than a token may hold; holds that number.
    #[error("a token holds at most {0} policies: put rules into fewer policies")]
    TooManyPolicies(u32),
    /// An orphan without `sudo`.
    #[error("root or sudo privileges required to create orphan token")]
    OrphanNeedsSudo,
    /// A period without `sudo`.
    #[error("root or sudo privileges required to create periodic token")]
    PeriodNeedsSudo,
    /// A chosen identifier without `sudo`.
    #[error("root or sudo privileges required to specify token id")]
    IdNeedsSudo,
    /// A chosen identifier that begins as generated ones do.
    #[error("custom token ID cannot have the 'hvs.' prefix")]
    IdWithReservedPrefix,
    /// A chosen identifier with a dot, which separates namespaces, or one that is not printable ASCII of at most 256 bytes.
    #[error("a chosen token ID must be printable ASCII without dots, at most 256 characters")]
    UnusableId,
    /// A chosen identifier that is taken.
    #[error("cannot create a token with a duplicate ID")]
    DuplicateId,
    /// A negative time to live.
    #[error("ttl must be positive")]
    NegativeTtl,
    /// A negative explicit maximum.
    #[error("explicit_max_ttl must be positive")]
    NegativeExplicitMaxTtl,
    /// A negative period.
    #[error("period must be positive")]
    NegativePeriod,
    /// A negative number of uses.
    #[error("number of uses cannot be negative")]
    NegativeNumUses,
    /// Neither `service` nor `batch`.
    #[error("invalid 'token_type' value")]
    InvalidTokenType,
    /// A batch token with a field that only service tokens have.
    #[error("batch tokens cannot have {:?} set", .0.name())]
    BatchWith(ServiceField),
    /// A batch token with policy `root`.
    #[error("batch tokens cannot be root tokens")]
    BatchRoot,
    /// The caller's token is a batch token.
    #[error("batch tokens cannot create more tokens")]
    BatchParent,
    /// A batch token would hold more than it may; holds that number of bytes.
    #[error(
        "a batch token holds at most {0} bytes: attach less metadata or fewer policies, or use a service token"
    )]
    BatchTooLarge(u32),
    /// A token-store role that does not exist; holds its name.
    #[error("unknown role {0}")]
    UnknownRole(String),
    /// Policies that the role does not allow.
    #[error("the role allows policies {:?} and {:?}, and not all of {:?}", .0.allowed, .0.allowed_glob, .0.policies)]
    PoliciesNotOfRole(PoliciesOfRole),
    /// A policy that the role forbids; holds its name.
    #[error("the role forbids policy {0:?}")]
    PolicyDisallowedByRole(String),
    /// An entity alias that the role does not allow.
    #[error("invalid 'entity_alias' value")]
    AliasNotAllowed,
    /// The entity behind the alias is disabled or was deleted.
    #[error("entity from given entity alias is disabled")]
    AliasEntityUnusable,
    /// An entity alias, which needs a token role.
    #[error("'entity_alias' is only allowed in combination with token role")]
    EntityAliasWithoutRole,
    /// A field that is longer than it may be.
    #[error(transparent)]
    TooLong(#[from] FieldTooLong),
    /// The role has made as many entities as it may make; holds that number.
    #[error(
        "this token role has made {0} entities: delete some, name an alias that exists, or raise limits.entities_per_token_role"
    )]
    TooManyEntities(u32),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

/// Why a token was not renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenewError {
    /// Unknown, expired, revoked, used up and malformed alike.
    #[error("there is no such token")]
    UnknownToken,
    /// It was made not to be renewed, or never expires.
    #[error("lease is not renewable")]
    NotRenewable,
    /// It is a batch token.
    #[error("batch tokens cannot be renewed")]
    BatchToken,
    /// Nothing of its longest life is left.
    #[error("past the max TTL, cannot renew")]
    PastMaxTtl,
    /// The token-store role that it was created under is gone; holds its name.
    #[error("original token role {0:?} could not be found, not renewing")]
    RoleGone(String),
    /// The token is bound to address ranges that do not contain the caller (contract 4.10, R7).
    #[error("the token may not be renewed from this address")]
    AddressDenied,
    /// More group aliases than a renewal may bring; holds that number.
    #[error("a renewal brings at most {0} group aliases")]
    TooManyGroupAliases(u32),
    /// A login made the token, and the renewal brings no fresh lifetime from a revalidation.
    #[error("the token's login has to be revalidated first")]
    RevalidationMissing,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

/// Why a token was not revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevokeError {
    /// It is a valid batch token, which nothing ends before its time but what it rests on: its parent, its mount, its entity.
    #[error("batch tokens cannot be revoked")]
    BatchToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

impl From<LookupError> for RenewError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::UnknownToken => Self::UnknownToken,
            LookupError::Failure(failure) => Self::Failure(failure),
        }
    }
}

wraps_failure!(
    ServiceError:
    CreateError,
    LoginError,
    LookupError,
    RenewError,
    RevokeError
);
