//! Ports that fail when they are told to.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Random, RandomError, Store,
    StoreError,
};

/// A store that fails at one call, or from one commit on.
pub struct FaultyStore<S> {
    store: S,
    calls: AtomicUsize,
    fails_at: Option<usize>,
    commits_left: AtomicU32,
}

impl<S: Store> FaultyStore<S> {
    /// Its call number `call`, counted from 0, fails, and no other one.
    #[must_use]
    pub fn failing_at(store: S, call: usize) -> Self {
        Self {
            fails_at: Some(call),
            ..Self::stopping_after(store, u32::MAX)
        }
    }

    /// Its power fails after this many commits: it still reads, and stores nothing that comes later.
    #[must_use]
    pub const fn stopping_after(store: S, commits: u32) -> Self {
        Self {
            store,
            calls: AtomicUsize::new(0),
            fails_at: None,
            commits_left: AtomicU32::new(commits),
        }
    }

    /// How many commits it would still take.
    #[must_use]
    pub fn commits_left(&self) -> u32 {
        self.commits_left.load(Ordering::SeqCst)
    }

    fn call(&self) -> Result<(), StoreError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.fails_at == Some(call) {
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

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.call()?;
        self.store.get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.call()?;
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.call()?;
        let one_less = |left: u32| left.checked_sub(1);
        self.commits_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .map_err(|_| StoreError::Unavailable("power failed".to_owned()))?;
        self.store.commit(checks, changes)
    }
}

/// A store that answers everything with one failure: it is sealed, out of reach or damaged.
#[derive(Debug, Clone)]
pub struct BrokenStore(pub StoreError);

impl Store for BrokenStore {
    fn get(&self, _: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        Err(self.0.clone())
    }

    fn scan(&self, _: &str, _: Option<&str>, _: u32) -> Result<Page, StoreError> {
        Err(self.0.clone())
    }

    fn commit(&self, _: Vec<Check>, _: Vec<Change>) -> Result<(), CommitError> {
        Err(CommitError::Failed(self.0.clone()))
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
