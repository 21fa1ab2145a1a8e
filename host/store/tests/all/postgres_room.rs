//! A database server that has no room left, on its disk or for connections.

use std::sync::Arc;

use gatehouse_ports::{CommitError, StoreError, SystemClock};
use gatehouse_postgres_server::PostgresServer;
use gatehouse_store::{Namespace, PostgresError, PrivateStore};

use crate::postgres_databases::Database;
use crate::subject::{keys, put, value};

/// The size of a segment of the server's log, so that the log can grow where a table cannot.
const MOST_OF_A_FILE: u64 = 16 << 20;
const LARGE: usize = 1 << 20;

async fn store(database: &Database) -> PrivateStore {
    let backend = database.open(Arc::new(SystemClock)).await.unwrap();
    PrivateStore::new(Arc::new(backend), Namespace::Access)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_a_full_disk_refuses_whole_commits_and_loses_nothing() {
    let server = PostgresServer::start(&[]).await;
    let database = Database::with_tables_of(&server).await;
    server.limit_files(Some(MOST_OF_A_FILE));
    let store = store(&database).await;
    let large = "large".repeat(LARGE / 5);
    let mut kept = Vec::new();
    let refused = loop {
        let number = kept.len();
        let names = [format!("large/{number}"), format!("small/{number}")];
        let changes = vec![put(&names[0], &large), put(&names[1], "small")];
        match store.commit(vec![], changes).await {
            Ok(()) => kept.push(names),
            Err(refused) => break refused,
        }
        assert!(kept.len() < 64, "the disk does not fill");
    };
    let CommitError::Failed(StoreError::Unavailable(text)) = &refused else {
        panic!("{refused:?}");
    };
    assert!(text.contains("could not extend file"), "{text}");
    assert!(!text.contains(&large[..64]));

    // Nothing of the refused commit is there, all of the others is, and a commit that needs no new room is still applied.
    let mut expected: Vec<String> = kept.iter().flatten().cloned().collect();
    expected.sort_unstable();
    assert_eq!(keys(&store, "", 100).await, expected);
    store
        .commit(vec![], vec![put("small/0", "changed")])
        .await
        .unwrap();
    assert_eq!(value(&store, "small/0").await.as_deref(), Some("changed"));

    server.limit_files(None);
    let after = vec![put("large/after", &large)];
    assert_eq!(store.commit(vec![], after).await, Ok(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_database_without_a_connection_to_spare_says_so_and_serves_again() {
    // Three are kept for superusers by default, as the owner of these tests is.
    let server = PostgresServer::start(&["max_connections=8"]).await;
    let database = Database::with_tables_of(&server).await;
    let store = store(&database).await;
    let mut others = Vec::new();
    while let Ok(client) = gatehouse_postgres_server::connect(&database.settings.url).await {
        others.push(client);
        assert!(others.len() < 64, "the connections do not run out");
    }
    let refused = store.commit(vec![], vec![put("a", "1")]).await;
    let CommitError::Failed(StoreError::Unavailable(text)) = refused.unwrap_err() else {
        panic!("a store without a connection is unavailable");
    };
    assert!(text.contains("too many clients"), "{text}");
    assert!(text.contains("raise max_connections"), "{text}");
    let not_opened = database.open(Arc::new(SystemClock)).await.unwrap_err();
    assert!(
        matches!(&not_opened, PostgresError::Unreachable(text) if text.contains("raise max_connections")),
        "{not_opened:?}"
    );
    others.clear();
    let mut outcome = store.commit(vec![], vec![put("a", "1")]).await;
    for _ in 0..100 {
        // The server needs a moment to see that the others are gone.
        if outcome.is_ok() {
            break;
        }
        outcome = store.commit(vec![], vec![put("a", "1")]).await;
    }
    assert_eq!(outcome, Ok(()));
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
}
