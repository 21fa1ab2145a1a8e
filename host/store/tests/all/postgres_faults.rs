//! A database whose connections are cut, and which two servers use at once (SEC-S7 to S9, S13).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gatehouse_ports::{CommitError, StoreError, SystemClock};
use gatehouse_store::{
    Backend, Namespace, PostgresBackend, PostgresError, PrivateStore, SealedBackend, ShareSeal,
};
use tokio::task::JoinSet;

use crate::postgres_databases::{Database, settings};
use crate::postgres_proxy::{Fault, Proxy};
use crate::shares::sharing;
use crate::subject::{absent, at_version, keys, put, value, version};

fn store(backend: PostgresBackend) -> PrivateStore {
    PrivateStore::new(Arc::new(backend), Namespace::Access)
}

async fn two_stores(database: &Database) -> [PrivateStore; 2] {
    let open = || async { store(database.open(Arc::new(SystemClock)).await.unwrap()) };
    [open().await, open().await]
}

fn number(value: Option<String>) -> u32 {
    value.unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_read_whose_connection_is_cut_is_asked_again() {
    let database = Database::with_tables().await;
    let proxy = Proxy::start().await;
    let store = store(proxy.backend(&database, Arc::new(SystemClock)).await);
    store.commit(vec![], vec![put("a/b", "1")]).await.unwrap();
    for fault in [Fault::CutAfter(0), Fault::CutAfter(10), Fault::CutAnswer] {
        proxy.arm(fault);
        assert_eq!(
            value(&store, "a/b").await.as_deref(),
            Some("1"),
            "{fault:?}"
        );
        proxy.arm(fault);
        assert_eq!(keys(&store, "a/", 10).await, ["a/b"], "{fault:?}");
    }
}

#[tokio::test]
async fn s8_a_read_goes_on_with_another_connection_where_a_new_one_is_cut_while_it_is_set_up() {
    let database = Database::with_tables().await;
    let proxy = Proxy::start().await;
    let store = store(proxy.backend(&database, Arc::new(SystemClock)).await);
    store.commit(vec![], vec![put("a/b", "1")]).await.unwrap();
    let read = async || value(&store, "a/b").await;
    let before = proxy.sent();
    proxy.arm(Fault::CutAndAfter(usize::MAX));
    assert_eq!(read().await.as_deref(), Some("1"));
    let length = proxy.sent() - before;
    assert!(length > 100, "a connection has been set up");
    for bytes in (0..length).step_by(length / 24) {
        proxy.arm(Fault::CutAndAfter(bytes));
        assert_eq!(read().await.as_deref(), Some("1"), "{bytes} of {length}");
        assert!(!proxy.is_armed(), "{bytes} of {length}");
    }
}

#[tokio::test]
async fn s8_a_database_that_falls_silent_fails_calls_in_bounded_time() {
    let database = Database::with_tables().await;
    let proxy = Proxy::start().await;
    let store = store(proxy.backend(&database, Arc::new(SystemClock)).await);
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let client = database.connect().await;
    // Neither commits nor what finds out about them get on.
    client
        .batch_execute("begin; lock table gatehouse.entry, gatehouse.outcome")
        .await
        .unwrap();
    for _ in 0..2 {
        let started = Instant::now();
        let outcome = store.commit(vec![], vec![put("a", "2")]).await;
        assert_eq!(without_text(outcome), unavailable());
        let read = store.get(&["a"]).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))));
        assert!(started.elapsed() < Duration::from_secs(8));
    }
    client.batch_execute("rollback").await.unwrap();
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    proxy.arm(Fault::Silence);
    // The first attempt is given up for lost, and what became of it is found out, unless the machine is too busy for that.
    let outcome = store.commit(vec![], vec![put("a", "3")]).await;
    assert!([Ok(()), unavailable()].contains(&without_text(outcome.clone())));
    let expected = if outcome.is_ok() {
        &["3"][..]
    } else {
        &["1", "3"]
    };
    let found = value(&store, "a").await.unwrap();
    assert!(expected.contains(&found.as_str()), "{outcome:?}: {found}");
}

fn unavailable() -> Result<(), CommitError> {
    Err(CommitError::Failed(StoreError::Unavailable(String::new())))
}

fn without_text(outcome: Result<(), CommitError>) -> Result<(), CommitError> {
    outcome.map_err(|error| match error {
        CommitError::Failed(StoreError::Unavailable(_)) => {
            CommitError::Failed(StoreError::Unavailable(String::new()))
        }
        other => other,
    })
}

#[tokio::test]
async fn s8_callers_beyond_the_pool_are_told_what_to_raise() {
    let database = Database::with_tables().await;
    let mut settings = settings(&database.settings.url);
    settings.connections = 1;
    let backend = PostgresBackend::open(&settings, Arc::new(SystemClock)).await;
    let store = store(backend.unwrap());
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let client = database.connect().await;
    client
        .batch_execute("begin; lock table gatehouse.entry")
        .await
        .unwrap();
    let mut callers = JoinSet::new();
    for number in 0..8 {
        let store = store.clone();
        callers.spawn(async move {
            let change = vec![put(&number.to_string(), "")];
            store.commit(vec![], change).await.unwrap_err().to_string()
        });
    }
    let refusals = callers.join_all().await;
    let told = refusals
        .iter()
        .filter(|text| text.contains("storage.connections"));
    assert!(told.count() >= 5, "{refusals:?}");
    client.batch_execute("rollback").await.unwrap();
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s6_two_servers_give_a_name_once_and_a_version_once() {
    let database = Database::with_tables().await;
    let stores = two_stores(&database).await;
    let mut versions = HashSet::new();
    for name in 0..40 {
        let key = format!("name/{name}");
        let mut racing = JoinSet::new();
        for (number, store) in stores.iter().enumerate() {
            let (store, key) = (store.clone(), key.clone());
            racing.spawn(async move {
                let change = vec![put(&key, &number.to_string())];
                let outcome = store.commit(vec![absent(&key)], change).await;
                (number, outcome)
            });
        }
        let outcomes = racing.join_all().await;
        let winners: Vec<_> = outcomes
            .iter()
            .filter(|(_, outcome)| outcome.is_ok())
            .collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        for (number, outcome) in &outcomes {
            let conflict = Err(CommitError::Conflict(key.clone()));
            assert!(
                outcome.is_ok() || *outcome == conflict,
                "{number}: {outcome:?}"
            );
        }
        let found = value(&stores[name % 2], &key).await;
        assert_eq!(found, Some(winners[0].0.to_string()));
        // The same key again and again: no version of it returns, whichever server gives it.
        for store in &stores {
            store.commit(vec![], vec![put("one", "")]).await.unwrap();
            assert!(versions.insert(version(store, "one").await));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s6_two_servers_count_down_to_zero_together() {
    const USES: u32 = 60;
    let database = Database::with_tables().await;
    let stores = two_stores(&database).await;
    stores[0]
        .commit(vec![], vec![put("uses", &USES.to_string())])
        .await
        .unwrap();
    let mut users = JoinSet::new();
    for user in 0..8 {
        let store = stores[user % 2].clone();
        users.spawn(async move {
            let mut used = 0;
            loop {
                let entry = store.get(&["uses"]).await.unwrap().remove(0).unwrap();
                let left = number(Some(String::from_utf8(entry.value).unwrap()));
                if left == 0 {
                    return used;
                }
                let checks = vec![at_version("uses", entry.version)];
                let change = vec![put("uses", &(left - 1).to_string())];
                match store.commit(checks, change).await {
                    Ok(()) => used += 1,
                    Err(CommitError::Conflict(_)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
    }
    let used: u32 = users.join_all().await.into_iter().sum();
    assert_eq!(used, USES);
}

/// Two commits that each check what the other one writes: one of them comes second and sees it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s5_a_check_protects_a_key_that_is_not_written() {
    let database = Database::with_tables().await;
    let stores = two_stores(&database).await;
    for round in 0..40 {
        let names = [format!("{round}/a"), format!("{round}/b")];
        let mut racing = JoinSet::new();
        for (number, store) in stores.iter().enumerate() {
            let (own, other) = (names[number].clone(), names[1 - number].clone());
            let store = store.clone();
            racing.spawn(async move {
                store
                    .commit(vec![absent(&other)], vec![put(&own, "")])
                    .await
            });
        }
        let applied = racing
            .join_all()
            .await
            .into_iter()
            .filter(Result::is_ok)
            .count();
        assert_eq!(applied, 1);
    }
}

async fn alone(database: &Database) -> Result<PostgresBackend, PostgresError> {
    PostgresBackend::open_alone(&database.settings, Arc::new(SystemClock)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s13_of_two_servers_that_start_at_once_one_runs_and_its_end_lets_the_other_start() {
    let database = Database::with_tables().await;
    let (first, second) = tokio::join!(alone(&database), alone(&database));
    let (running, refused) = match (first, second) {
        (Ok(running), Err(refused)) | (Err(refused), Ok(running)) => (running, refused),
        both => panic!("{both:?}"),
    };
    let text = refused.to_string();
    assert!(
        text.contains("another server uses this database (from 127.0.0.1"),
        "{text}"
    );
    drop(running);
    alone(&database).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s13_a_server_that_was_cut_off_and_followed_commits_nothing_more() {
    let database = Database::with_tables().await;
    let first = alone(&database).await.unwrap();
    let first: Arc<dyn Backend> = Arc::new(first);
    let seal = ShareSeal::open(
        Arc::new(SealedBackend::new(first.clone(), Arc::new(SystemClock))),
        Duration::from_secs(60),
    );
    let seal = seal.await.unwrap();
    // A first start that stands still, until another server takes it for given up.
    seal.begin(sharing(3, 2)).await.unwrap();
    let client = database.connect().await;
    let cut_off = "select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and objid = 1
        and database = (select oid from pg_database where datname = current_database())";
    client.batch_execute(cut_off).await.unwrap();
    let second: Arc<dyn Backend> = Arc::new(alone(&database).await.unwrap());
    let sealed = SealedBackend::new(second.clone(), Arc::new(SystemClock));
    let followed = ShareSeal::open(Arc::new(sealed), Duration::from_secs(60))
        .await
        .unwrap();
    followed.begin(sharing(3, 2)).await.unwrap();

    assert!(seal.finish().await.is_err());
    // It must not undo the other's, which then finishes.
    let _ = seal.abandon().await;
    followed.finish().await.unwrap();
    let late = PrivateStore::new(first, Namespace::Access);
    let refused = late
        .commit(vec![], vec![put("late", "")])
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("must be restarted"),
        "{refused}"
    );
    let refused = late.get(&["late"]).await.unwrap_err();
    assert!(
        refused.to_string().contains("must be restarted"),
        "{refused}"
    );
    let store = PrivateStore::new(second, Namespace::Access);
    assert_eq!(value(&store, "late").await, None);
    assert!(followed.progress().await.sharing.is_some());
}
