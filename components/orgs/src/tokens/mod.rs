//! API tokens: what users, teams, organizations and the workers of pools present (contract 1.6, 4.6, 4.7, 4.10).
//!
//! Of a token's text only a keyed hash is stored, under which it is found.

pub(crate) mod record;
mod store;
mod text;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::TeamReference;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token.
    pub token: ApiToken,
    /// Its text, a secret.
    pub secret: Zeroizing<String>,
}

/// What a token is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRequest {
    /// What it is for.
    pub description: Option<String>,
    /// When it ends, in milliseconds since 1970; `None` for what is usual for its owner.
    pub expires_at: Option<u64>,
}
