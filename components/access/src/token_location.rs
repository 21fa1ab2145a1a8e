//! From what a client presents as its token to the token's record.

use gatehouse_ports::{Entry, Store, Version};
use gatehouse_storage::{Loaded, Records};

use crate::api::Failure;
use crate::batch::{BatchKeyRecord, NO_KEY, SealedToken, batch_key};
use crate::random::BATCH_TOKEN_PREFIX;
use crate::records::{TokenRecord, token_key};
use crate::secret::{IdentifierHasher, TokenHash, TokenNames};

/// Where the record of a token is, if it is a token at all.
pub(crate) enum TokenLocation {
    /// In the store, under one of these hashes.
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

/// A token whose record was found: what that rests on is still to be looked at.
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
    /// Where to look for what `text` means.
    pub(crate) fn new(hasher: &IdentifierHasher, text: &str) -> Self {
        match text.strip_prefix(BATCH_TOKEN_PREFIX) {
            Some(sealed) => Self::Carried(SealedToken::parse(sealed)),
            None => Self::Stored(hasher.names(text)),
        }
    }

    /// The keys that lead to the record, for one read: the same of every token of a kind, be it valid or not, so that all which are
    /// not cost the same (SEC-T10).
    pub(crate) fn keys(&self) -> Vec<String> {
        match self {
            Self::Stored(names) => token_keys(names).into(),
            Self::Carried(sealed) => {
                let number = sealed.as_ref().map_or(NO_KEY, |sealed| sealed.key_number);
                vec![batch_key(number)]
            }
        }
    }

    /// The token, `entries` being what there is under [`Self::keys`]; `None` when there is no such token.
    pub(crate) fn load<S: Store>(
        self,
        mut entries: impl Iterator<Item = Option<Entry>>,
    ) -> Result<Option<LocatedToken>, Failure> {
        match self {
            Self::Stored(names) => {
                let found = load_named::<S>(names, &mut entries)?;
                Ok(found.map(|(hash, token)| LocatedToken::stored(hash, token)))
            }
            Self::Carried(sealed) => {
                let key = Records::<S>::load::<BatchKeyRecord>(entries.next().flatten())?;
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

/// The keys under which the record of a stored token may be.
pub(crate) fn token_keys(names: &TokenNames) -> [String; 2] {
    [&names.by_accessor, &names.by_text].map(token_key)
}

/// The stored token of these names and the hash that it is under, the next `entries` being what there is under [`token_keys`].
pub(crate) fn load_named<S: Store>(
    names: TokenNames,
    entries: &mut impl Iterator<Item = Option<Entry>>,
) -> Result<Option<(TokenHash, Loaded<TokenRecord>)>, Failure> {
    let mut next = || Records::<S>::load::<TokenRecord>(entries.next().flatten());
    let (generated, other) = (next()?, next()?);
    if let Some(token) = generated
        && token.record.is_of(&names.by_text)
    {
        return Ok(Some((names.by_accessor, token)));
    }
    Ok(other.map(|token| (names.by_text, token)))
}
