//! The tables of a SQLite database.

use std::sync::Arc;

use gatehouse_barrier::Barrier;
use gatehouse_ports::{Check, Clock, HeldKey, Random, Requirement, StoreError, Version};

use super::connection::SqliteTables;
use super::database::{Host, Row, Value};
use super::statements;
use crate::sql::{
    Committed, Found, PURGED_ROWS, Range, SealedChange, Stored, Table, Tables, time_number,
    version_number,
};

/// The end of a removed row, long ago: the next purge drops such rows before all others, since a scan reads them too.
const END_OF_REMOVAL: u64 = 0;

impl<H: Host, C: Clock, R: Random> SqliteTables<H, C, R> {
    fn found(&self, row: Row) -> Result<Found, StoreError> {
        let mut row = row.into_iter();
        let (index, version, value) = (row.next(), row.next(), row.next());
        match (index, version) {
            (Some(Value::Integer(index)), Some(Value::Integer(version))) => Ok(Found {
                index: usize::try_from(index).map_err(|_| self.nonsense())?,
                version: version.cast_unsigned(),
                sealed: match value {
                    Some(Value::Blob(sealed)) => Some(sealed),
                    _ => None,
                },
            }),
            _ => Err(self.nonsense()),
        }
    }

    /// True if the commit of `version` is known to be applied. Otherwise it may be all the same, or may be yet: another one may have written
    /// the same keys since, and a statement whose answer was lost may still be under way.
    fn is_written(&self, table: Table, changes: &[SealedChange<'_>], version: Version) -> bool {
        let mut parameters = vec![version_value(version)];
        parameters.extend(changes.iter().map(|change| Value::from(change.key)));
        let statement = statements::written(table, changes.len());
        let rows = self.execute(&statement, &parameters, self.clock.now_milliseconds());
        rows.is_ok_and(|rows| !rows.is_empty())
    }
}

impl<H: Host, C: Clock, R: Random> Tables for SqliteTables<H, C, R> {
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
        Ok(Arc::clone(&self.opened()?.barrier))
    }

    fn find(&self, table: Table, keys: &[HeldKey], now: u64) -> Result<Vec<Found>, StoreError> {
        let mut parameters = Vec::with_capacity(2 * keys.len() + 1);
        for held in keys {
            parameters.push(held.key.as_str().into());
            parameters.push(held.version.map_or(Value::Null, version_value));
        }
        parameters.push(time_value(now));
        let rows = self.execute(&statements::get(table, keys.len()), &parameters, now)?;
        rows.into_iter().map(|row| self.found(row)).collect()
    }

    fn find_versions(
        &self,
        table: Table,
        keys: &[&str],
        now: u64,
    ) -> Result<Vec<(usize, Version)>, StoreError> {
        let mut parameters: Vec<Value> = keys.iter().map(|key| Value::from(*key)).collect();
        parameters.push(time_value(now));
        let rows = self.execute(&statements::versions(table, keys.len()), &parameters, now)?;
        let found = rows.into_iter().map(|row| self.found(row));
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
            range.from.into(),
            range.except.into(),
            range.end.into(),
            time_value(now),
            Value::Integer(i64::from(limit) + 1),
            Value::Integer(i64::try_from(bytes).unwrap_or(i64::MAX)),
        ];
        let stored = |row: Row| match <[Value; 3]>::try_from(row) {
            Ok(
                [
                    Value::Text(key),
                    Value::Integer(version),
                    Value::Blob(sealed),
                ],
            ) => Ok(Stored {
                key,
                version: version.cast_unsigned(),
                sealed,
            }),
            _ => Err(self.nonsense()),
        };
        let rows = self.execute(&statements::scan(table), &parameters, now)?;
        rows.into_iter().map(stored).collect()
    }

    fn commit(
        &self,
        table: Table,
        checks: &[Check],
        changes: &[SealedChange<'_>],
        version: Version,
        now: u64,
    ) -> Result<Committed, StoreError> {
        let mut parameters = checked(checks);
        for change in changes {
            parameters.push(change.key.into());
            let (value, end) = match &change.put {
                Some((sealed, end)) => (Value::Blob(sealed.clone()), *end),
                None => (Value::Null, Some(END_OF_REMOVAL)),
            };
            parameters.push(value);
            parameters.push(end.map_or(Value::Null, time_value));
        }
        parameters.push(version_value(version));
        if !checks.is_empty() {
            parameters.push(time_value(now));
        }
        let statement = statements::commit(table, checks.len(), changes.len());
        let rows = match self.attempt(&statement, &parameters, now)? {
            Err(error)
                if error.has_lost_connection() && self.is_written(table, changes, version) =>
            {
                return Ok(Committed::Applied);
            }
            rows => rows.map_err(|error| error.at(&self.label))?,
        };
        match rows.len() {
            0 => Ok(Committed::Refused(None)),
            written if written == changes.len() => Ok(Committed::Applied),
            _ => Err(self.nonsense()),
        }
    }

    fn first_failed(
        &self,
        table: Table,
        checks: &[Check],
        now: u64,
    ) -> Result<Option<usize>, StoreError> {
        let mut parameters = checked(checks);
        parameters.push(time_value(now));
        let rows = self.execute(&statements::check(table, checks.len()), &parameters, now)?;
        match rows.first().map(Vec::as_slice) {
            None => Ok(None),
            Some([Value::Integer(index)]) => match usize::try_from(*index) {
                Ok(index) => Ok(Some(index)),
                Err(_) => Err(self.nonsense()),
            },
            Some(_) => Err(self.nonsense()),
        }
    }

    fn purge(&self, table: Table, until: u64) {
        if let Ok(opened) = self.opened() {
            let parameters = [time_value(until), Value::Integer(PURGED_ROWS)];
            self.execute_if_free(&opened, &statements::purge(table), &parameters);
        }
    }

    fn nonsense(&self) -> StoreError {
        StoreError::Unavailable(format!(
            "the SQLite database {} answers what is no answer to the statement: its tables were altered, put a backup in its place",
            self.label
        ))
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

fn version_value(version: Version) -> Value {
    Value::Integer(version_number(version))
}

fn time_value(time: u64) -> Value {
    Value::Integer(time_number(time))
}
