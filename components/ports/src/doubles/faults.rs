//! Ports that fail when they are told to.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Change, Check, CommitError, Entry, Page, Random, RandomError, Store, StoreError};

/// A store of which one call fails.
pub struct FaultyStore<S> {
    store: S,
    fails_at: usize,
    calls: AtomicUsize,
}

impl<S: Store> FaultyStore<S> {
    /// Its call number `fails_at`, counted from 0, fails.
    #[must_use]
    pub const fn failing_at(store: S, fails_at: usize) -> Self {
        Self {
            store,
            fails_at,
            calls: AtomicUsize::new(0),
        }
    }

    fn call(&self) -> Result<(), StoreError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.fails_at {
            return Err(StoreError::Unavailable("pulled".to_owned()));
        }
        Ok(())
    }
}

impl<S: Store> Store for FaultyStore<S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.call()?;
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.call()?;
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
