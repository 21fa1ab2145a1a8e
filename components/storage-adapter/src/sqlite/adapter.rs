//! The interfaces of storage over one database.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gatehouse_barrier::{Address, Barrier, SealError};
use gatehouse_ports::rules::{PAGE_BYTES, PageBuilder, has_expired};
use gatehouse_ports::{
    Cache, Change, Check, Clock, CommitError, Difference, Entry, HeldKey, Page, Random,
    Requirement, Store, StoreError, Version, limits,
};

use super::connection::{Connection, Opened};
use super::database::{Host, Row, Value};
use super::statements::Table;
use super::verified::Verified;

/// Keys whose values are read by one statement. Spin answers up to 128 MiB at once, and a value may have one.
const KEYS_PER_READ: usize = 96;
/// How often a read in parts is begun anew while others write what it reads.
const READ_ATTEMPTS: u32 = 16;
/// How often a commit is decided again that was refused and whose checks all held when they were looked at.
const COMMIT_ATTEMPTS: u32 = 16;
/// How long a removal can be seen in the database, in milliseconds.
const REMOVAL_MILLISECONDS: u64 = 60_000;
/// Changes to which there is one purge, on average, and rows that it drops at most: more than they can have added.
const CHANGES_PER_PURGE: u64 = 64;
const PURGED_ROWS: i64 = 256;
/// Above all characters of keys.
const ABOVE_ALL: char = '\u{7f}';

/// The store and the cache of one capability, in the database behind one label of a host.
///
/// One instance may be used for any number of calls, and from several threads; its commits wait for each other. Any number of instances may
/// use the same database.
pub struct SqliteAdapter<H: Host, C, R> {
    connection: Connection<H, C, R>,
    verified: Mutex<Verified>,
    /// Held by the one commit of this instance that is under way: SQLite would have the others wait in pauses.
    turn: Mutex<()>,
    /// The name to which what is in the cache is sealed.
    cache_label: String,
}

/// A row of a read: what the database says, not opened yet.
struct Found {
    index: usize,
    version: Version,
    sealed: Option<Vec<u8>>,
}

impl<H: Host, C: Clock, R: Random> SqliteAdapter<H, C, R> {
    /// An adapter for the database behind `label`, which is opened when it is first needed. Entries expire by `clock`.
    pub fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self {
            connection: Connection::new(host, label, clock, random),
            verified: Mutex::default(),
            turn: Mutex::default(),
            cache_label: format!("{label}/cache"),
        }
    }

    fn now(&self) -> u64 {
        self.connection.clock.now_milliseconds()
    }

    /// Executes one statement.
    fn read(
        &self,
        opened: &Opened<H::Database>,
        statement: &str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.connection.execute(opened, statement, parameters)
    }

    /// The name of the store to which values of `table` are sealed.
    fn store_name(&self, table: Table) -> &str {
        match table {
            Table::Entry => &self.connection.label,
            Table::Cache => &self.cache_label,
        }
    }

    fn seal(
        &self,
        barrier: &Barrier,
        table: Table,
        key: &str,
        value: &[u8],
        expires_at: Option<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        let store = self.store_name(table);
        let address = Address { store, key };
        let sealed = barrier.seal(address, value, expires_at, &self.connection.random);
        sealed.map_err(|error| match error {
            SealError::Random(error) => StoreError::Unavailable(error.to_string()),
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
        let store = self.store_name(table);
        let record = barrier
            .open(Address { store, key }, sealed)
            .map_err(|_| StoreError::Corrupt(key.to_owned()))?;
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

    fn verified(&self) -> MutexGuard<'_, Verified> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads up to [`KEYS_PER_READ`] entries as they are at one point in time, those left out that are held.
    fn find(
        &self,
        opened: &Opened<H::Database>,
        table: Table,
        keys: &[HeldKey<'_>],
        now: u64,
    ) -> Result<Vec<Found>, StoreError> {
        let mut parameters = Vec::with_capacity(2 * keys.len() + 1);
        for held in keys {
            parameters.push(held.key.into());
            parameters.push(held.version.map_or(Value::Null, version_value));
        }
        parameters.push(time_value(now));
        let rows = self.read(opened, &table.get(keys.len()), &parameters)?;
        rows.into_iter().map(|row| self.found(row)).collect()
    }

    fn found(&self, row: Row) -> Result<Found, StoreError> {
        let mut row = row.into_iter();
        let (index, version, value) = (row.next(), row.next(), row.next());
        match (index, version) {
            (Some(Value::Integer(index)), Some(Value::Integer(version))) => Ok(Found {
                index: usize::try_from(index).map_err(|_| self.nonsense())?,
                version: Version(version.cast_unsigned()),
                sealed: match value {
                    Some(Value::Blob(sealed)) => Some(sealed),
                    _ => None,
                },
            }),
            _ => Err(self.nonsense()),
        }
    }

    fn nonsense(&self) -> StoreError {
        StoreError::Unavailable(format!(
            "the SQLite database {} answers what is no answer to the statement: its tables were altered, put a backup in its place",
            self.connection.label
        ))
    }

    /// Reads any number of entries as they are at one point in time. More than one statement reads is read in parts, and counts if all
    /// versions are the same afterwards: a version stands for one value.
    fn find_all(
        &self,
        opened: &Opened<H::Database>,
        keys: &[HeldKey<'_>],
        now: u64,
    ) -> Result<Vec<Found>, StoreError> {
        if keys.len() <= KEYS_PER_READ {
            return self.find(opened, Table::Entry, keys, now);
        }
        let mut parameters: Vec<Value> = keys.iter().map(|held| held.key.into()).collect();
        parameters.push(time_value(now));
        let statement = Table::Entry.versions(keys.len());
        for _ in 0..READ_ATTEMPTS {
            let mut all = Vec::with_capacity(keys.len());
            for (part, keys) in keys.chunks(KEYS_PER_READ).enumerate() {
                let found = self.find(opened, Table::Entry, keys, now)?;
                all.extend(found.into_iter().map(|found| Found {
                    index: part * KEYS_PER_READ + found.index,
                    ..found
                }));
            }
            let rows = self.read(opened, &statement, &parameters)?;
            let mut afterwards = rows
                .into_iter()
                .map(|row| self.found(row).map(|found| (found.index, found.version)))
                .collect::<Result<Vec<_>, _>>()?;
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
        let opened = self.connection.opened()?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if changes.is_empty() {
            return match self.failed_check(&opened, table, checks)? {
                Some(key) => Err(CommitError::Conflict(key)),
                None => Ok(()),
            };
        }
        let statement = table.commit(checks.len(), changes.len());
        let changed = self.changed(&opened.barrier, table, changes)?;
        for _ in 0..COMMIT_ATTEMPTS {
            let mut parameters = checked(checks);
            parameters.extend_from_slice(&changed);
            parameters.push(version_value(self.fresh_version()?));
            if !checks.is_empty() {
                parameters.push(time_value(self.now()));
            }
            let written = self.read(&opened, &statement, &parameters)?.len();
            if written == changes.len() {
                self.purge_now_and_then(&opened, table, changes.len());
                return Ok(());
            }
            if written != 0 {
                return Err(self.nonsense().into());
            }
            if let Some(key) = self.failed_check(&opened, table, checks)? {
                return Err(CommitError::Conflict(key));
            }
        }
        Err(StoreError::Unavailable(format!(
            "the store is contended: a check failed and held again {COMMIT_ATTEMPTS} times in a row"
        ))
        .into())
    }

    /// The parameters of `changes`: sealed.
    fn changed(
        &self,
        barrier: &Barrier,
        table: Table,
        changes: &[Change],
    ) -> Result<Vec<Value>, StoreError> {
        let removed_until = self.now().saturating_add(REMOVAL_MILLISECONDS);
        let mut parameters = Vec::with_capacity(3 * changes.len());
        for change in changes {
            parameters.push(change.key().into());
            match change {
                Change::Delete { .. } => {
                    parameters.push(Value::Null);
                    parameters.push(time_value(removed_until));
                }
                Change::Put {
                    key,
                    value,
                    expires_at,
                } => {
                    let sealed = self.seal(barrier, table, key, value, *expires_at)?;
                    parameters.push(Value::Blob(sealed));
                    parameters.push(expires_at.map_or(Value::Null, time_value));
                }
            }
        }
        Ok(parameters)
    }

    /// The key of the first check that does not hold.
    fn failed_check(
        &self,
        opened: &Opened<H::Database>,
        table: Table,
        checks: &[Check],
    ) -> Result<Option<String>, StoreError> {
        if checks.is_empty() {
            return Ok(None);
        }
        let mut parameters = checked(checks);
        parameters.push(time_value(self.now()));
        let rows = self.read(opened, &table.check(checks.len()), &parameters)?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let [Value::Integer(index)] = row.as_slice() else {
            return Err(self.nonsense());
        };
        let check = usize::try_from(*index)
            .ok()
            .and_then(|index| checks.get(index));
        Ok(Some(check.ok_or_else(|| self.nonsense())?.key.clone()))
    }

    /// A version that no entry has had, but by a chance that there is not.
    fn fresh_version(&self) -> Result<Version, StoreError> {
        Ok(Version(self.random_number()? >> 1))
    }

    fn random_number(&self) -> Result<u64, StoreError> {
        let mut bytes = [0; 8];
        let filled = self.connection.random.fill(&mut bytes);
        filled.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Drops what has expired or been removed, after one commit of many; the more it changed the likelier.
    fn purge_now_and_then(&self, opened: &Opened<H::Database>, table: Table, changes: usize) {
        let is_due = self
            .random_number()
            .is_ok_and(|drawn| drawn % CHANGES_PER_PURGE < changes as u64);
        if is_due {
            let until = time_value(self.connection.clock.certain_milliseconds());
            let rows = Value::Integer(PURGED_ROWS);
            self.connection
                .execute_if_free(opened, &table.purge(), &[until, rows]);
        }
    }
}

impl<H: Host, C: Clock, R: Random> Store for SqliteAdapter<H, C, R> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<HeldKey<'_>> = keys.iter().map(|key| HeldKey::unknown(key)).collect();
        let entry = |difference| match difference {
            Difference::Changed(entry) => Some(entry),
            Difference::Absent | Difference::Unchanged => None,
        };
        let found = self.get_changed(&keys)?;
        Ok(found.into_iter().map(entry).collect())
    }

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        limits::check_get(keys.iter().map(|held| held.key))?;
        let opened = self.connection.opened()?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        // Before the database is asked: what had expired by then was absent at that moment.
        let now = self.now();
        let asked: Vec<HeldKey<'_>> = {
            let verified = self.verified();
            keys.iter()
                .map(|held| HeldKey {
                    key: held.key,
                    version: held
                        .version
                        .filter(|version| verified.contains(held.key, *version, now)),
                })
                .collect()
        };
        let mut differences: Vec<Difference> = keys.iter().map(|_| Difference::Absent).collect();
        for found in self.find_all(&opened, &asked, now)? {
            let (Some(held), Some(asked), Some(place)) = (
                keys.get(found.index),
                asked.get(found.index),
                differences.get_mut(found.index),
            ) else {
                return Err(self.nonsense());
            };
            *place = match found.sealed {
                None if asked.version == Some(found.version) => Difference::Unchanged,
                None => return Err(self.nonsense()),
                Some(sealed) => {
                    let (barrier, version) = (&opened.barrier, found.version);
                    let entry = self.open(barrier, Table::Entry, held.key, version, sealed, now)?;
                    Difference::between(held.version, entry)
                }
            };
        }
        Ok(differences)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        limits::check_scan(prefix, after, limit)?;
        let opened = self.connection.opened()?;
        let now = self.now();
        let after = after.filter(|after| *after >= prefix);
        let parameters = [
            after.unwrap_or(prefix).into(),
            after.unwrap_or_default().into(),
            Value::Text(format!("{prefix}{ABOVE_ALL}")),
            time_value(now),
            Value::Integer(i64::from(limit) + 1),
            Value::Integer(i64::try_from(PAGE_BYTES).unwrap_or(i64::MAX)),
        ];
        let mut page = PageBuilder::new(limit);
        for row in self.read(&opened, &Table::Entry.scan(), &parameters)? {
            let Ok(
                [
                    Value::Text(key),
                    Value::Integer(version),
                    Value::Blob(sealed),
                ],
            ) = <[Value; 3]>::try_from(row)
            else {
                return Err(self.nonsense());
            };
            if !page.has_room(key.len() + sealed.len()) {
                break;
            }
            let version = Version(version.cast_unsigned());
            let entry = self.open(&opened.barrier, Table::Entry, &key, version, sealed, now)?;
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

/// The cache forgets a value that it cannot keep: a failure reads as an absent entry, and a swap that fails as one that was made.
impl<H: Host, C: Clock, R: Random> Cache for SqliteAdapter<H, C, R> {
    fn get(&self, key: &str) -> Option<Entry> {
        limits::check_get([key].into_iter()).ok()?;
        let opened = self.connection.opened().ok()?;
        let now = self.now();
        let found = self.find(&opened, Table::Cache, &[HeldKey::unknown(key)], now);
        let found = found.ok()?.pop()?;
        let sealed = found.sealed?;
        let entry = self.open(
            &opened.barrier,
            Table::Cache,
            key,
            found.version,
            sealed,
            now,
        );
        entry.ok().flatten()
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        let check = Check {
            key: key.to_owned(),
            requirement: expected.map_or(Requirement::Absent, Requirement::AtVersion),
        };
        let put = Change::Put {
            key: key.to_owned(),
            value: value.to_vec(),
            expires_at: Some(expires_at),
        };
        let (checks, changes) = ([check], [put]);
        if limits::check_commit(&checks, &changes).is_err() {
            return true;
        }
        let outcome = self.commit_to(Table::Cache, &checks, &changes);
        !matches!(outcome, Err(CommitError::Conflict(_)))
    }
}

/// The parameters of `checks`.
fn checked(checks: &[Check]) -> Vec<Value> {
    let mut parameters = Vec::with_capacity(2 * checks.len());
    for check in checks {
        parameters.push(check.key.as_str().into());
        parameters.push(match check.requirement {
            Requirement::Absent => Value::Null,
            Requirement::AtVersion(version) => version_value(version),
        });
    }
    parameters
}

/// A version as a parameter. One that no entry can have is one that none has.
fn version_value(version: Version) -> Value {
    Value::Integer(i64::try_from(version.0).unwrap_or(-1))
}

/// A time as a parameter, in milliseconds since 1970; what is later than the last one stands for it.
fn time_value(time: u64) -> Value {
    Value::Integer(i64::try_from(time).unwrap_or(i64::MAX))
}
