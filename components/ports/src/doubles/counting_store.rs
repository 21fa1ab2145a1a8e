//! A store that counts.

use std::sync::{Mutex, PoisonError};

use crate::{Change, Check, CommitError, Difference, Entry, HeldKey, Page, Put, Store, StoreError};

/// How much a store was asked, and how much it answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Calls that read keys, any number of them.
    pub gets: usize,
    /// Keys that were read one by one.
    pub keys_read: usize,
    /// Scans.
    pub scans: usize,
    /// Commits, also those that failed.
    pub commits: usize,
    /// Checks in all commits.
    pub checks: usize,
    /// Changes in all commits.
    pub changes: usize,
    /// Bytes in the values that all commits put.
    pub written_bytes: usize,
    /// Bytes in the values of all answers.
    pub value_bytes: usize,
    /// Bytes in the values of the answer that has the most.
    pub largest_answer: usize,
}

impl StoreCounts {
    /// Reads of one key and scans.
    #[must_use]
    pub const fn reads(self) -> usize {
        self.keys_read + self.scans
    }

    /// Calls that read, and calls that commit.
    #[must_use]
    pub const fn calls(self) -> (usize, usize) {
        (self.gets + self.scans, self.commits)
    }
}

/// Counts what is asked of the store beneath.
#[derive(Debug)]
pub struct CountingStore<S> {
    store: S,
    counts: Mutex<StoreCounts>,
}

impl<S> CountingStore<S> {
    /// Counts what is asked of `store` from now on.
    pub fn new(store: S) -> Self {
        let counts = Mutex::default();
        Self { store, counts }
    }

    /// The counts of what was asked since the last call.
    pub fn take_counts(&self) -> StoreCounts {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *counts)
    }

    fn count(&self, note: impl FnOnce(&mut StoreCounts)) {
        note(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn count_answer<'a>(&self, entries: impl Iterator<Item = &'a Entry>) {
        let bytes = entries.map(|entry| entry.value.len()).sum();
        self.count(|counts| {
            counts.value_bytes += bytes;
            counts.largest_answer = counts.largest_answer.max(bytes);
        });
    }
}

impl<S: Store> Store for CountingStore<S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.count(|counts| {
            counts.gets += 1;
            counts.keys_read += keys.len();
        });
        let entries = self.store.get(keys)?;
        self.count_answer(entries.iter().flatten());
        Ok(entries)
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.count(|counts| {
            counts.gets += 1;
            counts.keys_read += keys.len();
        });
        let differences = self.store.get_changed(keys)?;
        self.count_answer(
            differences
                .iter()
                .filter_map(|difference| match difference {
                    Difference::Changed(entry) => Some(entry),
                    Difference::Absent | Difference::Unchanged => None,
                }),
        );
        Ok(differences)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.count(|counts| counts.scans += 1);
        let page = self.store.scan(prefix, after, limit)?;
        self.count_answer(page.items.iter().map(|item| &item.entry));
        Ok(page)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let written = changes.iter().map(|change| match change {
            Change::Put(Put { value, .. }) => value.len(),
            Change::Delete(_) => 0,
        });
        let written: usize = written.sum();
        self.count(|counts| {
            counts.commits += 1;
            counts.checks += checks.len();
            counts.changes += changes.len();
            counts.written_bytes += written;
        });
        self.store.commit(checks, changes)
    }
}
