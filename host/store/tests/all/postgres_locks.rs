//! Commits to one database that meet: which wait, for what, and what they see then (SEC-S5, S6, S13).

use std::sync::Arc;
use std::time::Duration;

use gatehouse_ports::{Change, CommitError, SystemClock};
use gatehouse_store::{Namespace, PostgresBackend, PrivateStore};
use tokio::task::{JoinHandle, JoinSet};
use tokio_postgres::Client;

use crate::postgres_databases::{Database, shared_server};
use crate::subject::{absent, at_version, put, value};

/// Commits one new key of the namespace of `access`, past any backend, in the transaction that is open.
const WRITE_A: &str = "select applied from gatehouse.commit(2::int2, 0, '{}', '{}', '{a}', '{x}', '{null}', '{}', 1 << 40, null)";
const SETTINGS: &str = "set gatehouse.session = 'prepared'; begin";
/// Tells how many commits wait for a lock.
const WAITING: &str = "
    select count(*) from pg_locks
    where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())";

/// A database in which the commit of `a` is under way, and a store in it.
struct UnderWay {
    database: Database,
    client: Client,
    watch: Client,
    store: PrivateStore,
}

impl UnderWay {
    async fn begin() -> Self {
        let database = Database::with_tables().await;
        let (client, watch) = (database.connect().await, database.connect().await);
        let backend = database.open(Arc::new(SystemClock)).await.unwrap();
        let store = PrivateStore::new(Arc::new(backend), Namespace::Access);
        client.batch_execute(SETTINGS).await.unwrap();
        let row = client.query_one(WRITE_A, &[]).await.unwrap();
        assert!(row.get::<_, bool>(0));
        Self {
            database,
            client,
            watch,
            store,
        }
    }

    /// Starts `work` and returns once it waits for the commit of `a`.
    async fn held_up<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let held_up = tokio::spawn(work);
        while self
            .watch
            .query_one(WAITING, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
        {
            assert!(!held_up.is_finished(), "it did not wait");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        held_up
    }

    /// Has `changes` be committed if there is no `a`, and that refused once the commit of `a` is there.
    async fn refuses_what_it_held_up(&self, changes: Vec<Change>) {
        let store = self.store.clone();
        let check = async move { store.commit(vec![absent("a")], changes).await };
        let checking = self.held_up(check).await;
        self.commit().await;
        let conflict = Err(CommitError::Conflict("a".to_owned()));
        assert_eq!(checking.await.unwrap(), conflict);
    }

    async fn commit(&self) {
        self.client.batch_execute("commit").await.unwrap();
    }
}

#[tokio::test]
async fn s5_a_commit_waits_for_the_one_that_writes_the_key_it_checks() {
    let under_way = UnderWay::begin().await;
    under_way.refuses_what_it_held_up(vec![put("b", "")]).await;
    assert_eq!(value(&under_way.store, "b").await, None);
}

#[tokio::test]
async fn s5_commits_of_other_keys_and_reads_do_not_wait() {
    let under_way = UnderWay::begin().await;
    let store = &under_way.store;
    let neighbour = store.commit(vec![absent("a0")], vec![put("A", "1")]);
    neighbour.await.unwrap();
    assert_eq!(value(store, "A").await.as_deref(), Some("1"));
    assert_eq!(value(store, "a").await, None);
    under_way.commit().await;
    assert_eq!(value(store, "a").await.as_deref(), Some("x"));
}

#[tokio::test]
async fn s5_a_commit_of_many_keys_waits_for_all_that_are_under_way() {
    let under_way = UnderWay::begin().await;
    let changes = (0..65).map(|number| put(&format!("many/{number}"), ""));
    under_way.refuses_what_it_held_up(changes.collect()).await;
    assert_eq!(value(&under_way.store, "many/0").await, None);
}

#[tokio::test]
async fn s13_a_server_that_takes_over_waits_for_the_commits_that_are_under_way() {
    let under_way = UnderWay::begin().await;
    let settings = under_way.database.settings.clone();
    let alone = async move { PostgresBackend::open_alone(&settings, Arc::new(SystemClock)).await };
    let opening = under_way.held_up(alone).await;
    under_way.commit().await;
    opening.await.unwrap().unwrap();
}

/// A pooler that lends its connections out by transaction loses the one or the other.
#[tokio::test]
async fn s5_a_session_that_lost_its_settings_commits_nothing() {
    let database = Database::with_tables().await;
    let client = database.connect().await;
    for lost in [
        "begin",
        "set gatehouse.session = 'prepared'; begin isolation level repeatable read",
        "begin isolation level serializable",
    ] {
        client.batch_execute(lost).await.unwrap();
        let answer = WRITE_A.replace("applied", "failed is null and not applied and not prepared");
        let row = client.query_one(&answer, &[]).await.unwrap();
        assert!(row.get::<_, bool>(0), "{lost}");
        client.batch_execute("commit").await.unwrap();
    }
    let rows = client.query("select from gatehouse.entry", &[]).await;
    assert!(rows.unwrap().is_empty());
}

/// The database rolls back no commit because its keys lie beside those of others, whatever else is open in the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s6_no_commit_is_rolled_back_for_what_others_do() {
    const WRITERS: u32 = 8;
    const COMMITS: u32 = 40;
    let server = shared_server().await;
    let database = Database::empty(server).await;
    PostgresBackend::migrate(&database.settings).await.unwrap();
    let open = Database::empty(server).await.connect().await;
    open.batch_execute("begin; select txid_current()")
        .await
        .unwrap();
    let backend = database.open(Arc::new(SystemClock)).await.unwrap();
    let store = PrivateStore::new(Arc::new(backend), Namespace::Access);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            for number in 0..COMMITS {
                let (read, written) = (
                    format!("{}", (writer + number) % 20),
                    format!("{}", (7 * writer + number) % 20),
                );
                let check = match store.get(&[&read]).await.unwrap().remove(0) {
                    Some(entry) => at_version(&read, entry.version),
                    None => absent(&read),
                };
                let change = put(&written, "");
                let new = put(&format!("new/{writer}/{number}"), "");
                match store.commit(vec![check], vec![change, new]).await {
                    Ok(()) | Err(CommitError::Conflict(_)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
    }
    writers.join_all().await;
    drop(store);
    // A session tells what it did when it ends.
    let watch = database.connect().await;
    let counts = "select xact_commit, xact_rollback from pg_stat_database where datname = current_database()";
    for _ in 0..600 {
        let row = watch.query_one(counts, &[]).await.unwrap();
        if row.get::<_, i64>(0) >= i64::from(2 * WRITERS * COMMITS) {
            assert_eq!(row.get::<_, i64>(1), 0);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the database does not tell how many transactions there were");
}
