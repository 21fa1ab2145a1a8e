//! The embedder's store as a backend with one namespace, so that calls to it are checked like those to any other backend.

use std::future::ready;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError,
};
use gatehouse_store::{Answer, Backend, Namespace};

/// A store of the embedder's, whose answers are there at once.
pub(super) struct EmbeddersStore<S>(pub(super) S);

impl<S: Store + Send + Sync + 'static> Backend for EmbeddersStore<S> {
    fn get_changed<'a>(
        &'a self,
        _: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(ready(self.0.get_changed(keys)))
    }

    fn get<'a>(
        &'a self,
        _: Namespace,
        keys: &'a [&'a str],
    ) -> Answer<'a, Result<Vec<Option<Entry>>, StoreError>> {
        Box::pin(ready(self.0.get(keys)))
    }

    fn scan<'a>(
        &'a self,
        _: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(ready(self.0.scan(prefix, after, limit)))
    }

    fn commit(
        &self,
        _: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(ready(self.0.commit(checks, changes)))
    }
}
