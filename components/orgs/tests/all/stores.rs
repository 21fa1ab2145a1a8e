//! A store that fails after a number of commits.

use std::cell::Cell;
use std::rc::Rc;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError,
};

/// A store whose power fails after a number of commits: nothing that comes later is stored, or answered.
pub struct FailingStore<'s, S> {
    pub store: &'s S,
    pub commits_left: Rc<Cell<u32>>,
}

impl<S: Store> Store for FailingStore<'_, S> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.store.get(keys)
    }

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        self.store.get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let left = self.commits_left.get();
        if left == 0 {
            let gone = StoreError::Unavailable("power failed".to_owned());
            return Err(CommitError::Failed(gone));
        }
        self.commits_left.set(left - 1);
        self.store.commit(checks, changes)
    }
}
