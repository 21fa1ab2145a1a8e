//! The rows that the database reads for a call, before it has counted its tables: no more than the call names.

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::SystemClock;
use gatehouse_postgres_server::PostgresServer;
use gatehouse_store::{Namespace, PostgresBackend, PrivateStore};
use tokio_postgres::Client;

use crate::postgres_databases::{Database, settings};
use crate::subject::{absent, delete, put};

/// Entries beside those that are asked for.
const ENTRIES: i64 = 4_000;
const CALLS: i64 = 40;
/// Rows that a call may read: the keys that it names, once to check, once to write, and once in the index.
const ROWS_OF_A_CALL: i64 = 8;

/// Rows that were read by way of an index since the server began, or straight from the table.
async fn rows_read(client: &Client) -> i64 {
    let read = "
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
            + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'entry'))::int8
        from pg_stat_user_tables where relname = 'entry'";
    client.query_one(read, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_reads_the_rows_that_it_names_among_many_that_were_not_counted() {
    let server = PostgresServer::start(&["autovacuum=off"]).await;
    let database = Database::empty(&server).await;
    let settings = settings(&database.settings.url);
    PostgresBackend::migrate(&settings).await.unwrap();
    let client = database.connect().await;
    let fill = format!(
        "insert into gatehouse.entry
        select 2, 'token/' || md5(i::text), '', i, null from generate_series(1, {ENTRIES}) i"
    );
    client.batch_execute(&fill).await.unwrap();
    let before = rows_read(&client).await;

    let backend = PostgresBackend::open(&settings, Arc::new(SystemClock)).await;
    let store = PrivateStore::new(Arc::new(backend.unwrap()), Namespace::Access);
    for number in 0..CALLS {
        let name = format!("token/{number}");
        let checks = vec![absent(&name), absent("token/other")];
        let made = store.commit(checks, vec![put(&name, "made")]).await;
        assert_eq!(made, Ok(()));
        let found = store.get(&[&name, "token/none"]).await.unwrap();
        assert!(found[0].is_some() && found[1].is_none());
        let page = store.scan("token/", Some(&name), 1).await.unwrap();
        assert_eq!(page.items.len(), 1);
        let ended = store.commit(vec![], vec![delete(&name)]).await;
        assert_eq!(ended, Ok(()));
    }
    // A session says what it has read when it ends.
    drop(store);
    let mut read = 0;
    for _ in 0..600 {
        read = rows_read(&client).await - before;
        if read >= 3 * CALLS {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let calls = 4 * CALLS;
    assert!(
        (3 * CALLS..calls * ROWS_OF_A_CALL).contains(&read),
        "{calls} calls read {read} rows"
    );
}

#[tokio::test]
async fn keys_are_in_byte_order_whatever_order_the_database_has_for_text() {
    let database = Database::with_tables().await;
    let client = database.connect().await;
    let columns = client
        .query(
            "select table_name || '.' || column_name from information_schema.columns
             where table_schema = 'gatehouse' and data_type = 'text' and collation_name = 'C'",
            &[],
        )
        .await
        .unwrap();
    let columns: Vec<String> = columns.iter().map(|row| row.get(0)).collect();
    for column in ["entry.key", "node.id", "lease.work"] {
        assert!(
            columns.iter().any(|it| it == column),
            "{column}: {columns:?}"
        );
    }
}
