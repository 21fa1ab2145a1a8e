//! The durable store of a server that is not running, filled without a request for each record.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError, SystemClock,
};
use gatehouse_store::{
    Backend, Namespace, PrivateStore, RedbBackend, SealedBackend, read_key_file,
};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Changes that are committed together: about as many as a store takes.
const CHANGES_AT_ONCE: usize = 1000;
/// Commits under way at one time, which the backend makes durable together.
const COMMITS_AT_ONCE: usize = 64;

/// The store of one component. Dropping it closes the file.
pub struct StoppedStore {
    runtime: Runtime,
    store: PrivateStore,
}

impl StoppedStore {
    /// Opens what belongs to `namespace` in the installation in this folder.
    ///
    /// # Errors
    ///
    /// When the server runs, or its file or key cannot be read.
    pub fn open(installation: &Path, namespace: Namespace) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let clock = Arc::new(SystemClock);
        let file = installation.join("data").join("gatehouse.redb");
        let sealed = SealedBackend::new(RedbBackend::open(&file, clock.clone())?, clock);
        let key = read_key_file(&installation.join("seal.key"))?;
        runtime.block_on(sealed.unseal(&key))?;
        let backend: Arc<dyn Backend> = Arc::new(sealed);
        let store = PrivateStore::new(backend, namespace);
        Ok(Self { runtime, store })
    }

    /// Commits changes and waits until they are durable. They come in the order of their keys: a tree that is filled in another order
    /// writes every page of it again and again.
    ///
    /// # Errors
    ///
    /// When one of the commits fails.
    pub fn fill(&self, changes: impl IntoIterator<Item = Change>) -> Result<()> {
        let mut changes = changes.into_iter().peekable();
        self.runtime.block_on(async {
            let mut commits = JoinSet::new();
            while changes.peek().is_some() {
                let together: Vec<Change> = changes.by_ref().take(CHANGES_AT_ONCE).collect();
                let store = self.store.clone();
                commits.spawn(async move { store.commit(Vec::new(), together).await });
                if commits.len() >= COMMITS_AT_ONCE
                    && let Some(committed) = commits.join_next().await
                {
                    committed??;
                }
            }
            while let Some(committed) = commits.join_next().await {
                committed??;
            }
            Ok(())
        })
    }
}

impl Store for StoppedStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.runtime.block_on(self.store.get(keys))
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.runtime.block_on(self.store.get_changed(keys))
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.runtime.block_on(self.store.scan(prefix, after, limit))
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.runtime.block_on(self.store.commit(checks, changes))
    }
}
