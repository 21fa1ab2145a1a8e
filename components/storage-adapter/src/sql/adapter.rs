//! The interfaces of storage over the tables of one database.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gatehouse_barrier::{Address, Barrier, NONCE_BYTES, Record, SealError};
use gatehouse_ports::rules::{PAGE_BYTES, PageBuilder, has_expired};
use gatehouse_ports::{
    Cache, Change, Check, Clock, CommitError, Difference, DrawnAhead, Entry, HeldKey, Page, Put,
    Random, RandomError, Requirement, Store, StoreError, Version, limits,
};
use zeroize::Zeroizing;

use super::tables::{Committed, Found, Range, SealedChange, Stored, Table, Tables};
use super::verified::Verified;
use crate::export::{Export, ExportedEntry};

/// Keys whose values are read by one statement. Spin answers up to 128 MiB at once, and a value may have one.
const KEYS_PER_READ: usize = 96;
/// How often a read in parts is begun anew while others write what it reads.
const READ_ATTEMPTS: u32 = 16;
/// How often a commit is decided again that was refused and whose checks all held when they were looked at.
const COMMIT_ATTEMPTS: u32 = 16;
/// Changes to which there is one purge, on average.
const CHANGES_PER_PURGE: u64 = 64;
/// Above all characters of keys.
const ABOVE_ALL: char = '\u{7f}';

/// The store and the cache of one capability, in a database of the host.
///
/// One instance may be used for any number of calls, and from several threads; its commits wait for each other. Any number of instances may
/// use the same database.
pub struct SqlAdapter<T> {
    tables: T,
    verified: Mutex<Verified>,
    /// Held by the one commit of this instance that is under way: the database would have the others wait, and some throw them away.
    turn: Mutex<()>,
    /// The name to which what is in the cache is sealed.
    cache_label: String,
}

impl<T: Tables> SqlAdapter<T> {
    /// An adapter over `tables`, which are opened when they are first needed. Entries expire by their clock.
    pub fn over(tables: T) -> Self {
        Self {
            cache_label: format!("{}/cache", tables.label()),
            tables,
            verified: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    fn now(&self) -> u64 {
        self.tables.clock().now_milliseconds()
    }

    /// The name of the store to which values of `table` are sealed.
    fn store_name(&self, table: Table) -> &str {
        match table {
            Table::Entry => self.tables.label(),
            Table::Cache => &self.cache_label,
        }
    }

    fn seal(
        &self,
        barrier: &Barrier,
        table: Table,
        put: &Put,
        random: &impl Random,
    ) -> Result<Vec<u8>, StoreError> {
        let address = Address {
            store: self.store_name(table),
            key: &put.key,
        };
        let sealed = barrier.seal(address, &put.value, put.expires_at, random);
        sealed.map_err(|error| match error {
            SealError::Random(error) => no_randomness(error),
            SealError::TooLarge => StoreError::Invalid(error.to_string()),
        })
    }

    /// Opens what was found under `key`; `None` where it has ended by its sealed word.
    fn open(
        &self,
        barrier: &Barrier,
        table: Table,
        key: &str,
        version: Version,
        sealed: Vec<u8>,
        now: u64,
    ) -> Result<Option<Entry>, StoreError> {
        let record = self.open_record(barrier, table, key, sealed)?;
        if has_expired(record.expires_at, now) {
            return Ok(None);
        }
        if table == Table::Entry {
            self.verified().note(key, version, record.expires_at);
        }
        Ok(Some(Entry {
            value: record.value,
            version,
        }))
    }

    fn open_record(
        &self,
        barrier: &Barrier,
        table: Table,
        key: &str,
        sealed: Vec<u8>,
    ) -> Result<Record, StoreError> {
        let store = self.store_name(table);
        let opened = barrier.open(Address { store, key }, sealed);
        opened.map_err(|_| StoreError::Corrupt(key.to_owned()))
    }

    fn verified(&self) -> MutexGuard<'_, Verified> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads any number of entries as they are at one point in time. More than one statement reads is read in parts, and counts if all
    /// versions are the same afterwards: a version stands for one value.
    fn find_all(&self, keys: &[HeldKey], now: u64) -> Result<Vec<Found>, StoreError> {
        if keys.len() <= KEYS_PER_READ {
            return self.tables.find(Table::Entry, keys, now);
        }
        let names: Vec<&str> = keys.iter().map(|held| held.key.as_str()).collect();
        for _ in 0..READ_ATTEMPTS {
            let mut all = Vec::with_capacity(keys.len());
            for (part, keys) in keys.chunks(KEYS_PER_READ).enumerate() {
                let found = self.tables.find(Table::Entry, keys, now)?;
                all.extend(found.into_iter().map(|found| Found {
                    index: part * KEYS_PER_READ + found.index,
                    ..found
                }));
            }
            let mut afterwards = self.tables.find_versions(Table::Entry, &names, now)?;
            let mut before: Vec<_> = all
                .iter()
                .map(|found| (found.index, found.version))
                .collect();
            afterwards.sort_unstable_by_key(|(index, _)| *index);
            before.sort_unstable_by_key(|(index, _)| *index);
            if before == afterwards {
                return Ok(all);
            }
        }
        Err(StoreError::Unavailable(format!(
            "the store is contended: what was read had changed {READ_ATTEMPTS} times in a row"
        )))
    }

    fn commit_to(
        &self,
        table: Table,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<(), CommitError> {
        let barrier = self.tables.barrier()?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if changes.is_empty() {
            return match self.failed_check(table, checks)? {
                Some(key) => Err(CommitError::Conflict(key)),
                None => Ok(()),
            };
        }
        // Enough for one attempt: a nonce for each value, the version, and the draw for the purge.
        let bytes = changes.len() * NONCE_BYTES + 2 * size_of::<u64>();
        let random = DrawnAhead::new(self.tables.random(), bytes).map_err(no_randomness)?;
        let sealed = self.sealed(&barrier, table, changes, &random)?;
        for _ in 0..COMMIT_ATTEMPTS {
            let version = fresh_version(&random)?;
            let now = self.now();
            let failed = match self.tables.commit(table, checks, &sealed, version, now)? {
                Committed::Applied => {
                    self.purge_now_and_then(table, changes.len(), &random);
                    return Ok(());
                }
                Committed::Refused(Some(place)) => Some(self.key_of(checks, place)?),
                Committed::Refused(None) => self.failed_check(table, checks)?,
            };
            if let Some(key) = failed {
                return Err(CommitError::Conflict(key));
            }
        }
        Err(StoreError::Unavailable(format!(
            "the store is contended: a check failed and held again {COMMIT_ATTEMPTS} times in a row"
        ))
        .into())
    }

    fn sealed<'c>(
        &self,
        barrier: &Barrier,
        table: Table,
        changes: &'c [Change],
        random: &impl Random,
    ) -> Result<Vec<SealedChange<'c>>, StoreError> {
        let sealed = |change: &'c Change| match change {
            Change::Delete(key) => Ok(SealedChange { key, put: None }),
            Change::Put(put) => Ok(SealedChange {
                key: &put.key,
                put: Some((self.seal(barrier, table, put, random)?, put.expires_at)),
            }),
        };
        changes.iter().map(sealed).collect()
    }

    /// The key of the first check that does not hold.
    fn failed_check(&self, table: Table, checks: &[Check]) -> Result<Option<String>, StoreError> {
        if checks.is_empty() {
            return Ok(None);
        }
        let failed = self.tables.first_failed(table, checks, self.now())?;
        failed.map(|place| self.key_of(checks, place)).transpose()
    }

    /// The key of the check at `place`.
    fn key_of(&self, checks: &[Check], place: usize) -> Result<String, StoreError> {
        let check = checks.get(place).ok_or_else(|| self.tables.nonsense())?;
        Ok(check.key.clone())
    }

    /// Drops what has expired or been removed, after one commit of many; the more it changed the likelier.
    fn purge_now_and_then(&self, table: Table, changes: usize, random: &impl Random) {
        let is_due =
            random_number(random).is_ok_and(|drawn| drawn % CHANGES_PER_PURGE < changes as u64);
        if is_due {
            let until = self.tables.clock().certain_milliseconds();
            self.tables.purge(table, until);
        }
    }
}

/// A version that no entry has had, but by a chance that there is not.
fn fresh_version(random: &impl Random) -> Result<Version, StoreError> {
    Ok(random_number(random)? >> 1)
}

fn random_number(random: &impl Random) -> Result<u64, StoreError> {
    let mut bytes = [0; size_of::<u64>()];
    random.fill(&mut bytes).map_err(no_randomness)?;
    Ok(u64::from_le_bytes(bytes))
}

fn no_randomness(error: RandomError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

impl<T: Tables> Store for SqlAdapter<T> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<HeldKey> = keys.iter().map(|key| HeldKey::unknown(*key)).collect();
        let entry = |difference| match difference {
            Difference::Changed(entry) => Some(entry),
            Difference::Absent | Difference::Unchanged => None,
        };
        let found = self.get_changed(&keys)?;
        Ok(found.into_iter().map(entry).collect())
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        limits::check_get(keys.iter().map(|held| held.key.as_str()))?;
        let barrier = self.tables.barrier()?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        // Before the database is asked: what had expired by then was absent at that moment.
        let now = self.now();
        let mut asked = Cow::Borrowed(keys);
        {
            let verified = self.verified();
            for (place, held) in keys.iter().enumerate() {
                let is_verified = |version| verified.contains(&held.key, version, now);
                if !held.version.is_none_or(is_verified)
                    && let Some(asked) = asked.to_mut().get_mut(place)
                {
                    asked.version = None;
                }
            }
        }
        let mut differences: Vec<Difference> = keys.iter().map(|_| Difference::Absent).collect();
        for found in self.find_all(&asked, now)? {
            let (Some(held), Some(asked), Some(place)) = (
                keys.get(found.index),
                asked.get(found.index),
                differences.get_mut(found.index),
            ) else {
                return Err(self.tables.nonsense());
            };
            *place = match found.sealed {
                None if asked.version == Some(found.version) => Difference::Unchanged,
                None => return Err(self.tables.nonsense()),
                Some(sealed) => {
                    let version = found.version;
                    let entry =
                        self.open(&barrier, Table::Entry, &held.key, version, sealed, now)?;
                    Difference::between(held.version, entry)
                }
            };
        }
        Ok(differences)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        limits::check_scan(prefix, after, limit)?;
        let barrier = self.tables.barrier()?;
        let now = self.now();
        let end = format!("{prefix}{ABOVE_ALL}");
        let range = Range::after(after.filter(|after| *after >= prefix), prefix, &end);
        let mut page = PageBuilder::new(limit);
        let found = self
            .tables
            .scan(Table::Entry, &range, now, limit, PAGE_BYTES)?;
        for Stored {
            key,
            version,
            sealed,
        } in found
        {
            if !page.has_room(key.len() + sealed.len()) {
                break;
            }
            let entry = self.open(&barrier, Table::Entry, &key, version, sealed, now)?;
            if let Some(entry) = entry {
                page.push(key, entry);
            }
        }
        Ok(page.finish())
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        limits::check_commit(&checks, &changes)?;
        self.commit_to(Table::Entry, &checks, &changes)
    }
}

impl<T: Tables> Export for SqlAdapter<T> {
    fn open(&self) -> Result<(), StoreError> {
        self.tables.barrier().map(drop)
    }

    fn export(
        &self,
        after: Option<&str>,
        entries: u32,
        bytes: usize,
    ) -> Result<Vec<ExportedEntry>, StoreError> {
        let barrier = self.tables.barrier()?;
        let now = self.now();
        let end = ABOVE_ALL.to_string();
        // A scan answers one row more.
        let limit = entries.saturating_sub(1);
        let mut exported = Vec::new();
        let mut last = None;
        // Pages whose entries have all ended by their sealed word are not the end.
        while exported.is_empty() {
            let range = Range::after(last.as_deref().or(after), "", &end);
            let found = self.tables.scan(Table::Entry, &range, now, limit, bytes)?;
            let Some(end_of_page) = found.last() else {
                break;
            };
            last = Some(end_of_page.key.clone());
            for Stored { key, sealed, .. } in found {
                let record = self.open_record(&barrier, Table::Entry, &key, sealed)?;
                if !has_expired(record.expires_at, now) {
                    exported.push(ExportedEntry {
                        key,
                        value: Zeroizing::new(record.value),
                        expires_at: record.expires_at,
                    });
                }
            }
        }
        Ok(exported)
    }
}

/// The cache forgets a value that it cannot keep: a failure reads as an absent entry, and a swap that fails as one that was made.
impl<T: Tables> Cache for SqlAdapter<T> {
    fn get(&self, key: &str) -> Option<Entry> {
        limits::check_get([key].into_iter()).ok()?;
        let barrier = self.tables.barrier().ok()?;
        let now = self.now();
        let found = self
            .tables
            .find(Table::Cache, &[HeldKey::unknown(key)], now);
        let found = found.ok()?.pop()?;
        let sealed = found.sealed?;
        let entry = self.open(&barrier, Table::Cache, key, found.version, sealed, now);
        entry.ok().flatten()
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        let check = Check {
            key: key.to_owned(),
            requirement: expected.map_or(Requirement::Absent, Requirement::AtVersion),
        };
        let put = Change::Put(Put {
            key: key.to_owned(),
            value: value.to_vec(),
            expires_at: Some(expires_at),
        });
        let (checks, changes) = ([check], [put]);
        if limits::check_commit(&checks, &changes).is_err() {
            return true;
        }
        let outcome = self.commit_to(Table::Cache, &checks, &changes);
        !matches!(outcome, Err(CommitError::Conflict(_)))
    }
}
