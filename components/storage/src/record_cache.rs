//! Decoded records that are kept from one request to the next, and checked against the store before every use.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_ports::{Difference, Entry, HeldKey, MAXIMUM_KEYS_PER_CALL, Store, Version};

use crate::{Loaded, Record, StorageError, decode};

/// Bytes of stored keys and values that a cache keeps decoded unless it is told otherwise.
const DEFAULT_BYTES: usize = 1024 * 1024;

/// A record that may outlive the request that read it: nothing in it is a secret.
pub trait Cacheable: Record + Send + Sync + 'static {}

/// Keeps decoded records, each with the version that it was read at.
///
/// It never answers by itself. Every read asks the store, which leaves out what is still at the version kept: so what a record says is
/// what the store says at that moment, and only reading and decoding it again is saved.
pub struct RecordCache {
    kept: Mutex<Kept>,
    maximum_bytes: usize,
}

impl Default for RecordCache {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Default)]
struct Kept {
    records: BTreeMap<String, KeptRecord>,
    bytes: usize,
}

#[derive(Clone)]
struct KeptRecord {
    version: Version,
    bytes: usize,
    record: Arc<dyn Any + Send + Sync>,
}

impl RecordCache {
    /// An empty cache for records of 1 MiB together.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_room_for(DEFAULT_BYTES)
    }

    /// An empty cache for this many bytes of stored keys and values; beyond that it begins anew.
    #[must_use]
    pub const fn with_room_for(maximum_bytes: usize) -> Self {
        Self {
            kept: Mutex::new(Kept {
                records: BTreeMap::new(),
                bytes: 0,
            }),
            maximum_bytes,
        }
    }

    /// Reads the entries of `keys` at one point in time; in one round trip unless they are more than a store answers at once.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn read(
        &self,
        store: &impl Store,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<CachedReads<'_>, StorageError> {
        Ok(CachedReads {
            cache: self,
            found: self.ask(store, keys)?.into_iter(),
        })
    }

    /// Reads the entries of `keys` as [`Self::read`] does, for what a request is going to ask.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn read_ahead(
        &self,
        store: &impl Store,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<ReadAhead, StorageError> {
        let found = self.ask(store, keys)?.into_iter();
        Ok(ReadAhead {
            found: found.map(|found| (found.key.clone(), found)).collect(),
        })
    }

    /// The entries of `keys` as they were read ahead; if one of them was not, all are read now.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn read_after(
        &self,
        ahead: &ReadAhead,
        store: &impl Store,
        keys: Vec<String>,
    ) -> Result<CachedReads<'_>, StorageError> {
        let found = keys.iter().map(|key| ahead.found.get(key).cloned());
        match found.collect::<Option<Vec<Found>>>() {
            Some(found) => Ok(CachedReads {
                cache: self,
                found: found.into_iter(),
            }),
            None => self.read(store, keys),
        }
    }

    fn ask(
        &self,
        store: &impl Store,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<Vec<Found>, StorageError> {
        let (held, records): (Vec<HeldKey>, Vec<Option<KeptRecord>>) = {
            let kept = self.lock();
            let with_kept = |key: String| {
                let record = kept.records.get(&key).cloned();
                let version = record.as_ref().map(|record| record.version);
                (HeldKey { key, version }, record)
            };
            keys.into_iter().map(with_kept).unzip()
        };
        let mut differences = Vec::with_capacity(held.len());
        for part in held.chunks(MAXIMUM_KEYS_PER_CALL) {
            differences.extend(store.get_changed(part)?);
        }
        let found = held.into_iter().zip(records).zip(differences);
        let found = found.map(|((held, kept), difference)| Found {
            key: held.key,
            kept,
            difference,
        });
        Ok(found.collect())
    }

    /// The record of `key` as it was when it was last read, if it is kept. It may have changed since: it says what else to read with
    /// the record, and nothing about the record itself.
    #[must_use]
    pub fn last_read<R: Cacheable>(&self, key: &str) -> Option<Arc<R>> {
        let record = self.lock().records.get(key)?.record.clone();
        record.downcast().ok()
    }

    fn keep(&self, key: String, record: KeptRecord) {
        let mut kept = self.lock();
        kept.forget(&key);
        if kept.bytes.saturating_add(record.bytes) > self.maximum_bytes {
            *kept = Kept::default();
        }
        if record.bytes <= self.maximum_bytes {
            kept.bytes += record.bytes;
            kept.records.insert(key, record);
        }
    }

    // Nothing panics half-way, so a poisoned lock still guards a whole map.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget(&mut self, key: &str) {
        if let Some(record) = self.records.remove(key) {
            self.bytes -= record.bytes;
        }
    }
}

/// The results of a read, one key after the other.
pub struct CachedReads<'a> {
    cache: &'a RecordCache,
    found: std::vec::IntoIter<Found>,
}

/// Entries that were read before they were asked for, all at one point in time of the request that holds them.
#[derive(Default)]
pub struct ReadAhead {
    found: BTreeMap<String, Found>,
}

#[derive(Clone)]
struct Found {
    key: String,
    kept: Option<KeptRecord>,
    difference: Difference,
}

impl CachedReads<'_> {
    /// The record of the next key; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the entry is not a record of this type.
    pub fn next_record<R: Cacheable>(&mut self) -> Result<Option<Loaded<Arc<R>>>, StorageError> {
        let Some(found) = self.found.next() else {
            return Ok(None);
        };
        match found.difference {
            Difference::Absent => {
                self.cache.lock().forget(&found.key);
                Ok(None)
            }
            Difference::Unchanged => {
                let kept = found.kept.ok_or(StorageError::Malformed)?;
                let record = kept.record.downcast();
                Ok(Some(Loaded {
                    record: record.map_err(|_| StorageError::Malformed)?,
                    version: kept.version,
                }))
            }
            Difference::Changed(entry) => {
                let record: Arc<R> = Arc::new(decode(&entry.value)?);
                let kept = KeptRecord {
                    version: entry.version,
                    bytes: found.key.len() + entry.value.len(),
                    record: record.clone(),
                };
                self.cache.keep(found.key, kept);
                Ok(Some(Loaded {
                    record,
                    version: entry.version,
                }))
            }
        }
    }

    /// The record of the next key, which is decoded for this read alone; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the entry is not a record of this type.
    pub fn next_uncached<R: Record>(&mut self) -> Result<Option<Loaded<R>>, StorageError> {
        let Some(entry) = self.next_entry() else {
            return Ok(None);
        };
        Ok(Some(Loaded {
            record: decode(&entry.value)?,
            version: entry.version,
        }))
    }

    /// The entry of the next key, under which no cached record is ever read; `None` where there is none.
    pub fn next_entry(&mut self) -> Option<Entry> {
        match self.found.next()?.difference {
            Difference::Changed(entry) => Some(entry),
            // An entry that is not kept cannot be unchanged.
            Difference::Absent | Difference::Unchanged => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Records, Transaction};
    use gatehouse_ports::doubles::{CountingStore, ManualClock, MemoryStore};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Rule(String);

    impl Record for Rule {
        const SCHEMA: u16 = 1;
    }

    impl Cacheable for Rule {}

    type TestStore<'a> = Records<MemoryStore<&'a ManualClock>>;

    fn store(clock: &ManualClock) -> TestStore<'_> {
        Records::new(MemoryStore::new(clock))
    }

    fn put(store: &TestStore<'_>, key: &str, text: &str, expires_at: Option<u64>) {
        let mut transaction = Transaction::new();
        let rule = Rule(text.to_owned());
        transaction.put_until(key, &rule, expires_at).unwrap();
        store.commit(transaction).unwrap();
    }

    fn read(cache: &RecordCache, store: &TestStore<'_>, key: &str) -> Option<Arc<Rule>> {
        let mut reads = cache.read(store.store(), [key.to_owned()]).unwrap();
        reads.next_record::<Rule>().unwrap().map(|it| it.record)
    }

    #[test]
    fn an_unchanged_record_is_not_decoded_again() {
        let clock = ManualClock::at_seconds(1);
        let (cache, store) = (RecordCache::new(), store(&clock));
        put(&store, "a", "one", None);
        let first = read(&cache, &store, "a").unwrap();
        let second = read(&cache, &store, "a").unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn what_was_last_read_asks_nothing_and_says_nothing_of_changes() {
        let clock = ManualClock::at_seconds(1);
        let (cache, store) = (RecordCache::new(), store(&clock));
        put(&store, "a", "one", None);
        assert_eq!(cache.last_read::<Rule>("a"), None);
        read(&cache, &store, "a");
        put(&store, "a", "two", None);
        assert_eq!(cache.last_read::<Rule>("a").unwrap().0, "one");
        read(&cache, &store, "a");
        assert_eq!(cache.last_read::<Rule>("a").unwrap().0, "two");
    }

    #[test]
    fn what_was_read_ahead_takes_no_further_call_and_anything_else_takes_one() {
        let clock = ManualClock::at_seconds(1);
        let counting = CountingStore::new(MemoryStore::new(&clock));
        let (cache, store) = (RecordCache::new(), Records::new(&counting));
        let mut transaction = Transaction::new();
        for key in ["a", "b"] {
            transaction.put(key, &Rule(key.to_owned())).unwrap();
        }
        store.commit(transaction).unwrap();
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let ahead = cache
            .read_ahead(store.store(), keys(&["a", "none"]))
            .unwrap();
        let texts = |wanted: &[&str]| {
            counting.take_counts();
            let mut reads = cache
                .read_after(&ahead, store.store(), keys(wanted))
                .unwrap();
            let texts = wanted.iter().map(|_| {
                let found = reads.next_record::<Rule>().unwrap();
                found.map(|found| found.record.0.clone())
            });
            let texts: Vec<_> = texts.collect();
            (texts, counting.take_counts().gets)
        };
        let (a, b) = (Some("a".to_owned()), Some("b".to_owned()));
        for _ in 0..2 {
            assert_eq!(texts(&["none", "a"]), (vec![None, a.clone()], 0));
        }
        assert_eq!(texts(&["a", "b"]), (vec![a, b], 1));
    }

    #[test]
    fn s7_a_change_a_delete_and_an_end_count_at_the_next_read() {
        let clock = ManualClock::at_seconds(1);
        let (cache, store) = (RecordCache::new(), store(&clock));
        put(&store, "a", "one", None);
        assert_eq!(read(&cache, &store, "a").unwrap().0, "one");
        put(&store, "a", "two", None);
        assert_eq!(read(&cache, &store, "a").unwrap().0, "two");

        let mut transaction = Transaction::new();
        transaction.delete("a");
        store.commit(transaction).unwrap();
        assert_eq!(read(&cache, &store, "a"), None);
        assert_eq!(cache.lock().bytes, 0);

        put(&store, "a", "three", Some(2000));
        assert_eq!(read(&cache, &store, "a").unwrap().0, "three");
        clock.advance(Duration::from_secs(1));
        assert_eq!(read(&cache, &store, "a"), None);
    }

    #[test]
    fn a_record_read_without_keeping_it_is_read_anew_each_time() {
        let clock = ManualClock::at_seconds(1);
        let (cache, store) = (RecordCache::new(), store(&clock));
        put(&store, "a", "one", None);
        for _ in 0..2 {
            let mut reads = cache.read(store.store(), ["a".to_owned()]).unwrap();
            let read = reads.next_uncached::<Rule>().unwrap().unwrap();
            assert_eq!(read.record.0, "one");
        }
        assert!(cache.lock().records.is_empty());
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        const MAXIMUM_BYTES: usize = 10_000;
        let clock = ManualClock::at_seconds(1);
        let (cache, store) = (RecordCache::with_room_for(MAXIMUM_BYTES), store(&clock));
        let text = "x".repeat(MAXIMUM_BYTES / 10);
        for number in 0..30 {
            let key = number.to_string();
            put(&store, &key, &text, None);
            assert_eq!(read(&cache, &store, &key).unwrap().0, text);
            let kept = cache.lock();
            let bytes: usize = kept.records.values().map(|kept| kept.bytes).sum();
            assert_eq!(bytes, kept.bytes);
            assert!((1..=MAXIMUM_BYTES).contains(&bytes));
        }
        put(&store, "large", &"x".repeat(MAXIMUM_BYTES), None);
        assert!(read(&cache, &store, "large").is_some());
        assert!(!cache.lock().records.contains_key("large"));
    }
}
