//! Tokens as they are stored.
//!
//! - `token/<hash of the text>`: the token.
//! - `token-id/<id>`: its hash.
//! - `token-use/<id>`: when it was last presented, apart so that a change of a token does not meet with its use.
//! - `slot/<owner>`: the one token of an owner who has one at a time.
//! - `token-description/<team id>/<hash>`: which token with a description of its own is described so, which makes it unique.
//! - `tokens-of/<owner>/<id>`: the tokens of an owner who may have many; all of them, the one in the slot too.
//!
//! Tokens of an organization and its teams and pools stand also under `of/<external id>/token/<id>`, by which they are found when
//! the organization goes. How long they may live stands at `of/<external id>/token-lifetimes/all`.

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use crate::identifier::well_formed;
use crate::{ApiToken, TokenCreator, TokenOwner};

pub(crate) const TOKEN_PREFIX: &str = "at-";

/// A token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    pub id: String,
    pub owner: TokenOwner,
    /// Milliseconds since 1970.
    pub created_at: u64,
    /// Milliseconds since 1970.
    pub expires_at: Option<u64>,
    pub description: Option<String>,
    pub created_by: TokenCreator,
}

impl Record for TokenRecord {
    const SCHEMA: u16 = 1;
}

impl TokenRecord {
    /// The moment that orders tokens by age; the id decides between those of one moment.
    pub fn age(&self) -> (u64, &str) {
        (self.created_at, &self.id)
    }

    /// True if it is worth something at a moment, in milliseconds since 1970.
    pub fn is_live(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    pub fn into_token(self, last_used_at: Option<u64>) -> ApiToken {
        ApiToken {
            id: self.id,
            owner: self.owner,
            created_at: self.created_at,
            last_used_at,
            expires_at: self.expires_at,
            description: self.description,
            created_by: self.created_by,
        }
    }
}

/// When a token was last presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UseRecord {
    /// Milliseconds since 1970.
    pub last_used_at: u64,
}

impl Record for UseRecord {
    const SCHEMA: u16 = 1;
}

/// The key under which secrets are hashed.
#[derive(Clone, Serialize, Deserialize, zeroize::ZeroizeOnDrop)]
pub(crate) struct HashKeyRecord {
    pub key: Vec<u8>,
}

impl Record for HashKeyRecord {
    const SCHEMA: u16 = 1;
}

pub(crate) const HASH_KEY: &str = "hash-key";

pub(crate) fn token_key(hash: &str) -> String {
    format!("token/{hash}")
}

pub(crate) fn token_id_key(id: &str) -> String {
    format!("token-id/{}", if well_formed(id) { id } else { "-" })
}

pub(crate) fn token_use_key(id: &str) -> String {
    format!("token-use/{id}")
}

/// The key of the one token of an owner; `None` for owners who may have many.
pub(crate) fn slot_key(owner: &TokenOwner) -> Option<String> {
    match owner {
        TokenOwner::Team(team) => Some(format!("slot/{}", team.id)),
        TokenOwner::Organization(id) => Some(format!("slot/{id}")),
        TokenOwner::AuditTrail(id) => Some(format!("slot/audit-trail/{id}")),
        TokenOwner::User(_) | TokenOwner::TeamNamed(_) | TokenOwner::AgentPool(_) => None,
    }
}

/// Before the tokens of an owner. All tokens of a team stand together.
pub(crate) fn tokens_of_prefix(owner: &TokenOwner) -> String {
    match owner {
        TokenOwner::User(id) | TokenOwner::Organization(id) => tokens_of_id_prefix(id),
        TokenOwner::Team(team) | TokenOwner::TeamNamed(team) => tokens_of_id_prefix(&team.id),
        TokenOwner::AgentPool(pool) => tokens_of_id_prefix(&pool.id),
        TokenOwner::AuditTrail(id) => format!("tokens-of/audit-trail/{id}/"),
    }
}

/// The place of a token among those of its owner.
pub(crate) fn token_of_owner_key(token: &TokenRecord) -> String {
    format!("{}{}", tokens_of_prefix(&token.owner), token.id)
}

/// Before the tokens of the user, team, organization or pool with this id.
pub(crate) fn tokens_of_id_prefix(id: &str) -> String {
    format!("tokens-of/{id}/")
}
