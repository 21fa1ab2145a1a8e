//! Rows of a database that nothing reads any more are dropped a bounded number at a time, by one server at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gatehouse_ports::{Change, SystemClock};
use gatehouse_store::{Namespace, PrivateStore};
use tokio_postgres::Client;

use crate::postgres_databases::{Database, shared_server};
use crate::subject::{keys, put};

/// More than three purges drop.
const ENDED: i64 = 3_500;
/// The most rows that one purge drops.
const PURGE_ROWS: i64 = 1_000;
/// As many changes as bring a purge about.
const CHANGES: usize = 64;
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes down when each purge was at work, and what it dropped. A purge is slowed down, so that others come meanwhile.
const WATCH: &str = "
    create table purge (began timestamptz, ended timestamptz, rows bigint);
    create function purge_begins() returns trigger language plpgsql as $watch$
    begin
        perform set_config('test.began', clock_timestamp()::text, true);
        perform pg_sleep(0.05);
        return null;
    end $watch$;
    create function purge_ends() returns trigger language plpgsql as $watch$
    begin
        insert into purge select current_setting('test.began')::timestamptz, clock_timestamp(), count(*) from dropped;
        return null;
    end $watch$;
    create trigger purge_begins before delete on gatehouse.entry for each statement execute function purge_begins();
    create trigger purge_ends after delete on gatehouse.entry
    referencing old table as dropped for each statement execute function purge_ends()";
const FILL: &str = "
    insert into gatehouse.entry (namespace, key, value, version, expires_at)
    select 2, 'ended/' || n, ''::bytea, n, 1 from generate_series(1, 3500) n
    union all select 2, 'later/' || n, '', n, 9000000000000000 from generate_series(1, 40) n
    union all select 2, 'never/' || n, '', n, null from generate_series(1, 40) n;
    insert into gatehouse.outcome (version, abandoned, at)
    select -n, false, now() - interval '1 hour' from generate_series(1, 3500) n";
const LEFT: &str = "
    select (select count(*) from gatehouse.entry where expires_at = 1)
        + (select count(*) from gatehouse.outcome where at < now() - interval '30 minutes')";
const DONE: &str = "select coalesce(max(rows), 0), coalesce(sum(rows), 0)::int8 from purge";
const OVERLAPS: &str = "
    select count(*) from purge a join purge b on a.ctid <> b.ctid and a.began <= b.began and b.began < a.ended";

/// A database with rows that have ended, and two servers that use it.
struct Purged {
    database: Database,
    client: Client,
    stores: [PrivateStore; 2],
}

impl Purged {
    async fn start() -> Self {
        let database = Database::with_tables_of(shared_server().await).await;
        let client = database.connect().await;
        for statements in [WATCH, FILL] {
            client.batch_execute(statements).await.unwrap();
        }
        let open = async || {
            let backend = database.open(Arc::new(SystemClock)).await.unwrap();
            PrivateStore::new(Arc::new(backend), Namespace::Access)
        };
        let stores = [open().await, open().await];
        Self {
            database,
            client,
            stores,
        }
    }

    /// Has each of the servers commit as much as brings a purge about.
    async fn commit(&self) {
        for store in &self.stores {
            let changes = (0..CHANGES).map(|number| put(&format!("new/{number}"), ""));
            let changes: Vec<Change> = changes.collect();
            store.commit(vec![], changes).await.unwrap();
        }
    }

    async fn left(&self) -> i64 {
        self.client.query_one(LEFT, &[]).await.unwrap().get(0)
    }

    async fn commit_until_all_are_gone(&self) {
        let deadline = Instant::now() + PATIENCE;
        while self.left().await > 0 {
            assert!(Instant::now() < deadline, "rows are left");
            self.commit().await;
        }
    }

    /// The rows of the largest purge, and of all.
    async fn dropped(&self) -> (i64, i64) {
        let row = self.client.query_one(DONE, &[]).await.unwrap();
        (row.get(0), row.get(1))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_have_ended_are_dropped_in_small_batches_by_one_server_at_a_time() {
    let purged = Purged::start().await;
    purged.commit_until_all_are_gone().await;
    let (largest, all) = purged.dropped().await;
    assert_eq!(largest, PURGE_ROWS);
    assert_eq!(all, ENDED);
    let overlaps = purged.client.query_one(OVERLAPS, &[]).await.unwrap();
    assert_eq!(overlaps.get::<_, i64>(0), 0);
    for (prefix, count) in [("later/", 40), ("never/", 40), ("new/", CHANGES)] {
        let found = keys(&purged.stores[0], prefix, 100).await;
        assert_eq!(found.len(), count, "{prefix}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_another_server_purges_none_does_and_commits_go_on() {
    let purged = Purged::start().await;
    let other = purged.database.connect().await;
    let purges = "begin; select pg_advisory_xact_lock(7307497, 2)";
    other.batch_execute(purges).await.unwrap();
    for _ in 0..20 {
        purged.commit().await;
    }
    assert_eq!(purged.dropped().await, (0, 0));
    assert_eq!(purged.left().await, 2 * ENDED);
    other.batch_execute("rollback").await.unwrap();
    purged.commit_until_all_are_gone().await;
    assert_eq!(purged.dropped().await, (PURGE_ROWS, ENDED));
}
