//! The tables of a PostgreSQL database.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatehouse_barrier::{Barrier, Keyring, KeyringError};
use gatehouse_ports::rules::{jittered, other_engine};
use gatehouse_ports::{Check, Clock, HeldKey, Random, Requirement, StoreError, Version};

use super::database::{Database as _, DatabaseError, Host, Parameter, Row, Value};
use super::statements::{
    self, ABANDON, DESCRIBE, KNOWN_SCHEMA, SHOW_ENGINE, STORE_KEYRING, WAS_ABANDONED,
};
use crate::error::PageError;
use crate::root::keyring_error;
use crate::seal_key::root_key;
use crate::sql::{
    Committed, Found, PURGED_ROWS, Range, SealedChange, Stored, Table, Tables, time_number,
    version_number,
};

/// How often a statement is sent that others were in the way of.
const PASSING_TRIES: u32 = 16;
/// How often a statement is sent again whose connection was lost, where nothing is changed by sending it twice.
const LOST_TRIES: u32 = 3;
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// How often it is asked if a commit was applied whose answer was lost.
const OUTCOME_TRIES: u32 = 20;
/// The longest pause between two such questions: some seconds in all, in which a database that starts again or fails over may be back.
const OUTCOME_PAUSE: Duration = Duration::from_millis(500);
/// After how many milliseconds it is asked no more, however few questions those were: an attempt to connect takes as long as the address lets it.
const OUTCOME_PATIENCE: u64 = 10_000;
/// How often an opening looks at the tables: none, made, and with a keyring, and once more for another instance that does the same.
const OPENING_LOOKS: u32 = 4;

/// The tables of one capability, in the database whose address a host has.
pub struct PostgresTables<H, C, R> {
    host: H,
    label: String,
    clock: C,
    random: R,
    barrier: Mutex<Option<Arc<Barrier>>>,
}

impl<H: Host, C: Clock, R: Random> PostgresTables<H, C, R> {
    pub(super) fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self {
            host,
            label: label.to_owned(),
            clock,
            random,
            barrier: Mutex::new(None),
        }
    }

    /// Sends one statement on a connection that is lent for it: one that an instance kept would be missing to others.
    fn try_to<T>(
        &self,
        send: impl Fn(&H::Database) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut tries = 1;
        loop {
            let outcome = send(&self.host.connect()?);
            match outcome {
                Err(error) if error.is_passing() && tries < PASSING_TRIES => {
                    tries += 1;
                    self.clock.sleep(jittered(PAUSE, &self.random));
                }
                outcome => return outcome,
            }
        }
    }

    /// The same for a statement that may be sent twice.
    fn repeat<T>(
        &self,
        send: impl Fn(&H::Database) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut tries = 1;
        loop {
            match self.try_to(&send) {
                // A pool may lend a connection that has ended.
                Err(error) if error.leaves_outcome_open() && tries < LOST_TRIES => tries += 1,
                outcome => return outcome,
            }
        }
    }

    fn query(&self, statement: &str, parameters: &[Parameter]) -> Result<Vec<Row>, DatabaseError> {
        self.repeat(|database| database.query(statement, parameters))
    }

    fn execute(&self, statement: &str, parameters: &[Parameter]) -> Result<(), DatabaseError> {
        self.repeat(|database| database.execute(statement, parameters))
    }

    fn open(&self) -> Result<Arc<Barrier>, StoreError> {
        let root_key = root_key(self.host.seal_key())?;
        let store = || Parameter::Text(self.label.clone());
        for _ in 0..OPENING_LOOKS {
            let described = match self.query(DESCRIBE, &[store()]) {
                Err(error @ DatabaseError::Refused { .. }) => {
                    self.check_engine()?;
                    if !error.lacks_tables() {
                        return Err(error.into());
                    }
                    Vec::new()
                }
                described => described?,
            };
            let Some(row) = described.into_iter().find(|row| !is_empty(row)) else {
                self.execute(&statements::create(), &[])?;
                continue;
            };
            let [schema, keyring, how @ ..] = &row[..] else {
                return Err(self.nonsense());
            };
            self.check_schema(schema)?;
            check_server(how)?;
            if let Value::Bytes(sealed) = keyring {
                let keyring = Keyring::open(&root_key, sealed);
                let keyring = keyring.map_err(|error| self.keyring_error(error))?;
                return Ok(Arc::new(Barrier::new(&keyring)));
            }
            let sealed = Keyring::generate(&self.random)
                .and_then(|keyring| keyring.seal(&root_key, &self.random))
                .map_err(|error| self.keyring_error(error))?;
            self.execute(STORE_KEYRING, &[store(), Parameter::Bytes(sealed)])?;
        }
        Err(unavailable(
            "has records and no keyring: it was altered, put a backup in its place",
        ))
    }

    /// Refuses engines that order commits otherwise. It is asked where there are no tables yet: the answer never changes, and another engine
    /// may refuse something else of what an opening asks.
    fn check_engine(&self) -> Result<(), StoreError> {
        let rows = self.query(SHOW_ENGINE, &[])?;
        let engine = match rows.first().and_then(|row| row.first()) {
            Some(Value::Text(version)) => other_engine(version),
            _ => return Err(self.nonsense()),
        };
        match engine {
            Some(engine) => Err(unavailable(&format!(
                "is of {engine}, where a commit that waited for another one may not see what that has changed: name one of a PostgreSQL \
                 server in postgres_url"
            ))),
            None => Ok(()),
        }
    }

    fn check_schema(&self, found: &Value) -> Result<(), StoreError> {
        match found {
            Value::Number(KNOWN_SCHEMA) => Ok(()),
            Value::Number(found) => Err(unavailable(&format!(
                "was written by a newer version of this software (schema {found}, known is {KNOWN_SCHEMA}), and is left as it is: update"
            ))),
            _ => Err(self.nonsense()),
        }
    }

    fn keyring_error(&self, error: KeyringError) -> StoreError {
        match keyring_error(&self.label, error) {
            PageError::Store(error) => error,
            _ => unavailable("has a damaged keyring: put a backup in its place"),
        }
    }

    /// Finds out if the commit of `version` was applied whose answer was lost; from then on it is not if it was not.
    fn was_applied(&self, version: Version) -> Result<bool, StoreError> {
        let version = [Parameter::Number(version_number(version))];
        let give_up_at = self
            .clock
            .now_milliseconds()
            .saturating_add(OUTCOME_PATIENCE);
        for _ in 0..OUTCOME_TRIES {
            let abandoned = self.execute(ABANDON, &version);
            let asked = abandoned.and_then(|()| self.query(WAS_ABANDONED, &version));
            if let Ok(rows) = asked {
                return match rows.first().map(Vec::as_slice) {
                    Some([Value::Boolean(abandoned)]) => Ok(!abandoned),
                    _ => Err(self.nonsense()),
                };
            }
            if self.clock.now_milliseconds() >= give_up_at {
                break;
            }
            self.clock.sleep(jittered(OUTCOME_PAUSE, &self.random));
        }
        Err(unavailable(
            "was lost while it committed, and does not say whether it has: read before you repeat",
        ))
    }

    fn found(&self, row: &[Value]) -> Result<Found, StoreError> {
        let [Value::Number(place), Value::Number(version), value] = row else {
            return Err(self.nonsense());
        };
        Ok(Found {
            index: self.index(*place)?,
            version: version.cast_unsigned(),
            sealed: match value {
                Value::Bytes(sealed) => Some(sealed.clone()),
                _ => None,
            },
        })
    }

    /// The index of a place that is counted from 1.
    fn index(&self, place: i64) -> Result<usize, StoreError> {
        let index = usize::try_from(place).ok();
        let index = index.and_then(|place| place.checked_sub(1));
        index.ok_or_else(|| self.nonsense())
    }
}

impl<H: Host, C: Clock, R: Random> Tables for PostgresTables<H, C, R> {
    type Clock = C;
    type Random = R;

    fn clock(&self) -> &C {
        &self.clock
    }

    fn random(&self) -> &R {
        &self.random
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn barrier(&self) -> Result<Arc<Barrier>, StoreError> {
        let mut opened = self.barrier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(barrier) = &*opened {
            return Ok(Arc::clone(barrier));
        }
        let barrier = self.open()?;
        *opened = Some(Arc::clone(&barrier));
        Ok(barrier)
    }

    fn find(&self, table: Table, keys: &[HeldKey], now: u64) -> Result<Vec<Found>, StoreError> {
        let parameters = [
            Parameter::Text(self.label.clone()),
            Parameter::Texts(keys.iter().map(|held| held.key.clone()).collect()),
            Parameter::Numbers(
                keys.iter()
                    .map(|held| held.version.map(version_number))
                    .collect(),
            ),
            time(now),
        ];
        let rows = self.query(statements::find(table), &parameters)?;
        let rows = rows.iter().filter(|row| !is_empty(row));
        rows.map(|row| self.found(row)).collect()
    }

    fn find_versions(
        &self,
        table: Table,
        keys: &[&str],
        now: u64,
    ) -> Result<Vec<(usize, Version)>, StoreError> {
        let parameters = [
            Parameter::Text(self.label.clone()),
            Parameter::Texts(keys.iter().map(|key| (*key).to_owned()).collect()),
            Parameter::Numbers(vec![None; keys.len()]),
            time(now),
        ];
        let rows = self.query(statements::find_versions(table), &parameters)?;
        let rows = rows.iter().filter(|row| !is_empty(row));
        let found = rows.map(|row| self.found(row));
        found
            .map(|found| found.map(|found| (found.index, found.version)))
            .collect()
    }

    fn scan(
        &self,
        table: Table,
        range: &Range<'_>,
        now: u64,
        limit: u32,
        bytes: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let parameters = [
            Parameter::Text(self.label.clone()),
            Parameter::Text(range.from.to_owned()),
            Parameter::Text(range.except.to_owned()),
            Parameter::Text(range.end.to_owned()),
            time(now),
            Parameter::Number(i64::from(limit) + 1),
            Parameter::Number(i64::try_from(bytes).unwrap_or(i64::MAX)),
        ];
        let stored = |row: Row| match <[Value; 3]>::try_from(row) {
            Ok(
                [
                    Value::Text(key),
                    Value::Number(version),
                    Value::Bytes(sealed),
                ],
            ) => Ok(Stored {
                key,
                version: version.cast_unsigned(),
                sealed,
            }),
            _ => Err(self.nonsense()),
        };
        let rows = self.query(statements::scan(table), &parameters)?;
        let rows = rows.into_iter().filter(|row| !is_empty(row));
        rows.map(stored).collect()
    }

    fn commit(
        &self,
        table: Table,
        checks: &[Check],
        changes: &[SealedChange<'_>],
        version: Version,
        now: u64,
    ) -> Result<Committed, StoreError> {
        let mut values = Vec::new();
        let (mut keys, mut bytes, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            keys.push(change.key.to_owned());
            match &change.put {
                Some((sealed, end)) => {
                    values.extend_from_slice(sealed);
                    bytes.push(i64::try_from(sealed.len()).ok());
                    ends.push(end.map(time_number));
                }
                None => {
                    bytes.push(None);
                    ends.push(None);
                }
            }
        }
        let (checked, versions) = checked(checks);
        let parameters = [
            Parameter::Text(self.label.clone()),
            time(now),
            checked,
            versions,
            Parameter::Texts(keys),
            Parameter::Bytes(values),
            Parameter::Numbers(bytes),
            Parameter::Numbers(ends),
            Parameter::Number(version_number(version)),
        ];
        let commit = statements::commit(table);
        let rows = match self.try_to(|database| database.query(commit, &parameters)) {
            Err(error) if error.leaves_outcome_open() => {
                return Ok(match self.was_applied(version)? {
                    true => Committed::Applied,
                    false => Committed::Refused(None),
                });
            }
            rows => rows?,
        };
        match rows.first().map(Vec::as_slice) {
            Some([Value::Null]) => Ok(Committed::Applied),
            Some([Value::Number(place)]) => Ok(Committed::Refused(Some(self.index(*place)?))),
            _ => Err(self.nonsense()),
        }
    }

    fn first_failed(
        &self,
        table: Table,
        checks: &[Check],
        now: u64,
    ) -> Result<Option<usize>, StoreError> {
        let (checked, versions) = checked(checks);
        let parameters = [
            Parameter::Text(self.label.clone()),
            checked,
            versions,
            time(now),
        ];
        let rows = self.query(statements::check(table), &parameters)?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::Null]) => Ok(None),
            Some([Value::Number(place)]) => Ok(Some(self.index(*place)?)),
            _ => Err(self.nonsense()),
        }
    }

    fn purge(&self, table: Table, until: u64) {
        let parameters = [time(until), Parameter::Number(PURGED_ROWS)];
        // The next one does it.
        let purge = statements::purge(table);
        let _ = self.try_to(|database| database.execute(purge, &parameters));
    }

    fn nonsense(&self) -> StoreError {
        unavailable(
            "answers what is no answer to the statement: its tables were altered, put a backup in its place",
        )
    }
}

/// True for the row that stands for none, since each statement answers one.
fn is_empty(row: &Row) -> bool {
    row.iter().all(|value| *value == Value::Null)
}

/// Refuses a database that loses what it has acknowledged, or that is no primary.
fn check_server(how: &[Value]) -> Result<(), StoreError> {
    let cure = match how {
        [Value::Boolean(true), ..] => {
            "is a standby, which takes no changes: name the primary in postgres_url"
        }
        [_, Value::Boolean(false), ..] => {
            "runs with fsync = off and loses what it has acknowledged: set fsync = on"
        }
        [_, _, Value::Boolean(false), _] => {
            "runs with synchronous_commit = off and loses what it has acknowledged: set it to on, or to local at least"
        }
        [_, _, _, Value::Boolean(false)] => {
            "has another default_transaction_isolation than read committed: set that for the database or its user"
        }
        _ => return Ok(()),
    };
    Err(unavailable(cure))
}

fn unavailable(what: &str) -> StoreError {
    StoreError::Unavailable(format!("the PostgreSQL database {what}"))
}

/// The keys of `checks`, and the versions that they require.
fn checked(checks: &[Check]) -> (Parameter, Parameter) {
    let keys = checks.iter().map(|check| check.key.clone());
    let versions = checks.iter().map(|check| match check.requirement {
        Requirement::Absent => None,
        Requirement::AtVersion(version) => Some(version_number(version)),
    });
    (
        Parameter::Texts(keys.collect()),
        Parameter::Numbers(versions.collect()),
    )
}

fn time(time: u64) -> Parameter {
    Parameter::Number(time_number(time))
}
