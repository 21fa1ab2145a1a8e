//! Ports that fail when they are told to, and count what they are asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Change, Check, CommitError, Entry, Page, Random, RandomError, Store, StoreError};

/// A store of which one call fails, and that counts its calls.
pub struct FaultyStore<S> {
    store: S,
    fails_at: usize,
    calls: AtomicUsize,
    reads: AtomicUsize,
}

impl<S: Store> FaultyStore<S> {
    /// Its call number `fails_at`, counted from 0, fails.
    #[must_use]
    pub const fn failing_at(store: S, fails_at: usize) -> Self {
        Self {
            store,
            fails_at,
            calls: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
        }
    }

    /// No call fails.
    #[must_use]
    pub const fn counting(store: S) -> Self {
        Self::failing_at(store, usize::MAX)
    }

    /// The number of reads and the number of commits since the last time.
    pub fn take(&self) -> (usize, usize) {
        let reads = self.reads.swap(0, Ordering::SeqCst);
        (reads, self.calls.swap(0, Ordering::SeqCst) - reads)
    }

    fn call(&self) -> Result<(), StoreError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.fails_at {
            return Err(StoreError::Unavailable("pulled".to_owned()));
        }
        Ok(())
    }

    fn read(&self) -> Result<(), StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.call()
    }
}

impl<S: Store> Store for FaultyStore<S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.read()?;
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.read()?;
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.call()?;
        self.store.commit(checks, changes)
    }
}

/// A source without randomness.
#[derive(Debug, Clone, Copy)]
pub struct NoRandom;

impl Random for NoRandom {
    fn fill(&self, _: &mut [u8]) -> Result<(), RandomError> {
        Err(RandomError)
    }
}
