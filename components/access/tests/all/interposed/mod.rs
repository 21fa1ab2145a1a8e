//! A store between a capability and its store, which decides what becomes of each commit.

use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_access::AccessService;
use gatehouse_ports::doubles::{FaultyStore, ManualClock, SeededRandom};
use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};

use super::server::{Server, TestStore};

/// The outcome of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The store decides.
    Asked,
    /// It never reaches the store, which is said to have failed.
    Lost,
    /// The store decides, and is said to have failed.
    Unknown,
}

/// Decides over the commit of this number, counted from 0, that would change these keys; it may also do something else first.
type Arbiter = dyn Fn(u64, &[Change]) -> Fate + Send + Sync;

pub struct Interposed {
    store: &'static TestStore,
    commits: AtomicU64,
    arbiter: Box<Arbiter>,
}

pub type InterposedService =
    AccessService<&'static Interposed, &'static ManualClock, &'static SeededRandom>;

type StoppingService = AccessService<
    &'static FaultyStore<&'static TestStore>,
    &'static ManualClock,
    &'static SeededRandom,
>;

/// Another instance over the store of `server`, whose commits `arbiter` decides over.
pub fn interposed(
    server: &Server,
    arbiter: impl Fn(u64, &[Change]) -> Fate + Send + Sync + 'static,
) -> InterposedService {
    let store: &'static Interposed = Box::leak(Box::new(Interposed {
        store: server.store,
        commits: AtomicU64::new(0),
        arbiter: Box::new(arbiter),
    }));
    AccessService::new(store, server.clock, server.random)
}

/// Another instance, whose store is gone after this many commits.
pub fn stopping_after(server: &Server, commits: u32) -> StoppingService {
    let store = FaultyStore::stopping_after(server.store, commits);
    AccessService::new(Box::leak(Box::new(store)), server.clock, server.random)
}

impl Store for Interposed {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        let failed = || StoreError::Unavailable("interposed".to_owned()).into();
        match (self.arbiter)(number, &changes) {
            Fate::Asked => self.store.commit(checks, changes),
            Fate::Lost => Err(failed()),
            Fate::Unknown => {
                self.store.commit(checks, changes)?;
                Err(failed())
            }
        }
    }
}
