//! The state of the store after the process was killed, or the backend dropped, between commit and acknowledgement (SEC-S1, SEC-S2).
//!
//! The killed process is this test binary once more. It runs the ignored test [`writer_that_gets_killed`] on the file that an environment
//! variable names.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_store::{Backend, Namespace, PrivateStore, RedbBackend, SealedBackend};

use crate::subject::{Kind, Subject, keys, put, root_key, value};

const PATH_VARIABLE: &str = "GATEHOUSE_STORE_TEST_FILE";
const WRITERS: u32 = 16;
const KILLS: u32 = 10;

async fn open(path: &Path) -> PrivateStore {
    let clock = Arc::new(SystemClock);
    let file = RedbBackend::open(path, clock.clone()).unwrap();
    let sealed = SealedBackend::new(file, clock);
    sealed.unseal(&root_key()).await.unwrap();
    let backend: Arc<dyn Backend> = Arc::new(sealed);
    PrivateStore::new(backend, Namespace::Access)
}

/// Commits both records of a writer at `number`.
async fn commit_pair(store: &PrivateStore, writer: u32, number: u32) {
    let number = number.to_string();
    let left = put(&format!("left/{writer}"), &number);
    let right = put(&format!("right/{writer}"), &number);
    store.commit(vec![], vec![left, right]).await.unwrap();
}

/// The number that a writer's two records agree on; 0 before the first.
async fn stored_pair(store: &PrivateStore, writer: u32) -> u32 {
    let left = value(store, &format!("left/{writer}")).await;
    let right = value(store, &format!("right/{writer}")).await;
    assert_eq!(left, right, "half of a commit is there");
    left.map_or(0, |number| number.parse().unwrap())
}

/// Writes indefinitely, and reports each acknowledged commit.
#[tokio::test]
#[ignore = "the child process of s2_after_each_kill_everything_acknowledged_is_there_and_nothing_is_half_there"]
async fn writer_that_gets_killed() {
    let path = std::env::var(PATH_VARIABLE).expect("the test that starts this process sets it");
    let store = open(Path::new(&path)).await;
    let write = |writer| {
        let store = store.clone();
        async move {
            for number in stored_pair(&store, writer).await + 1.. {
                commit_pair(&store, writer, number).await;
                // One write for the whole line, so that the reader never sees two lines mixed.
                let line = format!("acknowledged {writer} {number}\n");
                std::io::stdout().write_all(line.as_bytes()).unwrap();
            }
        }
    };
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(writer)))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Starts the writer, kills it after `lines` reports, and returns the last number that each writer reported.
fn run_and_kill(path: &Path, lines: usize) -> BTreeMap<u32, u32> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crashes::writer_that_gets_killed"])
        .arg("--nocapture")
        .env(PATH_VARIABLE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reports = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = BTreeMap::new();
    let mut seen = 0;
    let mut note = |line: String| {
        let (_, report) = line.split_once("acknowledged ")?;
        let (writer, number) = report.split_once(' ')?;
        acknowledged.insert(writer.parse().unwrap(), number.parse().unwrap());
        Some(())
    };
    while seen < lines {
        seen += usize::from(note(reports.next().unwrap().unwrap()).is_some());
    }
    child.kill().unwrap();
    // The lines that are still in the pipe were acknowledged before the kill.
    for line in reports.map_while(Result::ok) {
        note(line);
    }
    child.wait().unwrap();
    acknowledged
}

#[test]
fn s2_after_each_kill_everything_acknowledged_is_there_and_nothing_is_half_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for round in 0..KILLS {
        let acknowledged = run_and_kill(&path, 100 + 37 * round as usize);
        runtime.block_on(async {
            let store = open(&path).await;
            for (writer, number) in acknowledged {
                let stored = stored_pair(&store, writer).await;
                // One more may have been committed and not reported.
                assert!((number..=number + 1).contains(&stored), "writer {writer}");
            }
        });
    }
}

/// Commits without a waiting caller are there as a whole or not at all, and those that were acknowledged are there.
async fn s2_commits_left_behind_by_a_dropped_backend_are_whole_or_absent(kind: Kind) {
    let mut subject = Subject::new(kind).await;
    for round in 0..10_u32 {
        let store = subject.store();
        commit_pair(&store, round, 1).await;
        for number in 2..=30 {
            // Polled once: the commit is on its way, and its future is gone.
            let commit = commit_pair(&store, round, number);
            let _ = futures_poll_once(commit).await;
        }
        drop(store);
        subject.reopen().await;
        let stored = stored_pair(&subject.store(), round).await;
        assert!((1..=30).contains(&stored));
    }
    assert_eq!(keys(&subject.store(), "", 1000).await.len(), 20);
}

async fn futures_poll_once(future: impl Future) -> bool {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_ready()))
        .await
}

#[tokio::test]
async fn s2_a_dropped_redb_backend() {
    s2_commits_left_behind_by_a_dropped_backend_are_whole_or_absent(Kind::Redb).await;
}

#[tokio::test]
async fn s2_a_dropped_sealed_redb_backend() {
    s2_commits_left_behind_by_a_dropped_backend_are_whole_or_absent(Kind::SealedRedb).await;
}
