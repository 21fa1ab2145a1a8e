//! From what a client presents as its token to the token's record.

use gatehouse_ports::{Entry, Store, Version};
use gatehouse_storage::{Loaded, Records};

use crate::api::BATCH_TOKEN_PREFIX;
use crate::api::ServiceError;
use crate::batch::{BatchKeyRecord, NO_KEY, SealedToken, batch_key};
use crate::records::{TokenRecord, token_key};
use crate::secret::{IdentifierHasher, TokenHash, TokenNames};

/// Where the record of a token is, if it is a token at all.
pub(crate) enum TokenLocation {
    /// In the store, under the hash in these names.
    Stored(TokenNames),
    /// In the token itself; `None` when no key could open it.
    Carried(Option<SealedToken>),
}

/// The stored record of a token, for commits that depend on it or change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredToken {
    pub(crate) hash: TokenHash,
    pub(crate) version: Version,
}

/// A token whose record was found; the conditions of its validity have not been checked yet.
pub(crate) struct LocatedToken {
    pub(crate) record: TokenRecord,
    /// `None` for a batch token.
    pub(crate) stored: Option<StoredToken>,
}

impl LocatedToken {
    /// The token whose record was read under `hash`.
    pub(crate) fn stored(hash: TokenHash, loaded: Loaded<TokenRecord>) -> Self {
        Self {
            record: loaded.record,
            stored: Some(StoredToken {
                hash,
                version: loaded.version,
            }),
        }
    }
}

impl TokenLocation {
    /// The location of the record that `text` leads to.
    pub(crate) fn new(hasher: &IdentifierHasher, text: &str) -> Self {
        match text.strip_prefix(BATCH_TOKEN_PREFIX) {
            Some(sealed) => Self::Carried(SealedToken::parse(sealed)),
            None => Self::Stored(hasher.names(text)),
        }
    }

    /// The key that leads to the record: one for every token, valid or not, so that all invalid ones cost the same (SEC-T10).
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Stored(names) => token_key(&names.hash),
            Self::Carried(sealed) => {
                let number = sealed.as_ref().map_or(NO_KEY, |sealed| sealed.key_number);
                batch_key(number)
            }
        }
    }

    /// The hash that the record is stored under; `None` for a batch token.
    pub(crate) const fn stored_hash(&self) -> Option<&TokenHash> {
        match self {
            Self::Stored(names) => Some(&names.hash),
            Self::Carried(_) => None,
        }
    }

    /// The token, `entry` being what there is under [`Self::key`]; `None` when there is no such token.
    pub(crate) fn load<S: Store>(
        self,
        entry: Option<Entry>,
    ) -> Result<Option<LocatedToken>, ServiceError> {
        match self {
            Self::Stored(names) => {
                let found = load_named::<S>(&names, entry)?;
                Ok(found.map(|token| LocatedToken::stored(names.hash, token)))
            }
            Self::Carried(sealed) => {
                let key = Records::<S>::load::<BatchKeyRecord>(entry)?;
                let (Some(sealed), Some(key)) = (sealed, key) else {
                    return Ok(None);
                };
                let record = key.record.key()?.open(&sealed)?;
                Ok(record.map(|record| LocatedToken {
                    record,
                    stored: None,
                }))
            }
        }
    }
}

/// The stored token of these names, `entry` being what there is under their hash.
pub(crate) fn load_named<S: Store>(
    names: &TokenNames,
    entry: Option<Entry>,
) -> Result<Option<Loaded<TokenRecord>>, ServiceError> {
    let token = Records::<S>::load::<TokenRecord>(entry)?;
    Ok(token.filter(|token| token.record.is_of(names)))
}
