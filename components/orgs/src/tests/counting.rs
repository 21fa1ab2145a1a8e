//! A store that counts what it is asked.

use std::cell::Cell;

use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};

/// Counts keys that are read.
pub(super) struct CountingStore<'s, S> {
    store: &'s S,
    reads: Cell<usize>,
}

impl<'s, S> CountingStore<'s, S> {
    pub(super) const fn new(store: &'s S) -> Self {
        let reads = Cell::new(0);
        Self { store, reads }
    }

    pub(super) const fn reads(&self) -> usize {
        self.reads.get()
    }
}

impl<S: Store> Store for &CountingStore<'_, S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.reads.set(self.reads.get() + keys.len());
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.reads.set(self.reads.get() + 1);
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.store.commit(checks, changes)
    }
}
