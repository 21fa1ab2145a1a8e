//! A store that lets other threads run before each of its steps, so that callers overlap as they do on sockets. It can be made to violate its
//! guarantees.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gatehouse_ports::doubles::{ManualClock, MemoryStore};
use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};

/// The fault of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// No fault.
    Nothing,
    /// Every commit is made, regardless of its checks.
    Checks,
    /// One commit in five is acknowledged but not made.
    Changes,
}

pub struct EagerStore {
    store: MemoryStore<&'static ManualClock>,
    failing: Failing,
    commits: AtomicU64,
}

impl EagerStore {
    pub fn new(clock: &'static ManualClock, failing: Failing) -> Self {
        Self {
            store: MemoryStore::new(clock),
            failing,
            commits: AtomicU64::new(0),
        }
    }
}

impl Store for EagerStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        thread::yield_now();
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        thread::yield_now();
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        thread::yield_now();
        let number = self.commits.fetch_add(1, Ordering::Relaxed);
        match self.failing {
            Failing::Checks => self.store.commit(Vec::new(), changes),
            Failing::Changes if number % 5 == 4 => Ok(()),
            Failing::Nothing | Failing::Changes => self.store.commit(checks, changes),
        }
    }
}
