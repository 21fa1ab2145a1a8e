//! One namespace of a backend, as a component sees it.

use std::fmt;
use std::sync::Arc;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, StoreError, limits,
};

use crate::{Backend, Namespace};

/// The store of one component: cheap to clone, and unable to name any other namespace.
///
/// This is where the limits of the WIT interface are enforced, for every backend alike.
#[derive(Clone)]
pub struct PrivateStore {
    backend: Arc<dyn Backend>,
    namespace: Namespace,
}

impl PrivateStore {
    /// The part of `backend` that belongs to `namespace`.
    pub fn new(backend: Arc<dyn Backend>, namespace: Namespace) -> Self {
        Self { backend, namespace }
    }

    /// Reads the entries of `keys`, at one point in time, in their order; `None` where there is none or its time has come.
    ///
    /// # Errors
    ///
    /// When the question is malformed, the store is sealed or out of order, or an entry cannot be trusted.
    pub async fn get<K: AsRef<str> + Sync>(
        &self,
        keys: &[K],
    ) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        limits::check_get(keys.iter().copied())?;
        self.backend.get(self.namespace, &keys).await
    }

    /// Reads the entries of `keys` like [`Self::get`], without those that are still at the version held.
    ///
    /// # Errors
    ///
    /// When the question is malformed, the store is sealed or out of order, or an entry cannot be trusted.
    pub async fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        limits::check_get(keys.iter().map(|held| held.key.as_str()))?;
        self.backend.get_changed(self.namespace, keys).await
    }

    /// Reads entries whose key starts with `prefix` and is greater than `after`, in byte order, at most `limit` of them. A page
    /// also ends, with `more` set, once its values come to some mebibytes.
    ///
    /// # Errors
    ///
    /// When the question is malformed, the store is sealed or out of order, or an entry cannot be trusted.
    pub async fn scan(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        limits::check_scan(prefix, after, limit)?;
        let answer = self.backend.scan(self.namespace, prefix, after, limit);
        answer.await
    }

    /// Applies all `changes` durably if every check holds, and otherwise nothing. When the returned future is dropped before it
    /// is done, the commit may still be applied.
    ///
    /// # Errors
    ///
    /// When a check did not hold, the question is malformed, or the store is sealed or out of order.
    pub async fn commit(
        &self,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Result<(), CommitError> {
        limits::check_commit(&checks, &changes)?;
        self.backend.commit(self.namespace, checks, changes).await
    }
}

impl fmt::Debug for PrivateStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PrivateStore")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
