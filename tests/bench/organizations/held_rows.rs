//! A store in memory that gives away all its rows, with the times at which they expire.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gatehouse_ports::rules::{PageBuilder, holds};
use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Put, Store, StoreError, Version};

/// The rows that were committed. For a clock that stands still: none of them expires.
#[derive(Default)]
pub struct HeldRows(Mutex<Held>);

#[derive(Default)]
struct Held {
    rows: BTreeMap<Box<str>, Row>,
    commits: u64,
}

struct Row {
    value: Box<[u8]>,
    version: Version,
    expires_at: Option<u64>,
}

impl Row {
    fn entry(&self) -> Entry {
        Entry {
            value: self.value.to_vec(),
            version: self.version,
        }
    }
}

impl HeldRows {
    /// The changes that make all rows, in the order of their keys. Each row is given up with its change: there is hardly room for two of
    /// each.
    pub fn into_changes(self) -> impl Iterator<Item = Change> {
        let held = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        held.rows.into_iter().map(|(key, row)| {
            Change::Put(Put {
                key: key.into_string(),
                value: row.value.into_vec(),
                expires_at: row.expires_at,
            })
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for HeldRows {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let held = self.held();
        let entry = |key: &&str| held.rows.get(*key).map(Row::entry);
        Ok(keys.iter().map(entry).collect())
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let held = self.held();
        let rows = held.rows.range::<str, _>((start, Bound::Unbounded));
        let mut page = PageBuilder::new(limit);
        for (key, row) in rows.take_while(|(key, _)| key.starts_with(prefix)) {
            if !page.has_room(key.len() + row.value.len()) {
                break;
            }
            page.push(key.to_string(), row.entry());
        }
        Ok(page.finish())
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let mut held = self.held();
        for Check { key, requirement } in checks {
            let version = held.rows.get(key.as_str()).map(|row| row.version);
            if !holds(requirement, version) {
                return Err(CommitError::Conflict(key));
            }
        }
        held.commits += 1;
        let version = held.commits;
        for change in changes {
            match change {
                Change::Put(Put {
                    key,
                    value,
                    expires_at,
                }) => {
                    // Copied, and not cut off from what has been allocated for more: the cuttings would take as much again.
                    let row = Row {
                        value: value.as_slice().into(),
                        version,
                        expires_at,
                    };
                    held.rows.insert(key.as_str().into(), row);
                }
                Change::Delete(key) => {
                    held.rows.remove(key.as_str());
                }
            }
        }
        Ok(())
    }
}
