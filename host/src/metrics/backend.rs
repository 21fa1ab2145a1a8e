//! A backend whose commits are counted.

use std::sync::Arc;
use std::time::Instant;

use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, StoreError};
use gatehouse_store::{Answer, Backend, Namespace};

use super::ServerMetrics;

/// Counts commits and times them.
pub struct MeteredBackend<B> {
    backend: B,
    metrics: Arc<ServerMetrics>,
}

impl<B: Backend> MeteredBackend<B> {
    /// `backend`, with its commits counted in `metrics`.
    pub const fn new(backend: B, metrics: Arc<ServerMetrics>) -> Self {
        Self { backend, metrics }
    }
}

impl<B: Backend> Backend for MeteredBackend<B> {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        self.backend.get_changed(namespace, keys)
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        self.backend.scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        let started = Instant::now();
        let commit = self.backend.commit(namespace, checks, changes);
        Box::pin(async move {
            let outcome = commit.await;
            let word = match &outcome {
                Ok(()) => "committed",
                Err(CommitError::Conflict(_)) => "conflict",
                Err(CommitError::Failed(_)) => "failed",
            };
            self.metrics.committed(word, started.elapsed());
            outcome
        })
    }
}
