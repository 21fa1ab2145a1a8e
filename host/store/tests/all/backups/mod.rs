//! Backups: made, verified and restored (SEC-S11).

mod altered;
mod interrupted;
mod restored;
mod under_spin;
mod under_spin_postgres;

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_store::{
    Backend, BackupError, Inventory, MemoryBackend, Namespace, PrivateStore, RedbBackend,
    Restoration, RestoredSeal, RootKey, SealedBackend, SharedClock, StoredEntry,
};

use crate::postgres_databases::Database;
use crate::subject::{put, put_until, root_key};

/// A backend of any kind, below a barrier.
type Below = Arc<dyn Backend>;

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

fn memory() -> Below {
    Arc::new(MemoryBackend::new(clock()))
}

fn file(folder: &Path) -> Below {
    Arc::new(RedbBackend::open(&folder.join("store.redb"), clock()).unwrap())
}

async fn database(database: &Database) -> Below {
    Arc::new(database.open(clock()).await.unwrap())
}

fn above(below: &Below) -> Arc<SealedBackend<Below>> {
    Arc::new(SealedBackend::new(Arc::clone(below), clock()))
}

/// An open store above `below`.
async fn open(below: &Below) -> Arc<SealedBackend<Below>> {
    let sealed = above(below);
    sealed.unseal(&root_key()).await.unwrap();
    sealed
}

fn private(sealed: &Arc<SealedBackend<Below>>, namespace: Namespace) -> PrivateStore {
    let backend: Arc<dyn Backend> = sealed.clone();
    PrivateStore::new(backend, namespace)
}

/// Some records in every namespace that callers have.
async fn fill(sealed: &Arc<SealedBackend<Below>>) {
    let far = 10_000_000_000_000;
    for namespace in [
        Namespace::AuthMethod,
        Namespace::Access,
        Namespace::Orgs,
        Namespace::Host,
    ] {
        let store = private(sealed, namespace);
        let label = namespace.label();
        let changes = vec![
            put("a", label),
            put("a/b", ""),
            put_until("ends", "later", Some(far)),
            put("~", &"long ".repeat(300)),
        ];
        store.commit(vec![], changes).await.unwrap();
    }
}

/// All bytes of a backup of an open store.
async fn backup(sealed: &SealedBackend<Below>) -> Result<Vec<u8>, BackupError> {
    let mut backup = sealed.begin_backup(Some("an id".to_owned())).await?;
    let mut file = Vec::new();
    while let Some(part) = backup.next().await? {
        assert!(part.len() < 4 * 1024 * 1024, "parts are bounded");
        file.extend(part);
        assert_eq!(backup.bytes(), file.len() as u64);
    }
    let inventory = backup.inventory().unwrap();
    assert_eq!(inventory.bytes, file.len() as u64);
    assert_eq!(inventory.summary.total(), backup.records());
    assert!(backup.next().await.unwrap().is_none(), "it stays complete");
    Ok(file)
}

async fn small_backup() -> Vec<u8> {
    let below = memory();
    let sealed = open(&below).await;
    let first = vec![put("k", "v"), put("l", "w")];
    let access = private(&sealed, Namespace::Access);
    access.commit(vec![], first).await.unwrap();
    let second = vec![put("m", "x")];
    let orgs = private(&sealed, Namespace::Orgs);
    orgs.commit(vec![], second).await.unwrap();
    backup(&sealed).await.unwrap()
}

fn verify(file: &[u8], key: Option<&RootKey>) -> Result<Inventory, BackupError> {
    gatehouse_store::verify_backup(file, key, |_| {})
}

async fn begin(
    file: &[u8],
    below: &Below,
    key: &RootKey,
) -> Result<Restoration<Below>, BackupError> {
    Restoration::begin(Cursor::new(file), Arc::clone(below), clock(), key, |_| {}).await
}

/// Restores a backup with the key and the seal that it was made with.
async fn restore(file: &[u8], below: &Below) -> Result<Inventory, BackupError> {
    let restoration = begin(file, below, &root_key()).await?;
    restoration.finish(RestoredSeal::AsItWas, None).await
}

/// Everything that a backend holds, as it is stored.
async fn content(below: &Below) -> Vec<(Namespace, StoredEntry)> {
    let mut snapshot = below.snapshot().await.unwrap();
    let mut all = Vec::new();
    for namespace in Namespace::ALL {
        let mut after: Option<String> = None;
        loop {
            let page = snapshot.page(namespace, after.as_deref()).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            all.extend(page.into_iter().map(|entry| (namespace, entry)));
        }
    }
    all
}
