//! Data keys over time: rotation, sealing anew, dropping keys, and no nonce twice (SEC-K4).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::key_rotation::{FEWEST_OPERATIONS, MOST_OPERATIONS};
use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, Put, StoreError};
use gatehouse_store::{
    Answer, Backend, MemoryBackend, Namespace, PrivateStore, RotationPolicy, SealedBackend,
    SharedClock, Term, UnsealError, Unsealed,
};

use crate::subject::{START, put, put_until, root_key, value};

const DAY: u64 = 24 * 60 * 60;

/// Done once, after a commit.
type Afterwards = Box<dyn FnOnce() + Send>;

/// A backend that notes every nonce under which something was sealed, and fails from the commit of some number on.
struct Watched {
    below: Arc<MemoryBackend>,
    nonces: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
    sealed: AtomicU64,
    commits_left: AtomicU64,
    after_keyring: Mutex<Option<Afterwards>>,
}

impl Watched {
    fn new(clock: SharedClock) -> Arc<Self> {
        Arc::new(Self {
            below: Arc::new(MemoryBackend::new(clock)),
            nonces: Mutex::default(),
            sealed: AtomicU64::default(),
            commits_left: AtomicU64::new(u64::MAX),
            after_keyring: Mutex::default(),
        })
    }

    fn note(&self, namespace: Namespace, changes: &[Change]) {
        for change in changes {
            if let Change::Put(Put { value, .. }) = change
                && namespace != Namespace::Keyring
            {
                // Format, term, nonce.
                let mut nonces = self.nonces.lock().unwrap();
                match nonces.insert(value[1..29].to_vec(), value.clone()) {
                    None => {
                        self.sealed.fetch_add(1, Ordering::SeqCst);
                    }
                    // The same message may be sent again; another one under its nonce would give the key away.
                    Some(before) => assert_eq!(before, *value, "a nonce was used twice"),
                }
            }
        }
    }
}

impl Backend for Watched {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        self.below.get_changed(namespace, keys)
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        self.below.scan(namespace, prefix, after, limit)
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        let left = self.commits_left.load(Ordering::SeqCst);
        if left == 0 {
            let gone = StoreError::Unavailable("the machine is gone".to_owned());
            return Box::pin(async { Err(CommitError::Failed(gone)) });
        }
        self.commits_left.store(left - 1, Ordering::SeqCst);
        self.note(namespace, &changes);
        let stores_keyring = namespace == Namespace::Keyring
            && changes.iter().any(|change| change.key() == "keyring");
        let committed = self.below.commit(namespace, checks, changes);
        if !stores_keyring {
            return committed;
        }
        Box::pin(async {
            let outcome = committed.await;
            if let Some(afterwards) = self.after_keyring.lock().unwrap().take() {
                afterwards();
            }
            outcome
        })
    }
}

struct Host {
    clock: Arc<ManualClock>,
    below: Arc<Watched>,
    sealed: Arc<SealedBackend<Arc<Watched>>>,
}

impl Host {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_seconds(START / 1000));
        let below = Watched::new(clock.clone());
        let sealed = Arc::new(SealedBackend::new(below.clone(), clock.clone()));
        assert_eq!(sealed.unseal(&root_key()).await, Ok(Unsealed::Created));
        Self {
            clock,
            below,
            sealed,
        }
    }

    /// The same store, after the process has ended.
    async fn restarted(&self) -> Self {
        self.below.commits_left.store(u64::MAX, Ordering::SeqCst);
        let sealed = Arc::new(SealedBackend::new(self.below.clone(), self.clock.clone()));
        assert_eq!(sealed.unseal(&root_key()).await, Ok(Unsealed::Opened));
        Self {
            clock: self.clock.clone(),
            below: self.below.clone(),
            sealed,
        }
    }

    fn store(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.sealed.clone(), namespace)
    }

    /// Seals the store as soon as a keyring has been stored.
    fn seal_after_keyring(&self) {
        let sealed = self.sealed.clone();
        let seal = move || sealed.seal();
        *self.below.after_keyring.lock().unwrap() = Some(Box::new(seal));
    }

    async fn fill(&self, namespace: Namespace, count: u32) {
        for number in 0..count {
            let change = vec![put(&format!("record/{number:05}"), &number.to_string())];
            self.store(namespace).commit(vec![], change).await.unwrap();
        }
    }

    async fn expect(&self, namespace: Namespace, count: u32) {
        for number in 0..count {
            let found = value(&self.store(namespace), &format!("record/{number:05}")).await;
            assert_eq!(found, Some(number.to_string()));
        }
    }

    /// The terms under which the records of a namespace are sealed.
    async fn terms(&self, namespace: Namespace) -> HashSet<u8> {
        let page = self.below.scan(namespace, "", None, 10_000).await.unwrap();
        assert!(!page.more);
        let items = page.items.iter();
        items.map(|item| item.entry.value[4]).collect()
    }

    /// Tends until nothing is left to do; says how many were sealed anew and whether keys were dropped.
    async fn tend(&self) -> (u32, bool) {
        let (mut resealed, mut retired) = (0, false);
        loop {
            let tended = self.sealed.tend_keys().await.unwrap();
            resealed += tended.resealed;
            retired |= tended.retired;
            if !tended.more {
                return (resealed, retired);
            }
        }
    }
}

#[tokio::test]
async fn k4_after_a_rotation_all_records_are_sealed_anew_and_the_old_key_is_dropped() {
    let host = Host::new().await;
    for namespace in [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs] {
        host.fill(namespace, 700).await;
    }
    let ends = vec![put_until("ends", "soon", Some(START + 5_000))];
    host.store(Namespace::Access)
        .commit(vec![], ends)
        .await
        .unwrap();
    assert_eq!(host.tend().await, (0, false), "with one key nothing is due");
    assert_eq!(host.sealed.rotate_key().await, Ok(Term(2)));
    host.store(Namespace::Access)
        .commit(vec![], vec![put("new", "2")])
        .await
        .unwrap();

    let first = host.sealed.tend_keys().await.unwrap();
    assert!(
        first.resealed <= 512 && first.more && !first.retired,
        "{first:?}"
    );
    let (resealed, retired) = host.tend().await;
    assert_eq!((first.resealed + resealed, retired), (2101, true));
    for namespace in [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs] {
        assert_eq!(host.terms(namespace).await, HashSet::from([2]));
    }
    let restarted = host.restarted().await;
    for host in [&host, &restarted] {
        host.expect(Namespace::Orgs, 700).await;
        assert_eq!(
            value(&host.store(Namespace::Access), "ends").await.unwrap(),
            "soon"
        );
        assert_eq!(host.tend().await, (0, false));
    }
    host.clock.advance(Duration::from_secs(5));
    assert_eq!(value(&host.store(Namespace::Access), "ends").await, None);
    assert_eq!(host.sealed.rotate_key().await, Ok(Term(3)));
}

#[tokio::test]
async fn k4_sealing_anew_goes_on_after_a_crash_at_any_commit() {
    for commits in 0..14 {
        let host = Host::new().await;
        host.fill(Namespace::Access, 200).await;
        host.fill(Namespace::Host, 70).await;
        host.below.commits_left.store(commits, Ordering::SeqCst);
        let rotated = host.sealed.rotate_key().await;
        assert_eq!(rotated.is_ok(), commits > 0);
        // Until the machine is gone, or the work is done.
        for _ in 0..10 {
            let _ = host.sealed.tend_keys().await;
        }
        let host = host.restarted().await;
        host.expect(Namespace::Access, 200).await;
        host.expect(Namespace::Host, 70).await;
        host.tend().await;
        let term = if commits > 0 { 2 } else { 1 };
        assert_eq!(host.terms(Namespace::Access).await, HashSet::from([term]));
        assert_eq!(host.terms(Namespace::Host).await, HashSet::from([term]));
        host.restarted().await.expect(Namespace::Access, 200).await;
    }
}

#[tokio::test]
async fn k4_a_store_that_is_sealed_while_its_keys_change_stays_sealed() {
    let host = Host::new().await;
    host.fill(Namespace::Access, 3).await;
    host.seal_after_keyring();
    assert_eq!(host.sealed.rotate_key().await, Ok(Term(2)));
    assert!(host.sealed.is_sealed());

    let host = host.restarted().await;
    assert_eq!(host.sealed.key_status().await.unwrap().term, Term(2));
    host.seal_after_keyring();
    let tended = host.sealed.tend_keys().await.unwrap();
    assert!(tended.retired, "{tended:?}");
    assert!(host.sealed.is_sealed());
    host.restarted().await.expect(Namespace::Access, 3).await;
}

#[tokio::test]
async fn k4_a_pass_goes_on_where_it_was_before_a_restart() {
    let host = Host::new().await;
    host.fill(Namespace::Access, 1000).await;
    host.sealed.rotate_key().await.unwrap();
    let first = host.sealed.tend_keys().await.unwrap();
    assert!(first.more);
    let (rest, retired) = host.restarted().await.tend().await;
    assert_eq!((first.resealed + rest, retired), (1000, true));
}

#[tokio::test]
async fn k4_a_record_that_does_not_open_keeps_all_keys() {
    let host = Host::new().await;
    host.fill(Namespace::Access, 3).await;
    let raw = host.below.get(Namespace::Access, &["record/00001"]).await;
    let mut altered = raw.unwrap()[0].as_ref().unwrap().value.clone();
    altered[40] ^= 1;
    let change = Change::Put(Put {
        key: "record/00001".to_owned(),
        value: altered,
        expires_at: None,
    });
    host.below
        .below
        .commit(Namespace::Access, vec![], vec![change])
        .await
        .unwrap();
    host.sealed.rotate_key().await.unwrap();
    let tended = host.sealed.tend_keys().await.unwrap();
    assert!(
        tended.blocked && !tended.retired && !tended.more,
        "{tended:?}"
    );
    assert!(!host.sealed.tend_keys().await.unwrap().blocked, "told once");
    let host = host.restarted().await;
    let other = value(&host.store(Namespace::Access), "record/00002").await;
    assert_eq!(other.as_deref(), Some("2"));
}

#[tokio::test]
async fn k4_what_a_key_has_sealed_is_counted_over_restarts() {
    let host = Host::new().await;
    let status = host.sealed.key_status().await.unwrap();
    assert_eq!(
        (status.term, status.installed_at, status.encryptions),
        (Term(1), START, 0)
    );
    host.fill(Namespace::Access, 5).await;
    assert_eq!(host.sealed.key_status().await.unwrap().encryptions, 5);
    host.tend().await;
    let host = host.restarted().await;
    host.fill(Namespace::Orgs, 2).await;
    assert_eq!(host.sealed.key_status().await.unwrap().encryptions, 7);
    host.clock.advance(Duration::from_secs(60));
    host.sealed.rotate_key().await.unwrap();
    let status = host.sealed.key_status().await.unwrap();
    assert_eq!(
        (status.term, status.installed_at, status.encryptions),
        (Term(2), START + 60_000, 0)
    );
    host.sealed.seal();
    let sealed = Err(UnsealError::Store(StoreError::Sealed));
    assert_eq!(host.sealed.key_status().await, sealed);
    assert_eq!(host.sealed.rotate_key().await.err(), sealed.err());
    assert_eq!(host.tend().await, (0, false));
}

#[tokio::test]
async fn k4_a_key_is_replaced_when_its_policy_says_so() {
    let host = Host::new().await;
    assert_eq!(
        host.sealed.rotation_policy().await,
        Ok(RotationPolicy::default())
    );
    let daily = RotationPolicy {
        enabled: true,
        max_operations: FEWEST_OPERATIONS,
        interval: DAY,
    };
    host.sealed.set_rotation_policy(daily).await.unwrap();
    let host = host.restarted().await;
    assert_eq!(host.sealed.rotation_policy().await, Ok(daily));
    host.clock.advance(Duration::from_secs(DAY - 1));
    host.tend().await;
    assert_eq!(host.sealed.key_status().await.unwrap().term, Term(1));
    host.clock.advance(Duration::from_secs(1));
    let tended = host.sealed.tend_keys().await.unwrap();
    assert_eq!(tended.rotated, Some(Term(2)));
    host.tend().await;
    assert_eq!(
        host.sealed.rotation_policy().await,
        Ok(daily),
        "it outlives the key"
    );

    for unusable in [
        RotationPolicy {
            interval: DAY - 1,
            ..daily
        },
        RotationPolicy {
            max_operations: FEWEST_OPERATIONS - 1,
            ..daily
        },
        RotationPolicy {
            max_operations: MOST_OPERATIONS + 1,
            ..daily
        },
    ] {
        assert!(host.sealed.set_rotation_policy(unusable).await.is_err());
    }
    assert_eq!(host.sealed.rotation_policy().await, Ok(daily));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn k4_rotation_and_sealing_anew_under_load_use_no_nonce_twice_and_lose_no_write() {
    let host = Host::new().await;
    let work = |writer: u32| {
        let store = host.store(Namespace::Access);
        async move {
            for number in 0..200 {
                let (key, text) = (format!("k/{writer}/{}", number % 7), number.to_string());
                // Unconditional, as sealing anew must not get in its way.
                store.commit(vec![], vec![put(&key, &text)]).await.unwrap();
                assert_eq!(value(&store, &key).await, Some(text));
            }
        }
    };
    let workers: Vec<_> = (0..8).map(|writer| tokio::spawn(work(writer))).collect();
    for _ in 0..20 {
        host.sealed.rotate_key().await.unwrap();
        for _ in 0..3 {
            let _ = host.sealed.tend_keys().await;
            tokio::task::yield_now().await;
        }
    }
    for worker in workers {
        worker.await.unwrap();
    }
    host.tend().await;
    assert_eq!(host.terms(Namespace::Access).await, HashSet::from([21]));
    let sealed = host.below.sealed.load(Ordering::SeqCst);
    assert!(sealed >= 1600);
    assert_eq!(host.below.nonces.lock().unwrap().len() as u64, sealed);
    let host = host.restarted().await;
    for writer in 0..8 {
        let last = value(&host.store(Namespace::Access), &format!("k/{writer}/3")).await;
        assert_eq!(last.as_deref(), Some("199"));
    }
}

#[tokio::test]
async fn k9_the_count_of_a_store_grows_and_is_believed_only_as_it_was_sealed() {
    let host = Host::new().await;
    assert_eq!(host.sealed.generation().await, Ok(None));
    let first = host.sealed.advance_generation().await.unwrap();
    assert_eq!(first.count, 1);
    host.sealed.rotate_key().await.unwrap();
    let second = host.sealed.advance_generation().await.unwrap();
    assert_eq!((second.count, second.store), (2, first.store));
    host.tend().await;
    let host = host.restarted().await;
    assert_eq!(host.sealed.generation().await, Ok(Some(second)));

    let raw = host.below.get(Namespace::Keyring, &["generation"]).await;
    let mut altered = raw.unwrap()[0].as_ref().unwrap().value.clone();
    altered[24] = 9;
    let change = Change::Put(Put {
        key: "generation".to_owned(),
        value: altered,
        expires_at: None,
    });
    host.below
        .commit(Namespace::Keyring, vec![], vec![change])
        .await
        .unwrap();
    let refused = Err(UnsealError::AlteredSeal);
    assert_eq!(host.sealed.generation().await, refused);
    assert_eq!(
        host.sealed.advance_generation().await.err(),
        refused.clone().err()
    );
    host.sealed.seal();
    let unproven = host.sealed.generation().await.unwrap().unwrap();
    assert_eq!(unproven.count, 9, "a sealed store can prove nothing");
}
