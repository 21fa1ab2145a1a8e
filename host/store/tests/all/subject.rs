//! The backends under test.

use std::path::PathBuf;
use std::sync::Arc;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{Change, Check, CommitError, Put, Requirement, Version};
use gatehouse_spin_sqlite::Databases;
use gatehouse_store::{
    Backend, MemoryBackend, Namespace, PostgresBackend, PrivateStore, RedbBackend, RootKey,
    SealedBackend,
};
use gatehouse_wasi_key_value::KeyValue;
use tempfile::TempDir;

use crate::adapted::AdaptedBackend;
use crate::postgres_databases::Database;

/// Where every test's clock starts, in milliseconds since 1970.
pub const START: u64 = 1_000_000;

/// The backends that the suite is run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Redb,
    SealedMemory,
    SealedRedb,
    /// The component's adapter over a store of `wasi:keyvalue`.
    Adapter,
    /// The component's adapter over a database of `spin:sqlite`.
    SqliteAdapter,
    /// The component's adapter over a database of `spin:postgres`, which is one of its own.
    PostgresAdapter,
    /// A database of its own on the server of the tests.
    Postgres,
    SealedPostgres,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Memory,
        Self::Redb,
        Self::SealedMemory,
        Self::SealedRedb,
        Self::Adapter,
        Self::SqliteAdapter,
        Self::PostgresAdapter,
        Self::Postgres,
        Self::SealedPostgres,
    ];

    pub fn is_durable(self) -> bool {
        !matches!(self, Self::Memory | Self::SealedMemory)
    }
}

/// One backend, a clock to move, and what is needed to open it again.
pub struct Subject {
    pub kind: Kind,
    pub clock: Arc<ManualClock>,
    backend: Option<Arc<dyn Backend>>,
    directory: TempDir,
    /// The store below the adapter.
    key_value: KeyValue,
    /// The databases below the other adapter.
    sqlite: Databases,
    /// The database of the kinds that have one.
    database: Option<Database>,
}

impl Subject {
    pub async fn new(kind: Kind) -> Self {
        let mut subject = Self {
            kind,
            clock: Arc::new(ManualClock::at_seconds(START / 1000)),
            backend: None,
            directory: tempfile::tempdir().unwrap(),
            key_value: KeyValue::new(&Namespace::ALL.map(Namespace::label)),
            sqlite: Databases::new(&Namespace::ALL.map(Namespace::label)),
            database: match kind {
                Kind::PostgresAdapter | Kind::Postgres | Kind::SealedPostgres => {
                    Some(Database::with_tables().await)
                }
                _ => None,
            },
        };
        subject.open().await;
        subject
    }

    /// The store of one namespace.
    pub fn store_of(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.backend.clone().unwrap(), namespace)
    }

    /// The store that most scenarios use.
    pub fn store(&self) -> PrivateStore {
        self.store_of(Namespace::Access)
    }

    /// Closes the file and opens it again. No store handed out before may be left.
    pub async fn reopen(&mut self) {
        assert!(self.kind.is_durable());
        self.backend = None;
        self.open().await;
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("store.redb")
    }

    async fn open(&mut self) {
        let clock = self.clock.clone();
        let memory = || MemoryBackend::new(clock.clone());
        let file = || RedbBackend::open(&self.path(), clock.clone()).unwrap();
        self.backend = Some(match self.kind {
            Kind::Memory => Arc::new(memory()),
            Kind::Redb => Arc::new(file()),
            Kind::SealedMemory => self.sealed(memory()).await,
            Kind::SealedRedb => self.sealed(file()).await,
            Kind::Postgres => Arc::new(self.connected().await),
            Kind::SealedPostgres => self.sealed(self.connected().await).await,
            Kind::Adapter => {
                let client = self.key_value.another_client();
                Arc::new(AdaptedBackend::over_key_value(&client, &self.clock))
            }
            Kind::SqliteAdapter => {
                let client = self.sqlite.another_client();
                Arc::new(AdaptedBackend::over_sqlite(&client, &self.clock))
            }
            Kind::PostgresAdapter => {
                let database = self.database.as_ref().unwrap();
                Arc::new(AdaptedBackend::over_postgres(
                    &database.settings.url,
                    &self.clock,
                ))
            }
        });
    }

    async fn connected(&self) -> PostgresBackend {
        let database = self.database.as_ref().unwrap();
        database.open(self.clock.clone()).await.unwrap()
    }

    async fn sealed(&self, backend: impl Backend) -> Arc<dyn Backend> {
        let sealed = SealedBackend::new(backend, self.clock.clone());
        sealed.unseal(&root_key()).await.unwrap();
        Arc::new(sealed)
    }
}

/// The root key of all tests.
pub fn root_key() -> RootKey {
    RootKey::from_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap()
}

pub fn put(key: &str, value: &str) -> Change {
    put_until(key, value, None)
}

pub fn put_until(key: &str, value: &str, expires_at: Option<u64>) -> Change {
    Change::Put(Put {
        key: key.to_owned(),
        value: value.as_bytes().to_vec(),
        expires_at,
    })
}

pub fn delete(key: &str) -> Change {
    let key = key.to_owned();
    Change::Delete(key)
}

pub fn absent(key: &str) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::Absent,
    }
}

pub fn at_version(key: &str, version: Version) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::AtVersion(version),
    }
}

pub fn conflict(key: &str) -> Result<(), CommitError> {
    Err(CommitError::Conflict(key.to_owned()))
}

/// The value under `key`, as text.
pub async fn value(store: &PrivateStore, key: &str) -> Option<String> {
    let entry = store.get(&[key]).await.unwrap().remove(0)?;
    Some(String::from_utf8(entry.value).unwrap())
}

/// The version of the entry under `key`, which must be there.
pub async fn version(store: &PrivateStore, key: &str) -> Version {
    store.get(&[key]).await.unwrap().remove(0).unwrap().version
}

/// The keys of all entries, read in pages of `limit`.
pub async fn keys(store: &PrivateStore, prefix: &str, limit: u32) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    loop {
        let after = keys.last().map(String::as_str);
        let page = store.scan(prefix, after, limit).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        keys.extend(page.items.into_iter().map(|item| item.key));
        if !page.more {
            return keys;
        }
    }
}
