//! The records of tokens, and of what hangs on one.

use std::collections::BTreeMap;

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::api::{Lifetime, TokenType};
use crate::policy::RESPONSE_WRAPPING;
use crate::secret::{TokenHash, TokenNames};

/// The issuing path that the root token of an initialization shows.
pub(crate) const FIRST_ROOT_PATH: &str = "auth/token/root";

/// Path of the mount that issues tokens to token holders.
pub(crate) const TOKEN_MOUNT: &str = "token/";

/// Before the hash in the name of a lease.
pub(crate) const LEASE_MARK: char = 'h';

/// The prefix of the keys of all [`TokenRecord`]s.
pub(crate) const TOKEN_PREFIX: &str = "token/";

/// Key of the [`TokenRecord`] of a token.
pub(crate) fn token_key(hash: &TokenHash) -> String {
    format!("{TOKEN_PREFIX}{}", hash.as_str())
}

/// The prefix of the keys of all [`AccessorRecord`]s.
pub(crate) const ACCESSOR_PREFIX: &str = "accessor/";

/// Key of the [`AccessorRecord`] of a hashed accessor.
pub(crate) fn accessor_key(hash: &TokenHash) -> String {
    format!("{ACCESSOR_PREFIX}{}", hash.as_str())
}

/// The prefix of the keys of all [`ChildRecord`]s.
pub(crate) const CHILD_PREFIX: &str = "child/";

/// The prefix of the keys of a token's children.
pub(crate) fn children_prefix(parent: &TokenHash) -> String {
    format!("{CHILD_PREFIX}{}/", parent.as_str())
}

/// Key of the [`ChildRecord`] that names a child of `parent`.
pub(crate) fn child_key(parent: &TokenHash, child: &TokenHash) -> String {
    format!("{}{}", children_prefix(parent), child.as_str())
}

/// The prefix of the keys of all [`RelinquishedRecord`]s.
pub(crate) const RELINQUISHED_PREFIX: &str = "relinquished/";

/// Key of the [`RelinquishedRecord`] of a token that ended without its children.
pub(crate) fn relinquished_key(parent: &TokenHash) -> String {
    format!("{RELINQUISHED_PREFIX}{}", parent.as_str())
}

/// Key of the [`WrappedRecord`] that a wrapping token gives out.
pub(crate) fn wrapped_key(token: &TokenHash) -> String {
    format!("wrapped/{}", token.as_str())
}

/// Key of the [`CubbyholeRecord`](crate::cubbyhole::CubbyholeRecord) of a token.
pub(crate) fn cubbyhole_key(token: &TokenHash) -> String {
    format!("cubbyhole/{}", token.as_str())
}

/// The mount that a login token came from. The token is valid while a mount with this identifier is at this path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenOrigin {
    pub(crate) mount_id: String,
    pub(crate) mount_path: String,
    /// Base64 of what the method wants back at renewals; empty for a batch token, which has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) renewal_state: String,
}

/// A token: stored for a service token, carried along by a batch token. Points in time and durations are in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    /// Empty for a batch token, and for no other.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) accessor: String,
    /// The hash of its text, where its key is the hash of its accessor; `None` where its key is the hash of its text. See
    /// [`TokenNames`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<TokenHash>,
    /// From the oldest to the parent, as they were when it was made; empty for an orphan. Behind the last of them that left a
    /// [`RelinquishedRecord`] none counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<TokenHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<TokenOrigin>,
    /// Generation of the mount that issued it; see [`MountRecord::honours`](super::MountRecord::honours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) generation: u64,
    pub(crate) policies: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entity_id: Option<String>,
    pub(crate) display_name: String,
    pub(crate) path: String,
    /// Name of the token-store role that it was created under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) bound_cidrs: Vec<String>,
    pub(crate) creation_time: u64,
    pub(crate) creation_ttl: u64,
    /// `None` for a root token without an end.
    pub(crate) expire_time: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_renewal_time: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) explicit_max_ttl: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) period: u64,
    /// Uses that remain; 0 for unlimited.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) num_uses: u64,
    pub(crate) renewable: bool,
    /// The keys of the places that it has in quotas; see [`crate::quotas`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<String>,
    /// True if it keeps secrets, or did; see [`crate::cubbyhole`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_secrets: bool,
}

impl Record for TokenRecord {
    const SCHEMA: u16 = 1;
}

impl TokenRecord {
    /// The facts from its creation, sorted by name.
    pub(crate) fn shown_metadata(&self) -> Option<Vec<(String, String)>> {
        let pairs = |metadata: &BTreeMap<String, String>| metadata.clone().into_iter().collect();
        self.metadata.as_ref().map(pairs)
    }

    /// True if the token does not end before `now`.
    pub(crate) fn is_alive_at(&self, now: u64) -> bool {
        self.expire_time.is_none_or(|end| now < end)
    }

    /// How it is kept.
    pub(crate) fn token_type(&self) -> TokenType {
        if self.accessor.is_empty() {
            TokenType::Batch
        } else {
            TokenType::Service
        }
    }

    /// True if its own policies make it a root token.
    pub(crate) fn is_root(&self) -> bool {
        self.policies.iter().any(|policy| policy == "root")
    }

    /// True if it stands for a wrapped response. No caller can give a token this policy, so no other token has it.
    pub(crate) fn is_wrapping(&self) -> bool {
        self.policies
            .iter()
            .any(|policy| policy == RESPONSE_WRAPPING)
    }

    /// Path of the mount that has to honour it; `None` for the first root token and for wrapping tokens, which no mount issued.
    pub(crate) fn issuer(&self) -> Option<&str> {
        match &self.origin {
            Some(origin) => Some(&origin.mount_path),
            None if self.is_wrapping() || self.path == FIRST_ROOT_PATH => None,
            None => Some(TOKEN_MOUNT),
        }
    }

    /// True if it, which was read under the hash in `names`, is that of the token with these names: the hash of a text says so by itself,
    /// that of an accessor only together with the proof.
    pub(crate) fn is_of(&self, names: &TokenNames) -> bool {
        match &names.derived {
            None => true,
            Some(derived) => {
                let proof = self.proof.as_ref();
                proof.is_some_and(|proof| proof.is(&derived.proof))
            }
        }
    }

    /// The name of its lease: the path that issued it and its hash, which is of no use as a token. `None` where no mount issued it.
    pub(crate) fn lease_id(&self, hash: &TokenHash) -> Option<String> {
        self.issuer()
            .map(|_| format!("{}/{LEASE_MARK}{}", self.path, hash.as_str()))
    }

    /// When the store may drop it, in milliseconds.
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.expire_time.map(|end| end.saturating_mul(1000))
    }

    /// The values that its creator fixed, for a renewal without fresh ones.
    pub(crate) fn created_lifetime(&self) -> Lifetime {
        Lifetime {
            ttl: self.creation_ttl,
            max_ttl: 0,
            explicit_max_ttl: self.explicit_max_ttl,
            period: self.period,
        }
    }
}

/// Leads from an accessor to its token, where the token's own key does not follow from the accessor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AccessorRecord {
    pub(crate) token: TokenHash,
}

impl Record for AccessorRecord {
    const SCHEMA: u16 = 1;
}

/// Leads from a token to one of its children, so that a revocation can remove their records.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChildRecord {
    pub(crate) token: TokenHash,
}

impl Record for ChildRecord {
    const SCHEMA: u16 = 1;
}

/// Stands where a token was that ended without its children: from there on down they and their descendants are orphans, though
/// their records still name it. Never there together with the token. It is needed as long as there are such children, which keep
/// their places in the index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RelinquishedRecord {
    /// When the token ended.
    pub(crate) end_time: u64,
}

impl Record for RelinquishedRecord {
    const SCHEMA: u16 = 1;
}

/// The content that a wrapping token gives out. It comes and goes with its token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WrappedRecord {
    /// Base64 of the response, encrypted under a key that the token yields.
    pub(crate) sealed_content: String,
    /// Of the token in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrapped_accessor: Option<String>,
}

impl Record for WrappedRecord {
    const SCHEMA: u16 = 1;
}
