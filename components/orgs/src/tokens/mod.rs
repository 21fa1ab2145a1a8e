//! API tokens: what users, teams, organizations and the workers of pools present (contract 1.6, 4.6, 4.7, 4.10).
//!
//! Of a token's text only a keyed hash is stored, under which it is found.

mod issue;
mod lifetime;
pub(crate) mod record;
mod store;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{AttributeIssue, Caller, Failure, Mandate, TeamReference};

pub use lifetime::{LifetimeChange, LifetimeError, LifetimePolicy, TokenKind};
pub(crate) use lifetime::{LifetimesRecord, lifetimes_key};
pub(crate) use text::SecretHasher;

/// Whom a token stands for. Of the kinds that are marked so, one token exists at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenOwner {
    /// A user, by id.
    User(String),
    /// A team; one at a time.
    Team(TeamReference),
    /// A team, by tokens of which each has a description of its own.
    TeamNamed(TeamReference),
    /// An organization, by its external id; one at a time.
    Organization(String),
    /// The audit trail of an organization, by its external id; one at a time.
    AuditTrail(String),
    /// The workers of an agent pool.
    AgentPool(AgentPoolReference),
}

/// An agent pool and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPoolReference {
    /// The pool's id.
    pub id: String,
    /// The external id of its organization.
    pub organization: String,
}

/// Who made a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenCreator {
    /// A user, by id.
    User(String),
    /// A team, by id.
    Team(String),
    /// An organization, by its external id.
    Organization(String),
    /// Somebody who is none of these: a service token.
    Workload,
}

/// A token, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// `at-` and 16 letters and digits.
    pub id: String,
    /// Whom it stands for.
    pub owner: TokenOwner,
    /// Milliseconds since 1970-01-01T00:00Z.
    pub created_at: u64,
    /// When it was last presented, to the minute; `None` for never.
    pub last_used_at: Option<u64>,
    /// When it ends.
    pub expires_at: Option<u64>,
    /// What it is for.
    pub description: Option<String>,
    /// Who made it.
    pub created_by: TokenCreator,
}

/// A token that has just been made, with its text, which nobody will tell again.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token.
    pub token: ApiToken,
    /// Its text, a secret.
    pub secret: Zeroizing<String>,
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

/// What a token is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRequest {
    /// What it is for, in at most [`MAXIMUM_DESCRIPTION`] characters.
    pub description: Option<String>,
    /// When it ends, in milliseconds since 1970; `None` for what is usual for its owner.
    pub expires_at: Option<u64>,
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

/// A token of a team, and what the team is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamToken {
    /// The token.
    pub token: ApiToken,
    /// The name of its team.
    pub team_name: String,
}

/// Why a token was not made. Nothing is stored, and the token that it was to replace goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// Whom it was to stand for is not there.
    #[error("the owner of the token does not exist")]
    NoOwner,
    /// At least one attribute is not as it must be.
    #[error("{} attributes of the token are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The owner has as many tokens as anybody may have: another one has to be revoked first.
    #[error("the owner has {MAXIMUM_TOKENS} tokens that are not over: revoke one")]
    TooMany,
    /// The organization has as many tokens of teams and agent pools as it may have.
    #[error("the organization has {MAXIMUM_TOKENS_OF_ORGANIZATION} tokens: revoke one")]
    TooManyOfOrganization,
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Making, showing and revoking tokens. Whether the caller may has been decided before.
///
/// What has been made is worth something, and what has been revoked or replaced is worth nothing, from the answer on.
pub trait Tokens {
    /// Makes a token. For an owner who has one at a time it takes the place of the one there is, which is worth nothing from then
    /// on.
    ///
    /// Without an end it ends two calendar years later, or sooner where its organization lets no such token live as long; tokens
    /// of users and pools do not end. An end in the past is no fault: the token is worth nothing (contract 4.6). What is over of
    /// an owner who may have many goes when another one is made.
    ///
    /// # Errors
    ///
    /// [`IssueError::NoOwner`]; [`IssueError::Invalid`] with every fault at once: an end beyond what the organization allows
    /// (contract 4.8), a description that is too long, or, for tokens with descriptions of their own, none or one that another
    /// token of the team has; [`IssueError::TooMany`] where there are [`MAXIMUM_TOKENS`];
    /// [`IssueError::TooManyOfOrganization`].
    fn issue_token(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, IssueError>;

    /// The token of an owner who has one at a time; `None` if there is none. The audit trail tells that it was shown.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<Option<ApiToken>, Failure>;

    /// All tokens of an owner, oldest first.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn tokens_of(&self, owner: &TokenOwner) -> Result<Vec<ApiToken>, Failure>;

    /// The tokens of those teams of an organization, which is named by its external id, that this mandate speaks for
    /// ([`Self::speaks_for`]); oldest first. Of more than [`MAXIMUM_TOKENS_READ`] tokens the others are left out.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn tokens_of_teams(
        &self,
        organization: &str,
        mandate: &Mandate,
    ) -> Result<Vec<TeamToken>, Failure>;

    /// Whether somebody who may manage teams, with this mandate, may have tokens of this one: nobody gets by a token what they
    /// could not do themselves. False for a team that is not there.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn speaks_for(&self, mandate: &Mandate, team: &TeamReference) -> Result<bool, Failure>;

    /// Whom the token with this id stands for; `None` if there is none, or its owner is gone.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn owner_of_token(&self, id: &str) -> Result<Option<TokenOwner>, Failure>;

    /// The token with this id; `None` if there is none. The audit trail tells that it was shown.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn token(&self, id: &str, by: &Caller) -> Result<Option<ApiToken>, Failure>;

    /// Ends the token with this id. False if there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn revoke_token(&self, id: &str, by: &Caller) -> Result<bool, Failure>;

    /// Ends the token of an owner who has one at a time. False if there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn revoke_token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<bool, Failure>;

    /// How long the tokens of an organization may live: four kinds, and `metrics` if somebody has set it.
    ///
    /// # Errors
    ///
    /// When the store does not answer. An organization that is gone has none.
    fn token_lifetimes(&self, organization: &str) -> Result<Vec<LifetimePolicy>, Failure>;

    /// Sets how long tokens of the kinds mentioned may live; the others stay. Answers as [`Self::token_lifetimes`]. What has been
    /// issued stays as it is.
    ///
    /// # Errors
    ///
    /// [`LifetimeError::Invalid`] with every fault at once.
    fn set_token_lifetimes(
        &self,
        organization: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError>;
}
