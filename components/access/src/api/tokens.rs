//! Tokens as callers see them. All times are whole seconds; points in time count from 1970-01-01T00:00Z.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{Failure, FieldTooLong, Mount};
use crate::policy::RESPONSE_WRAPPING;
use crate::secret::ClientToken;

/// How a token is kept (contract 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenType {
    /// A record in the store: can be renewed, revoked, counted.
    Service,
    /// Carries itself: nothing is stored.
    Batch,
}

/// Which token is meant.
#[derive(Clone, Copy)]
pub enum TokenReference<'a> {
    /// The token itself, a secret.
    Id(&'a str),
    /// Its accessor.
    Accessor(&'a str),
    /// Its lease: the path that issued it and a hash, `auth/gcp/login/h...`. Of tokens that no mount issued, which are the first
    /// root token and wrapping tokens, there is none.
    Lease(&'a str),
}

/// A token as a lookup shows it (contract 5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenView {
    /// 24 characters; empty for batch tokens.
    pub accessor: String,
    /// When it was issued.
    pub creation_time: u64,
    /// Its time to live at creation; 0 for one that never expires.
    pub creation_ttl: u64,
    /// For logs and user interfaces.
    pub display_name: String,
    /// The identity behind it.
    pub entity_id: Option<String>,
    /// When it ends; `None` only for a root token without an end.
    pub expire_time: Option<u64>,
    /// Longest life counted from creation, fixed then; 0 for no such limit.
    pub explicit_max_ttl: u64,
    /// When it was last renewed.
    pub last_renewal_time: Option<u64>,
    /// Facts from its creation; `None` when none were given.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Remaining uses, without the one that shows this; 0 for unlimited, or when that one was the last.
    pub num_uses: u64,
    /// Whether it has no parent.
    pub orphan: bool,
    /// The path that issued it, such as `auth/gcp/login`.
    pub path: String,
    /// Name of the token-store role that it was created under.
    pub role: Option<String>,
    /// A periodic token's period; 0 for others.
    pub period: u64,
    /// The token's own policies, sorted.
    pub policies: Vec<String>,
    /// Policies of its entity and of the entity's groups, as they are now, sorted.
    pub identity_policies: Vec<String>,
    /// Address ranges it may be used from; empty for any.
    pub bound_cidrs: Vec<String>,
    /// Whether it can be renewed.
    pub renewable: bool,
    /// What remains of its life; 0 for one that never expires.
    pub ttl: u64,
    /// How it is kept.
    pub token_type: TokenType,
}

impl TokenView {
    /// Whether it is a wrapping token, which may ask for what it wraps and for nothing else.
    #[must_use]
    pub fn is_wrapping(&self) -> bool {
        self.policies
            .iter()
            .any(|policy| policy == RESPONSE_WRAPPING)
    }
}

/// How long a token lives. 0 stands for "not set" in every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lifetime {
    /// The wanted time to live.
    pub ttl: u64,
    /// The longest life counted from creation, as the role says now.
    pub max_ttl: u64,
    /// The longest life counted from creation, fixed then. Ignored at renewals, where the token's own counts.
    pub explicit_max_ttl: u64,
    /// Makes the token periodic: each renewal gives this much again, without end.
    pub period: u64,
}

/// What a role asks of the tokens that logins make.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenParameters {
    /// How long it lives.
    pub lifetime: Lifetime,
    /// Policies to attach, in any spelling.
    pub policies: Vec<String>,
    /// Leaves policy `default` out.
    pub no_default_policy: bool,
    /// Address ranges or single addresses the token may be used from; empty for any.
    pub bound_cidrs: Vec<String>,
    /// How often it may be used; 0 for unlimited.
    pub num_uses: u64,
    /// `None` leaves the choice to the mount (the role's `default`).
    pub token_type: Option<TokenType>,
}

/// What a successful login earns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginGrant {
    /// The mount's identifier, as the admission gave it.
    pub mount_id: String,
    /// The mount's path, as the admission gave it.
    pub mount_path: String,
    /// Name of the role that the login was under, by which tokens are counted beside the mount.
    pub role: String,
    /// Name of the identity within the mount; not empty.
    pub alias_name: String,
    /// Facts about the identity: on the token, and on the alias.
    pub metadata: BTreeMap<String, String>,
    /// Appended to the mount's path to form the token's display name.
    pub display_name: String,
    /// Names of the external groups of this mount that the identity is in now, from which follows that it is in no others of
    /// them; `None` where the login says nothing, and all memberships stay.
    pub group_aliases: Option<Vec<String>>,
    /// What the role asks for.
    pub parameters: TokenParameters,
    /// What the method wants back when the token is renewed; opaque here.
    pub renewal_state: Vec<u8>,
    /// The client's true address.
    pub source_address: Option<IpAddr>,
}

/// Something that did not stop a token and that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenWarning {
    /// The time to live was cut.
    TtlCapped {
        /// What was asked for, in seconds.
        asked: u64,
        /// The maximum that applies, in seconds.
        effective_max_ttl: u64,
    },
    /// The period was cut.
    PeriodCapped {
        /// What was asked for, in seconds.
        asked: u64,
        /// The maximum that applies, in seconds.
        effective_max_ttl: u64,
    },
    /// Creator and role both gave a longest life; holds the lesser one, which counts.
    LesserExplicitMaxTtl(u64),
    /// Creator and role both gave a period; holds the lesser one, which counts.
    LesserPeriod(u64),
    /// A policy of this name does not exist; it grants nothing until it does.
    UnknownPolicy(String),
    /// The token's identifier was chosen by the caller, and is as strong as that choice.
    ChosenId,
    /// The caller chose an identifier, and batch tokens have none.
    IgnoredId,
}

/// A token's terms, as an `auth` block shows them (contract 4.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenGrant {
    /// 24 characters; empty for batch tokens.
    pub accessor: String,
    /// Token and identity policies together, sorted.
    pub policies: Vec<String>,
    /// The token's own policies, sorted.
    pub token_policies: Vec<String>,
    /// The policies of the entity and of its groups, sorted.
    pub identity_policies: Vec<String>,
    /// `None` when none were given; a login always gives some, be they empty.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Time to live in seconds; 0 for a token that never expires.
    pub lease_duration: u64,
    /// Whether it can be renewed.
    pub renewable: bool,
    /// The identity behind it.
    pub entity_id: Option<String>,
    /// How it is kept.
    pub token_type: TokenType,
    /// Whether it has no parent.
    pub orphan: bool,
    /// Uses it has; 0 for unlimited.
    pub num_uses: u64,
    /// In the order in which they are to be shown.
    pub warnings: Vec<TokenWarning>,
}

/// A new token.
pub struct Issued {
    /// The secret; shown once, kept nowhere.
    pub client_token: ClientToken,
    /// Its terms.
    pub grant: TokenGrant,
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
    Failure(#[from] Failure),
}

/// Who asks for a token.
#[derive(Clone, Copy)]
pub struct Parent<'a> {
    /// The caller's token, a secret, as it was admitted.
    pub token: &'a str,
    /// Whether the admission found `sudo` on the path.
    pub sudo: bool,
    /// Whether the admission found a limited number of uses.
    pub limited_uses: bool,
    /// Whether the path itself makes orphans (`create-orphan`).
    pub orphan_path: bool,
}

/// What a caller may say about a token it creates (contract 5.4). Durations are in seconds and may be negative, which is
/// refused with its own error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateRequest {
    /// Name of the token-store role to create it under, which decides before everything else here.
    pub role: Option<String>,
    /// A chosen identifier; needs `sudo`.
    pub id: Option<String>,
    /// `None` and an empty list inherit the parent's; a list of blanks names none (contract 5.2).
    pub policies: Option<Vec<String>>,
    /// Facts to attach.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Asks for an orphan; needs `sudo`.
    pub no_parent: bool,
    /// Leaves policy `default` out.
    pub no_default_policy: bool,
    /// `None` means renewable.
    pub renewable: Option<bool>,
    /// Time to live.
    pub ttl: Option<i64>,
    /// Longest life counted from creation.
    pub explicit_max_ttl: Option<i64>,
    /// Makes it periodic; needs `sudo`.
    pub period: Option<i64>,
    /// For logs and user interfaces.
    pub display_name: Option<String>,
    /// How often it may be used; 0 for unlimited.
    pub num_uses: Option<i64>,
    /// `service` or `batch`; `None` or empty means service.
    pub token_type: Option<String>,
    /// Name of the alias, on the mount of tokens, whose entity it gets; only with a role that allows it. Empty for none.
    pub entity_alias: Option<String>,
}

/// A field that batch tokens do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceField {
    /// The number of uses.
    NumUses,
    /// The period.
    Period,
    /// The longest life, fixed at creation.
    ExplicitMaxTtl,
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

/// Policies that a token would have, and those that its role allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoliciesOfRole {
    /// What the token would have.
    pub policies: Vec<String>,
    /// What the role allows.
    pub allowed: Vec<String>,
    /// What the role allows, as patterns in which `*` stands for any text.
    pub allowed_glob: Vec<String>,
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
    Failure(#[from] Failure),
}

/// Why a token is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Unknown, expired, revoked, used up and malformed alike.
    #[error("there is no such token")]
    UnknownToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}

/// What the method that issued a token must confirm before it is renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revalidation {
    /// The mount that issued it.
    pub mount: Mount,
    /// What the method left with the token.
    pub renewal_state: Vec<u8>,
    /// The token's own policies, sorted.
    pub token_policies: Vec<String>,
}

/// What the method that issued a token says when it confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Revalidated {
    /// How long the role lets tokens live now.
    pub lifetime: Lifetime,
    /// As in [`LoginGrant::group_aliases`].
    pub group_aliases: Option<Vec<String>>,
}

/// A token that can be renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenewalSubject {
    /// `None` for a token that no login made: it can be renewed at once.
    pub revalidation: Option<Revalidation>,
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
    Failure(#[from] Failure),
}

impl From<LookupError> for RenewError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::UnknownToken => Self::UnknownToken,
            LookupError::Failure(failure) => Self::Failure(failure),
        }
    }
}

/// Why a token was not revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevokeError {
    /// It is a valid batch token, which nothing ends before its time but what it rests on: its parent, its mount, its entity.
    #[error("batch tokens cannot be revoked")]
    BatchToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
