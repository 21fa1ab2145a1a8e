//! The interface `tokens`: its functions, its error texts, and the new token, which holds a secret.

use std::fmt;

use gatehouse_storage::wraps_failure;
use zeroize::Zeroize;

use crate::{
    ApiToken, AttributeIssue, Caller, DelegationScope, LifetimeChange, LifetimePolicy, OwnedToken,
    ServiceError, TeamToken, TokenKind, TokenOwner, TokenRequest,
};

/// A token that has just been made, with its text, which is shown once. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Clone, PartialEq, Eq, Zeroize)]
pub struct IssuedToken {
    /// The token.
    #[zeroize(skip)]
    pub token: ApiToken,
    /// Its text, a secret.
    pub secret: String,
}

/// Without the secret.
impl fmt::Debug for IssuedToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IssuedToken")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl TokenOwner {
    /// The external id of the organization with which the token goes; `None` for users.
    #[must_use]
    pub fn organization(&self) -> Option<&str> {
        match self {
            Self::User(_) => None,
            Self::Team(team) | Self::TeamNamed(team) => Some(&team.organization),
            Self::AgentPool(pool) => Some(&pool.organization),
            Self::Organization(organization) | Self::AuditTrail(organization) => Some(organization),
        }
    }
}

impl TokenKind {
    /// The name of the kind on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Organization => "organization",
            Self::Team => "team",
            Self::User => "user",
            Self::AuditTrail => "audit_trails",
            Self::Metrics => "metrics",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [
            Self::Organization,
            Self::Team,
            Self::User,
            Self::AuditTrail,
            Self::Metrics,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == name)
    }
}

/// Most characters of a token's description.
pub const MAXIMUM_DESCRIPTION: u32 = 255;

/// Most tokens that one user, pool, or team with descriptions of their own, has at a time. Those that are over do not count.
pub const MAXIMUM_TOKENS: usize = 100;

/// Most tokens of teams with descriptions of their own and of agent pools that one organization has, those that are over among
/// them.
pub const MAXIMUM_TOKENS_OF_ORGANIZATION: u32 = 5_000;

/// Most tokens that a list looks at. Only stores that are older than the bounds hold more.
pub const MAXIMUM_TOKENS_READ: usize = 10_000;

/// Why a token was not made. Nothing is stored, and the token that it was to replace stays valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// The owner that it was to stand for does not exist.
    #[error("the owner of the token does not exist")]
    NoOwner,
    /// At least one attribute is invalid.
    #[error("{} attributes of the token are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The owner has as many tokens as an owner may have: another one has to be revoked first.
    #[error("the owner has {MAXIMUM_TOKENS} tokens that are not over: revoke one")]
    TooMany,
    /// The organization has as many tokens of teams and agent pools as it may have.
    #[error("the organization has {MAXIMUM_TOKENS_OF_ORGANIZATION} tokens: revoke one")]
    TooManyOfOrganization,
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// Why lifetimes were not set. Nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LifetimeError {
    /// There is no such organization.
    #[error("there is no such organization")]
    NotFound,
    /// Nothing was mentioned, or something invalid.
    #[error("{} attributes of the lifetimes are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// Making, showing and revoking tokens. Whether the caller may has been decided before. The WIT interface is the specification.
///
/// From the answer on, a new token is valid, and one that was revoked or replaced is not.
pub trait Tokens {
    /// Makes a token.
    fn issue_token(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, IssueError>;

    /// The token of an owner who has one at a time; `None` if there is none.
    fn token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<Option<ApiToken>, ServiceError>;

    /// All tokens of an owner, oldest first.
    fn tokens_of(&self, owner: &TokenOwner) -> Result<Vec<ApiToken>, ServiceError>;

    /// The tokens of those teams of an organization, which is named by its external id, that a caller with this scope may have tokens of;
    /// oldest first.
    fn tokens_of_teams(
        &self,
        organization: &str,
        scope: &DelegationScope,
    ) -> Result<Vec<TeamToken>, ServiceError>;

    /// The owner of the token with this id, and the organization to which it belongs.
    fn owner_of_token(&self, id: &str) -> Result<Option<OwnedToken>, ServiceError>;

    /// The token with this id; `None` if there is none.
    fn token(&self, id: &str, by: &Caller) -> Result<Option<ApiToken>, ServiceError>;

    /// Ends the token with this id.
    fn revoke_token(&self, id: &str, by: &Caller) -> Result<bool, ServiceError>;

    /// Ends the token of an owner who has one at a time.
    fn revoke_token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<bool, ServiceError>;

    /// How long the tokens of an organization may live: four kinds, and `metrics` if it was set.
    fn token_lifetimes(&self, organization: &str) -> Result<Vec<LifetimePolicy>, ServiceError>;

    /// Sets how long tokens of the kinds mentioned may live; the others stay.
    fn set_token_lifetimes(
        &self,
        organization: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError>;
}

wraps_failure!(ServiceError: IssueError, LifetimeError);
