//! The capability over its ports.

use std::sync::{Arc, OnceLock};
use std::vec::IntoIter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, Entry, Random, Store};
use gatehouse_storage::{
    Cacheable, CachedReads, Loaded, Record, RecordCache, Records, StorageError,
};
use zeroize::Zeroizing;

use crate::api::ServiceError;
use crate::foundation_guesses::FoundationGuesses;
use crate::records::{SYSTEM_KEY, SystemRecord};
use crate::secret::IdentifierHasher;
use crate::settings::Settings;

/// Most keys that one call of a store takes.
const MAXIMUM_KEYS: usize = 1024;

/// [`Access`](crate::Access) over a store, a clock and a source of randomness.
///
/// It holds no state but caches: the key that identifiers are hashed under, which initialization writes once and nothing ever changes;
/// decoded records, which are compared with the store at every read; and which records the tokens of the last requests needed.
pub struct AccessService<S, C, R> {
    pub(crate) records: Records<S>,
    pub(crate) clock: C,
    pub(crate) random: R,
    pub(crate) settings: Settings,
    hasher: OnceLock<IdentifierHasher>,
    cache: RecordCache,
    pub(crate) guesses: FoundationGuesses,
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The capability over these ports.
    pub const fn new(store: S, clock: C, random: R) -> Self {
        Self {
            records: Records::new(store),
            clock,
            random,
            settings: Settings::DEFAULT,
            hasher: OnceLock::new(),
            cache: RecordCache::new(),
            guesses: FoundationGuesses::new(),
        }
    }

    /// The same with what the operator decided.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Reads the entries of `keys` as they are now, without decoding again what has not changed.
    pub(crate) fn read_cached(
        &self,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<CachedReads<'_>, ServiceError> {
        Ok(self.cache.read(self.records.store(), keys)?)
    }

    /// The entries of `keys`, in their order; in one round trip unless they are more than a store answers at once.
    pub(crate) fn read_all<'a>(
        &self,
        keys: impl Iterator<Item = &'a String>,
    ) -> Result<IntoIter<Option<Entry>>, ServiceError> {
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        let mut entries = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MAXIMUM_KEYS) {
            entries.extend(self.records.store().get(keys)?);
        }
        Ok(entries.into_iter())
    }

    /// The record of `key` as it was when it was last read, for guessing what else to read with it.
    pub(crate) fn last_read<T: Cacheable>(&self, key: &str) -> Option<Arc<T>> {
        self.cache.last_read(key)
    }

    /// The server's hasher, read once.
    pub(crate) fn hasher(&self) -> Result<&IdentifierHasher, ServiceError> {
        if let Some(hasher) = self.hasher.get() {
            return Ok(hasher);
        }
        let system = self
            .records
            .get::<SystemRecord>(SYSTEM_KEY)?
            .ok_or(ServiceError::NotInitialized)?;
        let damaged = || ServiceError::Damaged("the server secret is malformed".to_owned());
        let key = STANDARD
            .decode(&system.record.identifier_key)
            .map(Zeroizing::new)
            .map_err(|_| damaged())?;
        let hasher = IdentifierHasher::new(&key).ok_or_else(damaged)?;
        Ok(self.hasher.get_or_init(|| hasher))
    }
}

/// The record in the next of `entries`.
pub(crate) fn load_next<S: Store, T: Record>(
    entries: &mut IntoIter<Option<Entry>>,
) -> Result<Option<Loaded<T>>, StorageError> {
    Records::<S>::load(entries.next().flatten())
}
