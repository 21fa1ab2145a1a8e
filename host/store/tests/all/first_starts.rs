//! A first start with shares that goes wrong at any of its writes (SEC-K2, S1).

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, StoreError};
use gatehouse_store::{
    Answer, Backend, BeginError, KeyShare, MemoryBackend, Namespace, UnsealError,
};

use crate::shares::{Host, memory, sharing};
use crate::subject::{put, value};

/// A fault at one of the commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It fails, and so does everything after it: the process is gone.
    CrashBefore,
    /// It is stored, and its outcome is lost.
    CrashAfter,
    /// It fails, and the next ones work.
    Refused,
    /// It is stored and said to have failed; the next ones work.
    Unacknowledged,
    /// It is stored, and the answer never comes.
    Hangs,
}

impl Fault {
    const ALL: [Self; 5] = [
        Self::CrashBefore,
        Self::CrashAfter,
        Self::Refused,
        Self::Unacknowledged,
        Self::Hangs,
    ];

    const CRASHES: [Self; 2] = [Self::CrashBefore, Self::CrashAfter];

    fn is_crash(self) -> bool {
        Self::CRASHES.contains(&self)
    }

    fn is_stored(self) -> bool {
        matches!(self, Self::CrashAfter | Self::Unacknowledged | Self::Hangs)
    }
}

/// A backend with a fault at one commit.
struct Faulty {
    below: Arc<MemoryBackend>,
    fault: Fault,
    commits_left: AtomicU32,
}

impl Faulty {
    fn at(below: &Arc<MemoryBackend>, fault: Fault, commit: u32) -> Arc<Self> {
        Arc::new(Self {
            below: below.clone(),
            fault,
            commits_left: AtomicU32::new(commit),
        })
    }

    fn was_reached(&self) -> bool {
        self.commits_left.load(Ordering::SeqCst) == 0
    }

    fn fails(&self) -> Result<(), StoreError> {
        match self.was_reached() && self.fault.is_crash() {
            true => Err(StoreError::Unavailable("the disk is gone".into())),
            false => Ok(()),
        }
    }
}

impl Backend for Faulty {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            self.fails()?;
            self.below.get_changed(namespace, keys).await
        })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            self.fails()?;
            self.below.scan(namespace, prefix, after, limit).await
        })
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            self.fails()?;
            let left = self.commits_left.load(Ordering::SeqCst);
            self.commits_left
                .store(left.saturating_sub(1), Ordering::SeqCst);
            if left != 1 {
                return self.below.commit(namespace, checks, changes).await;
            }
            if self.fault.is_stored() {
                self.below.commit(namespace, checks, changes).await?;
            }
            if self.fault == Fault::Hangs {
                return pending().await;
            }
            Err(StoreError::Unavailable("the disk is full".into()).into())
        })
    }
}

/// Initializes as a request does; gives the shares only if all of it worked.
async fn initialize<B: Backend>(host: &Host<B>) -> Result<Vec<KeyShare>, ()> {
    let shares = host.seal.begin(sharing(3, 2)).await.map_err(|_| ())?;
    let first = async {
        for (namespace, key) in [
            (Namespace::Access, "system"),
            (Namespace::AuthMethod, "method"),
        ] {
            let store = host.store(namespace);
            store
                .commit(vec![], vec![put(key, "first")])
                .await
                .map_err(|_| ())?;
        }
        host.seal.finish().await.map_err(|_| ())
    };
    let finished = first.await;
    if finished.is_err() {
        // Fails too where the store is gone.
        let _ = host.seal.abandon().await;
    }
    finished.map(|()| shares)
}

/// The same, by a caller who goes away when an answer does not come.
async fn try_initialize<B: Backend>(host: &Host<B>) -> Result<Vec<KeyShare>, ()> {
    tokio::select! {
        biased;
        outcome = initialize(host) => outcome,
        () = std::future::ready(()) => Err(()),
    }
}

/// Asserts that the shares, if a caller has them, open the server, and that otherwise it can be initialized.
async fn assert_usable<B: Backend>(host: &Host<B>, shares: Result<Vec<KeyShare>, ()>, at: &str) {
    let initialized = host.seal.progress().await.sharing.is_some();
    assert_eq!(initialized, shares.is_ok(), "{at}");
    let shares = match shares {
        Ok(shares) => shares,
        Err(()) => {
            assert!(host.seal.progress().await.sealed, "{at}");
            let again = initialize(host).await;
            again.unwrap_or_else(|()| panic!("{at}: it cannot be initialized"))
        }
    };
    host.give(&shares[0]).await.unwrap();
    let opened = host.give(&shares[2]).await.unwrap();
    assert!(!opened.sealed, "{at}");
    let system = value(&host.store(Namespace::Access), "system").await;
    assert_eq!(system.as_deref(), Some("first"), "{at}");
}

#[tokio::test]
async fn k2_after_a_fault_at_any_write_of_a_first_start_the_same_server_can_be_initialized() {
    for fault in Fault::ALL.into_iter().filter(|fault| !fault.is_crash()) {
        for commit in 1.. {
            let below = memory();
            let faulty = Faulty::at(&below, fault, commit);
            // A first start that was cut off is given up at once.
            let host = Host::start(faulty.clone(), Duration::ZERO).await.unwrap();
            let shares = try_initialize(&host).await;
            let at = format!("{fault:?} at commit {commit}");
            assert_usable(&host, shares, &at).await;
            if !faulty.was_reached() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn k2_a_crash_at_any_write_of_a_first_start_leaves_an_empty_server_or_a_whole_one() {
    for fault in Fault::ALL {
        for commit in 1.. {
            let below = memory();
            let faulty = Faulty::at(&below, fault, commit);
            let host = Host::start(faulty.clone(), Duration::from_secs(60)).await;
            let shares = try_initialize(&host.unwrap()).await;
            let restarted = Host::start(below.clone(), Duration::ZERO).await.unwrap();
            let at = format!("{fault:?} at commit {commit}");
            let counts = restarted.seal.progress().await.sharing.is_some();
            if shares.is_err() && counts {
                // The last write was stored, and the process died before it could say so: as if the answer had got lost.
                assert!(matches!(fault, Fault::CrashAfter | Fault::Hangs), "{at}");
                continue;
            }
            if !counts {
                assert_eq!(below.held_entries(), 0, "{at}: nothing is left");
            }
            assert_usable(&restarted, shares, &at).await;
            if !faulty.was_reached() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn k2_a_crash_while_a_restart_wipes_what_was_left_is_wiped_by_the_next_one() {
    let left_behind = || async {
        let below = memory();
        let host = Host::start(below.clone(), Duration::from_secs(60)).await;
        let host = host.unwrap();
        host.seal.begin(sharing(3, 2)).await.unwrap();
        for namespace in [Namespace::Access, Namespace::Orgs] {
            for number in 0..300 {
                let change = vec![put(&format!("record/{number}"), "left behind")];
                host.store(namespace).commit(vec![], change).await.unwrap();
            }
        }
        below
    };
    for fault in Fault::CRASHES {
        for commit in 1.. {
            let below = left_behind().await;
            let faulty = Faulty::at(&below, fault, commit);
            let started = Host::start(faulty.clone(), Duration::ZERO).await;
            if !faulty.was_reached() {
                assert!(started.is_ok());
                assert!(commit > 4, "there is more than one commit to crash at");
                break;
            }
            assert!(matches!(started.err(), Some(UnsealError::Store(_))));
            let restarted = Host::start(below.clone(), Duration::ZERO).await.unwrap();
            assert_eq!(below.held_entries(), 0);
            let at = format!("{fault:?} at commit {commit}");
            assert_usable(&restarted, Err(()), &at).await;
        }
    }
}

#[tokio::test]
async fn k2_a_first_start_that_failed_does_not_undo_the_one_of_another_host() {
    for fault in [Fault::Refused, Fault::Hangs] {
        let below = memory();
        let faulty = Faulty::at(&below, fault, 1);
        let failed = Host::start(faulty, Duration::ZERO).await.unwrap();
        assert!(try_initialize(&failed).await.is_err());
        // As it starts, it wipes what is left of the other one.
        let other = Host::start(below.clone(), Duration::ZERO).await.unwrap();
        let shares = initialize(&other).await.unwrap();

        failed.seal.abandon().await.unwrap();
        let again = failed.seal.begin(sharing(3, 2)).await;
        assert_eq!(again.err(), Some(BeginError::AlreadyInitialized));
        failed.seal.abandon().await.unwrap();
        let restarted = Host::start(below, Duration::ZERO).await.unwrap();
        assert_usable(&restarted, Ok(shares), &format!("{fault:?}")).await;
    }
}

#[tokio::test]
async fn k2_a_first_start_that_met_another_hosts_does_not_undo_it() {
    let below = memory();
    let unreadable = Arc::new(Broken(below.clone(), AtomicU32::new(1)));
    let late = Host::start(unreadable, Duration::ZERO).await.unwrap();
    let other = Host::start(below.clone(), Duration::ZERO).await.unwrap();
    let shares = initialize(&other).await.unwrap();
    for _ in 0..3 {
        assert!(late.seal.begin(sharing(3, 2)).await.is_err());
    }
    assert!(late.seal.progress().await.sharing.is_some());
    assert_usable(&other, Ok(shares), "the one that came first").await;
}

#[tokio::test]
async fn k2_a_first_start_that_another_host_wiped_is_not_finished() {
    let below = memory();
    let host = Host::start(below.clone(), Duration::from_secs(60)).await;
    let host = host.unwrap();
    host.seal.begin(sharing(3, 2)).await.unwrap();
    Host::start(below.clone(), Duration::ZERO).await.unwrap();
    assert_eq!(host.seal.finish().await, Err(UnsealError::Contended));
    host.seal.abandon().await.unwrap();
    assert_eq!(below.held_entries(), 0);
    assert_usable(&host, Err(()), "the wiped one").await;
}

#[tokio::test]
async fn k2_shares_survive_a_store_that_is_out_of_order_for_a_while() {
    let below = memory();
    let healthy = Host::start(below.clone(), Duration::ZERO).await.unwrap();
    let shares = initialize(&healthy).await.unwrap();
    let broken = Arc::new(Broken(below, AtomicU32::new(1)));
    let host = Host::start(broken, Duration::ZERO).await.unwrap();
    host.give(&shares[0]).await.unwrap();
    for _ in 0..2 {
        assert!(host.give(&shares[1]).await.is_err());
        assert_eq!(host.seal.progress().await.given, 2);
    }
    assert!(!host.give(&shares[1]).await.unwrap().sealed);
}

/// The first two reads after a start fail.
struct Broken(Arc<MemoryBackend>, AtomicU32);

impl Backend for Broken {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            let read = self.1.fetch_add(1, Ordering::SeqCst);
            // Three reads make a start.
            if (4..6).contains(&read) {
                return Err(StoreError::Unavailable("later".into()));
            }
            self.0.get_changed(namespace, keys).await
        })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        self.0.scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        self.0.commit(namespace, checks, changes)
    }
}
