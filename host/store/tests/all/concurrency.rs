//! Many writers at once.

use std::thread;

use gatehouse_ports::{CommitError, StoreError};
use gatehouse_store::PrivateStore;
use tokio::runtime::Handle;

use crate::subject::{Subject, absent, at_version, put, value};

const THREADS: u32 = 64;
const WINS_OF_EACH: u32 = 20;

/// Runs `work` on 64 threads of the operating system, numbered from 0, and returns what each of them did.
async fn on_64_threads<T, W, F>(store: &PrivateStore, work: W) -> Vec<T>
where
    T: Send + 'static,
    W: Fn(PrivateStore, u32) -> F + Clone + Send + 'static,
    F: Future<Output = T>,
{
    let start = |number| {
        let (store, work, runtime) = (store.clone(), work.clone(), Handle::current());
        thread::spawn(move || runtime.block_on(work(store, number)))
    };
    let threads: Vec<_> = (0..THREADS).map(start).collect();
    let join = move || threads.into_iter().map(|t| t.join().unwrap()).collect();
    tokio::task::spawn_blocking(join).await.unwrap()
}

/// Asks again, a bounded number of times, where a busy database has no answer in time.
async fn patiently<T>(ask: impl AsyncFn() -> Result<T, CommitError>) -> T {
    for _ in 0..50 {
        match ask().await {
            Err(CommitError::Failed(StoreError::Unavailable(_))) => {}
            outcome => return outcome.unwrap(),
        }
    }
    panic!("there is no answer");
}

/// Adds one to the number under `counter`; tells the number it wrote, or `None` when another writer was faster.
async fn try_to_count(store: &PrivateStore) -> Option<u32> {
    let read = async || store.get(&["counter"]).await.map_err(CommitError::Failed);
    let entry = patiently(read).await.remove(0).unwrap();
    let next = String::from_utf8(entry.value)
        .unwrap()
        .parse::<u32>()
        .unwrap()
        + 1;
    let commit = async || {
        let checks = vec![at_version("counter", entry.version)];
        let changes = vec![put("counter", &next.to_string())];
        match store.commit(checks, changes).await {
            Ok(()) => Ok(Some(next)),
            Err(CommitError::Conflict(key)) => {
                assert_eq!(key, "counter");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    };
    patiently(commit).await
}

async fn s6_64_writers_of_one_key_end_at_a_serial_order(subject: Subject) {
    let store = subject.store();
    store
        .commit(vec![], vec![put("counter", "0")])
        .await
        .unwrap();
    let count = |store: PrivateStore, _| async move {
        let mut written = Vec::new();
        while written.len() < WINS_OF_EACH as usize {
            written.extend(try_to_count(&store).await);
        }
        written
    };
    let mut written = on_64_threads(&store, count).await.concat();
    written.sort_unstable();
    let total = THREADS * WINS_OF_EACH;
    let every_number_once: Vec<u32> = (1..=total).collect();
    assert_eq!(written, every_number_once);
    assert_eq!(value(&store, "counter").await, Some(total.to_string()));
}

async fn s6_of_64_creators_of_one_key_exactly_one_succeeds(subject: Subject) {
    let store = subject.store();
    for round in 0..20 {
        let create = move |store: PrivateStore, number: u32| async move {
            let key = format!("round/{round}");
            let changes = vec![put(&key, &number.to_string())];
            store.commit(vec![absent(&key)], changes).await.is_ok()
        };
        let created = on_64_threads(&store, create).await;
        let winners: Vec<_> = (0..).zip(created).filter(|(_, won)| *won).collect();
        let [(winner, _)] = winners[..] else {
            panic!("{winners:?}");
        };
        let held = value(&store, &format!("round/{round}")).await;
        assert_eq!(held, Some(u32::to_string(&winner)));
    }
}

async fn s7_a_commit_that_was_acknowledged_is_seen_by_the_next_read(subject: Subject) {
    let write_and_read = |store: PrivateStore, number: u32| async move {
        let key = format!("own/{number}");
        for round in 0..WINS_OF_EACH {
            let written = round.to_string();
            store
                .commit(vec![], vec![put(&key, &written)])
                .await
                .unwrap();
            assert_eq!(value(&store, &key).await, Some(written));
        }
    };
    on_64_threads(&subject.store(), write_and_read).await;
}

async fn s5_readers_see_all_of_a_commit_or_nothing(subject: Subject) {
    let store = subject.store();
    let names = ["left", "middle", "right"];
    let all = |value: &str| {
        names
            .iter()
            .map(|name| put(name, value))
            .collect::<Vec<_>>()
    };
    store.commit(vec![], all("0")).await.unwrap();
    let work = move |store: PrivateStore, number: u32| async move {
        for round in 0..WINS_OF_EACH {
            if number.is_multiple_of(2) {
                let value = format!("{number}.{round}");
                let changes = names.iter().map(|name| put(name, &value)).collect();
                let changes: Vec<_> = changes;
                patiently(async || store.commit(vec![], changes.clone()).await).await;
                continue;
            }
            let read = patiently(async || Ok(store.get(&names).await?)).await;
            let page = patiently(async || Ok(store.scan("", None, 10).await?)).await;
            let scanned = page.items.into_iter().map(|item| item.entry).collect();
            for entries in [read.into_iter().flatten().collect::<Vec<_>>(), scanned] {
                assert_eq!(entries.len(), 3);
                assert!(
                    entries
                        .windows(2)
                        .all(|pair| pair[0].value == pair[1].value)
                );
            }
        }
    };
    on_64_threads(&store, work).await;
}

for_every_backend!(
    s6_64_writers_of_one_key_end_at_a_serial_order,
    s6_of_64_creators_of_one_key_exactly_one_succeeds,
    s7_a_commit_that_was_acknowledged_is_seen_by_the_next_read,
    s5_readers_see_all_of_a_commit_or_nothing,
);
