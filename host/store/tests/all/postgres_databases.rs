//! Databases for the tests that run at one time, most of them on one PostgreSQL server for all of the program.

use std::sync::{Arc, Mutex};

use gatehouse_postgres_server::{PostgresServer, connect};
use gatehouse_store::{PostgresBackend, PostgresError, PostgresSettings, SharedClock};
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;
use tokio_postgres::Client;

/// Ends what an earlier test has left running in a database, and empties its tables.
const CLEAR: &str = "
    select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
    delete from gatehouse.entry;
    delete from gatehouse.outcome;
    delete from gatehouse.node;
    delete from gatehouse.lease;
    drop schema if exists gatehouse_spin cascade";

/// The password of every backend of these tests. Servers ask for none unless a test has one do that; no message may hold it.
pub const PASSWORD: &str = "not-the-right-one";

/// The server that most tests share.
pub async fn shared_server() -> &'static PostgresServer {
    static SERVER: OnceCell<PostgresServer> = OnceCell::const_new();
    SERVER.get_or_init(|| PostgresServer::start(&[])).await
}

/// Databases with empty tables that were of earlier tests: making one takes longer than most tests.
static USED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The settings of a backend.
pub fn settings(url: &str) -> PostgresSettings {
    settings_with(url, RootCertStore::empty())
}

/// The same, with these certificates trusted.
pub fn settings_with(url: &str, roots: RootCertStore) -> PostgresSettings {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    PostgresSettings {
        url: url.to_owned(),
        password: Some(PASSWORD.to_owned().into()),
        tls: Arc::new(tls),
        connections: 8,
    }
}

/// A database of one test.
pub struct Database {
    pub name: String,
    pub settings: PostgresSettings,
    is_used_again: bool,
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.is_used_again {
            USED.lock().unwrap().push(self.name.clone());
        }
    }
}

impl Database {
    /// An empty database of `server`.
    pub async fn empty(server: &PostgresServer) -> Self {
        let name = server.create_database().await;
        Self {
            settings: settings(&server.url(&name)),
            name,
            is_used_again: false,
        }
    }

    /// A database of `server` in which a store can be opened, and which no other test uses later.
    pub async fn with_tables_of(server: &PostgresServer) -> Self {
        let database = Self::empty(server).await;
        PostgresBackend::migrate(&database.settings).await.unwrap();
        database
    }

    /// A database on the shared server in which a store can be opened.
    pub async fn with_tables() -> Self {
        let server = shared_server().await;
        let used = USED.lock().unwrap().pop();
        let Some(name) = used else {
            let mut database = Self::with_tables_of(server).await;
            database.is_used_again = true;
            return database;
        };
        let database = Self {
            settings: settings(&server.url(&name)),
            name,
            is_used_again: true,
        };
        let client = database.connect().await;
        client.batch_execute(CLEAR).await.unwrap();
        database
    }

    pub async fn open(&self, clock: SharedClock) -> Result<PostgresBackend, PostgresError> {
        PostgresBackend::open(&self.settings, clock).await
    }

    /// A connection past the backend.
    pub async fn connect(&self) -> Client {
        connect(&self.settings.url).await.unwrap()
    }
}
