//! From what a client presents as its token to the token's record.

use gatehouse_ports::{Entry, Store, Version};
use gatehouse_storage::Records;

use crate::api::Failure;
use crate::batch::{BatchKeyRecord, NO_KEY, SealedToken, batch_key};
use crate::random::BATCH_TOKEN_PREFIX;
use crate::records::{TokenRecord, token_key};
use crate::secret::{IdentifierHasher, TokenHash};

/// Where the record of a token is, if it is a token at all.
pub(crate) enum TokenLocation {
    /// In the store, under the token's hash.
    Stored(TokenHash),
    /// In the token itself; `None` when no key could open it.
    Carried(Option<SealedToken>),
}

/// The stored record of a token, for commits that depend on it or change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredToken {
    pub(crate) hash: TokenHash,
    pub(crate) version: Version,
}

/// A token whose record was found: what that rests on is still to be looked at.
pub(crate) struct LocatedToken {
    pub(crate) record: TokenRecord,
    /// `None` for a batch token.
    pub(crate) stored: Option<StoredToken>,
}

impl TokenLocation {
    /// Where to look for what `text` means.
    pub(crate) fn new(hasher: &IdentifierHasher, text: &str) -> Self {
        match text.strip_prefix(BATCH_TOKEN_PREFIX) {
            Some(sealed) => Self::Carried(SealedToken::parse(sealed)),
            None => Self::Stored(hasher.token(text)),
        }
    }

    /// The key that leads to the record: one entry, whatever was presented, so that all tokens which are not valid cost the
    /// same (SEC-T10).
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Stored(hash) => token_key(hash),
            Self::Carried(sealed) => {
                batch_key(sealed.as_ref().map_or(NO_KEY, |sealed| sealed.key_number))
            }
        }
    }

    /// The token, `entry` being what there is under [`Self::key`]; `None` when there is no such token.
    pub(crate) fn load<S: Store>(
        self,
        entry: Option<Entry>,
    ) -> Result<Option<LocatedToken>, Failure> {
        match self {
            Self::Stored(hash) => {
                let loaded = Records::<S>::load::<TokenRecord>(entry)?;
                Ok(loaded.map(|loaded| LocatedToken {
                    record: loaded.record,
                    stored: Some(StoredToken {
                        hash,
                        version: loaded.version,
                    }),
                }))
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
