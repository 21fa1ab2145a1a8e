//! A pooler that lends its connections out for one statement each, as PgBouncer does with `pool_mode = statement` (SEC-S5).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gatehouse_ports::SystemClock;
use gatehouse_postgres_server::url;
use gatehouse_store::{Namespace, PostgresBackend, PostgresError, PostgresSettings, PrivateStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::postgres_databases::{Database, settings, shared_server};
use crate::subject::{keys, put, value};

/// Stands between a backend and the server, with two connections to the server for each of the backend's.
struct Pooler {
    port: u16,
    /// True if each statement gets the other connection than the one before. Until then all get the first one.
    alternates: Arc<AtomicBool>,
    _listening: JoinSet<()>,
}

impl Pooler {
    /// One that has both connections know prepared statements, as PgBouncer does since 1.21, or only the one that it happens to lend out.
    async fn start(alternates: bool, knows_prepared: bool) -> Self {
        let to = shared_server().await.port();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let alternates = Arc::new(AtomicBool::new(alternates));
        let mut listening = JoinSet::new();
        let lends = alternates.clone();
        listening.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(lend(client, to, lends.clone(), knows_prepared));
            }
        });
        Self {
            port,
            alternates,
            _listening: listening,
        }
    }

    fn settings(&self, database: &Database) -> PostgresSettings {
        let mut settings = settings(&url(self.port, &database.name));
        settings.connections = 1;
        settings
    }

    /// A store in the database behind it, over one connection.
    async fn store(&self, database: &Database) -> PrivateStore {
        let backend = PostgresBackend::open(&self.settings(database), Arc::new(SystemClock)).await;
        PrivateStore::new(Arc::new(backend.unwrap()), Namespace::Access)
    }
}

/// Reads messages up to the first of one of these types. Answers all of them, and their types.
async fn read_until(from: &mut TcpStream, last: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut messages, mut types) = (Vec::new(), Vec::new());
    while types.last().is_none_or(|kind| !last.contains(kind)) {
        let (kind, length) = (from.read_u8().await?, from.read_u32().await?);
        let begin = messages.len() + 5;
        messages.push(kind);
        messages.extend(length.to_be_bytes());
        messages.resize(begin + length as usize - 4, 0);
        from.read_exact(&mut messages[begin..]).await?;
        types.push(kind);
    }
    Ok((messages, types))
}

async fn lend(
    mut client: TcpStream,
    to: u16,
    alternates: Arc<AtomicBool>,
    knows_prepared: bool,
) -> Result<()> {
    let length = client.read_u32().await?;
    let mut startup = length.to_be_bytes().to_vec();
    startup.resize(length as usize, 0);
    client.read_exact(&mut startup[4..]).await?;
    let mut servers = Vec::new();
    let mut greeting = Vec::new();
    for _ in 0..2 {
        let mut server = TcpStream::connect(("127.0.0.1", to)).await?;
        server.write_all(&startup).await?;
        (greeting, _) = read_until(&mut server, b"Z").await?;
        servers.push(server);
    }
    client.write_all(&greeting).await?;
    let mut next = 0;
    loop {
        // A simple query, or a synchronization after the messages of an extended one.
        let (asked, types) = read_until(&mut client, b"QSX").await?;
        let executes = types.iter().any(|kind| b"QE".contains(kind));
        let mut lent = vec![next];
        if knows_prepared && !executes {
            lent.push(1 - next);
        } else if alternates.load(Ordering::Relaxed) {
            next = 1 - next;
        }
        let mut answer = Vec::new();
        for place in lent {
            servers[place].write_all(&asked).await?;
            (answer, _) = read_until(&mut servers[place], b"Z").await?;
        }
        client.write_all(&answer).await?;
    }
}

#[tokio::test]
async fn s5_a_database_behind_a_pooler_that_lends_by_statement_is_refused() {
    let database = Database::with_tables().await;
    for knows_prepared in [true, false] {
        let pooler = Pooler::start(true, knows_prepared).await;
        let settings = pooler.settings(&database);
        let opened = PostgresBackend::open(&settings, Arc::new(SystemClock)).await;
        for refused in [
            opened.unwrap_err(),
            PostgresBackend::migrate(&settings).await.unwrap_err(),
        ] {
            let is_told = matches!(refused, PostgresError::SessionLost);
            assert!(is_told, "{knows_prepared}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn s5_a_commit_that_a_pooler_gives_another_session_is_refused_and_says_why() {
    for knows_prepared in [true, false] {
        let database = Database::with_tables().await;
        let pooler = Pooler::start(false, knows_prepared).await;
        let store = pooler.store(&database).await;
        let commit = async |key: &str| store.commit(vec![], vec![put(key, "")]).await;
        commit("a").await.unwrap();
        pooler.alternates.store(true, Ordering::Relaxed);
        let mut applied = vec!["a"];
        for key in ["b", "c", "d", "e"] {
            match commit(key).await {
                Ok(()) => applied.push(key),
                Err(refused) => {
                    let text = refused.to_string();
                    assert!(text.contains("by session"), "{text}");
                }
            }
        }
        // The session that was lost is closed, and no other one comes about.
        assert_eq!(applied, ["a", "b"]);
        pooler.alternates.store(false, Ordering::Relaxed);
        let direct = database.open(Arc::new(SystemClock)).await.unwrap();
        let direct = PrivateStore::new(Arc::new(direct), Namespace::Access);
        assert_eq!(keys(&direct, "", 10).await, applied);
    }
}

#[tokio::test]
async fn s5_a_connection_that_a_pooler_has_given_another_session_for_good_serves_no_second_call() {
    for knows_prepared in [true, false] {
        let database = Database::with_tables().await;
        let pooler = Pooler::start(false, knows_prepared).await;
        let store = pooler.store(&database).await;
        let commit = async |key: &str| store.commit(vec![], vec![put(key, "")]).await;
        let moves = |moves: bool| pooler.alternates.store(moves, Ordering::Relaxed);
        commit("a").await.unwrap();
        // All statements after this one have the other session.
        moves(true);
        commit("b").await.unwrap();
        moves(false);
        let refused = commit("c").await.unwrap_err().to_string();
        assert!(refused.contains("by session"), "{refused}");
        commit("d").await.unwrap();
        assert_eq!(keys(&store, "", 10).await, ["a", "b", "d"]);

        if knows_prepared {
            // Of its session a read needs only the prepared statement.
            continue;
        }
        assert_eq!(value(&store, "a").await.as_deref(), Some(""));
        moves(true);
        assert_eq!(value(&store, "a").await.as_deref(), Some(""));
        moves(false);
        let refused = store.get(&["a"]).await.unwrap_err().to_string();
        assert!(refused.contains("by session"), "{refused}");
        assert_eq!(value(&store, "a").await.as_deref(), Some(""));
    }
}
