//! A store for code that waits for its answers, as the rules of the components do.

use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};
use gatehouse_store::PrivateStore;

/// One part of a backend, for a thread that may wait: never one that drives the runtime.
#[derive(Debug, Clone)]
pub struct BlockingStore(PrivateStore);

impl BlockingStore {
    /// The store that waits for `store`.
    #[must_use]
    pub const fn new(store: PrivateStore) -> Self {
        Self(store)
    }
}

impl Store for BlockingStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        pollster::block_on(self.0.get(keys))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        pollster::block_on(self.0.scan(prefix, after, limit))
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        pollster::block_on(self.0.commit(checks, changes))
    }
}
