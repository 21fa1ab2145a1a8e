//! Tests with a file that fails (SEC-S4).

use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gatehouse_ports::{Clock, SystemClock};
use redb::{BackendError, StorageBackend};
use zeroize::Zeroizing;

use super::paged_file::PagedFile;
use super::*;
use crate::{KeyShare, SealedBackend, ShareSeal, Sharing};

/// The writing operations that fail: those numbered `from` to `until`, counted from 1.
#[derive(Debug, Default)]
struct Plan {
    operations: AtomicU64,
    from: AtomicU64,
    until: AtomicU64,
}

impl Plan {
    fn arm(&self, from: u64, length: u64) {
        self.operations.store(0, Ordering::SeqCst);
        self.from.store(from, Ordering::SeqCst);
        self.until.store(from + length, Ordering::SeqCst);
    }

    fn disarm(&self) {
        self.arm(u64::MAX / 2, 0);
    }

    fn was_reached(&self) -> bool {
        self.operations.load(Ordering::SeqCst) >= self.from.load(Ordering::SeqCst)
    }

    fn step(&self) -> io::Result<()> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst) + 1;
        let (from, until) = (&self.from, &self.until);
        if (from.load(Ordering::SeqCst)..until.load(Ordering::SeqCst)).contains(&number) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: PagedFile,
    plan: Arc<Plan>,
}

impl StorageBackend for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.plan.step()?;
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.plan.step()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.plan.step()?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }
}

fn open_faulty(path: &Path, plan: &Arc<Plan>) -> RedbBackend {
    let plan = plan.clone();
    let opener = move |builder: &redb::Builder, file| {
        let plan = plan.clone();
        builder.create_with_backend(FaultyFile { file, plan })
    };
    let file = StoreFile::with_opener(path, Box::new(opener));
    RedbBackend::open_file(file, Arc::new(SystemClock)).unwrap()
}

fn put(key: String) -> Change {
    Change::Put(gatehouse_ports::Put {
        key,
        value: vec![7; 3000],
        expires_at: None,
    })
}

/// Two records that must stand or fall together.
async fn commit_pair(backend: &RedbBackend, number: u32) -> Result<(), CommitError> {
    let pair = vec![
        put(format!("left/{number}")),
        put(format!("right/{number}")),
    ];
    backend.commit(Namespace::Access, vec![], pair).await
}

async fn holds_pair(backend: &RedbBackend, number: u32) -> bool {
    let (left, right) = (format!("left/{number}"), format!("right/{number}"));
    let entries = backend.get(Namespace::Access, &[&left, &right]).await;
    let present: Vec<_> = entries.unwrap().iter().map(Option::is_some).collect();
    assert_eq!(present[0], present[1], "half of commit {number} is there");
    present[0]
}

/// Lets `length` operations fail from the n-th on, for every n that ten commits reach.
async fn survive_faults_of(length: u64) {
    for first in 1.. {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.redb");
        let plan = Arc::new(Plan::default());
        plan.disarm();
        let backend = open_faulty(&path, &plan);
        plan.arm(first, length);

        let mut acknowledged = Vec::new();
        for number in 0..10 {
            match commit_pair(&backend, number).await {
                Ok(()) => acknowledged.push(number),
                Err(error) => assert!(
                    matches!(error, CommitError::Failed(StoreError::Unavailable(_))),
                    "{error:?}"
                ),
            }
        }
        let reached = plan.was_reached();
        plan.disarm();
        commit_pair(&backend, 10).await.unwrap();
        acknowledged.push(10);
        for number in &acknowledged {
            assert!(holds_pair(&backend, *number).await, "fault at {first}");
        }
        drop(backend);

        let backend = RedbBackend::open(&path, Arc::new(SystemClock)).unwrap();
        for number in 0..=10 {
            let held = holds_pair(&backend, number).await;
            assert!(held || !acknowledged.contains(&number), "fault at {first}");
        }
        if !reached {
            return;
        }
    }
}

#[tokio::test]
async fn s4_one_failed_write_or_sync_loses_nothing_acknowledged_and_heals_by_itself() {
    survive_faults_of(1).await;
}

#[tokio::test]
async fn s4_a_disk_that_stays_full_for_a_while_heals_by_itself() {
    survive_faults_of(25).await;
}

#[tokio::test]
async fn s4_reads_go_on_while_writes_fail() {
    let directory = tempfile::tempdir().unwrap();
    let plan = Arc::new(Plan::default());
    plan.disarm();
    let backend = open_faulty(&directory.path().join("store.redb"), &plan);
    commit_pair(&backend, 0).await.unwrap();
    // The first write fails, and those of opening the file again do not.
    for number in 1..20 {
        plan.arm(1, 1);
        assert!(commit_pair(&backend, number).await.is_err());
        assert!(holds_pair(&backend, 0).await);
    }
}

#[tokio::test]
async fn s4_no_other_file_is_opened_in_the_place_of_one_that_failed() {
    let directory = tempfile::tempdir().unwrap();
    let (path, moved) = (
        directory.path().join("store.redb"),
        directory.path().join("moved"),
    );
    let plan = Arc::new(Plan::default());
    plan.disarm();
    let backend = open_faulty(&path, &plan);
    commit_pair(&backend, 0).await.unwrap();
    std::fs::rename(&path, &moved).unwrap();
    plan.arm(1, 1);
    for number in 1..4 {
        assert!(commit_pair(&backend, number).await.is_err());
        assert!(!path.exists(), "a store was made");
    }
    drop(RedbBackend::open(&path, Arc::new(SystemClock)).unwrap());
    assert!(commit_pair(&backend, 4).await.is_err());

    std::fs::rename(&moved, &path).unwrap();
    commit_pair(&backend, 5).await.unwrap();
    for (number, is_held) in [(0, true), (4, false), (5, true)] {
        assert_eq!(holds_pair(&backend, number).await, is_held, "{number}");
    }
}

/// A clock over which the committer panics once, between the changes of a batch and their commit.
struct PanickingClock(AtomicBool);

impl Clock for PanickingClock {
    fn now_milliseconds(&self) -> u64 {
        SystemClock.now_milliseconds()
    }

    fn certain_milliseconds(&self) -> u64 {
        assert!(!self.0.swap(false, Ordering::SeqCst));
        SystemClock.certain_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        SystemClock.sleep(duration);
    }
}

#[tokio::test]
async fn s4_a_panic_over_a_page_fails_its_batch_and_commits_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(PanickingClock(AtomicBool::new(false)));
    let path = directory.path().join("store.redb");
    let backend = RedbBackend::open(&path, clock.clone()).unwrap();
    commit_pair(&backend, 0).await.unwrap();
    clock.0.store(true, Ordering::SeqCst);
    let failed = commit_pair(&backend, 1).await;
    assert!(
        matches!(failed, Err(CommitError::Failed(StoreError::Unavailable(_)))),
        "{failed:?}"
    );
    commit_pair(&backend, 2).await.unwrap();
    for (number, is_held) in [(0, true), (1, false), (2, true)] {
        assert_eq!(holds_pair(&backend, number).await, is_held, "{number}");
    }
}

/// A store with a seal of shares.
struct WithShares {
    store: Arc<SealedBackend<RedbBackend>>,
    seal: ShareSeal<RedbBackend>,
}

impl WithShares {
    async fn open(file: RedbBackend) -> Self {
        let store = Arc::new(SealedBackend::new(file, Arc::new(SystemClock)));
        let seal = ShareSeal::open(store.clone(), Duration::from_secs(3600)).await;
        let seal = seal.unwrap();
        Self { store, seal }
    }

    async fn initialize(&self) -> Option<Vec<KeyShare>> {
        let shares = self.seal.begin(Sharing::new(3, 2).ok()?).await.ok()?;
        let first = vec![put("system".to_owned())];
        let written = self.store.commit(Namespace::Access, vec![], first).await;
        if written.is_ok() && self.seal.finish().await.is_ok() {
            return Some(shares);
        }
        let _ = self.seal.abandon().await;
        None
    }

    /// Asserts that `shares` open the store and that its first record is there.
    async fn assert_opens_with(&self, shares: &[KeyShare], at: &str) {
        for share in &shares[1..] {
            let bytes = Zeroizing::new(share.as_bytes().to_vec());
            self.seal.unseal(bytes).await.unwrap();
        }
        let system = self.store.get(Namespace::Access, &["system"]).await;
        assert!(system.unwrap()[0].is_some(), "{at}");
    }
}

#[tokio::test]
async fn k2_a_first_start_on_a_file_that_fails_leaves_it_empty_or_whole() {
    for length in [1, u64::MAX / 4] {
        for first in 1.. {
            let at = format!("{length} faults from {first}");
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("store.redb");
            let plan = Arc::new(Plan::default());
            plan.disarm();
            let server = WithShares::open(open_faulty(&path, &plan)).await;
            plan.arm(first, length);
            let shares = server.initialize().await;
            let reached = plan.was_reached();
            drop(server);

            let file = RedbBackend::open(&path, Arc::new(SystemClock)).unwrap();
            let server = WithShares::open(file).await;
            let initialized = server.seal.progress().await.sharing.is_some();
            let shares = match shares {
                Some(shares) => shares,
                // The last write arrived and its acknowledgement did not, nor did anything after it: an answer that was lost.
                None if initialized && length > 1 => continue,
                None => server.initialize().await.expect(&at),
            };
            server.assert_opens_with(&shares, &at).await;
            if !reached {
                break;
            }
        }
    }
}
