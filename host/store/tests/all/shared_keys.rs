//! Data keys and the root key of a store that several hosts have open (SEC-K2, K4).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gatehouse_ports::doubles::{ManualClock, SeededRandom};
use gatehouse_ports::key_rotation::SHORTEST_INTERVAL;
use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, Put, StoreError};
use gatehouse_store::{
    Answer, Backend, Guard, MemoryBackend, Namespace, PrivateStore, RootKey, RotationPolicy,
    SealedBackend, Term, UnsealError, Unsealed,
};
use tokio::sync::Semaphore;

use crate::subject::{START, put, root_key, value};

fn other_root_key() -> RootKey {
    RootKey::generate(&SeededRandom::new(77)).unwrap()
}

/// The connection of one host to the store that all share. Its commits can be held up on their way.
struct Wire {
    below: Arc<MemoryBackend>,
    is_held_up: AtomicBool,
    reached: Semaphore,
    released: Semaphore,
}

impl Wire {
    /// Lets the next commit wait.
    fn hold_up(&self) {
        self.is_held_up.store(true, Ordering::SeqCst);
    }

    /// Returns once a commit waits.
    async fn is_reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    fn release(&self) {
        self.released.add_permits(1);
    }

    async fn pass(&self) {
        if self.is_held_up.swap(false, Ordering::SeqCst) {
            self.reached.add_permits(1);
            self.released.acquire().await.unwrap().forget();
        }
    }
}

impl Backend for Wire {
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
        Box::pin(async move {
            self.pass().await;
            self.below.commit(namespace, checks, changes).await
        })
    }

    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            self.pass().await;
            let commit = self.below.commit_under(guard, namespace, checks, changes);
            commit.await
        })
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// One of the hosts.
struct Host {
    wire: Arc<Wire>,
    sealed: Arc<SealedBackend<Arc<Wire>>>,
    access: PrivateStore,
}

impl Host {
    async fn start(below: &Arc<MemoryBackend>, clock: &Arc<ManualClock>) -> Self {
        let wire = Arc::new(Wire {
            below: below.clone(),
            is_held_up: AtomicBool::new(false),
            reached: Semaphore::new(0),
            released: Semaphore::new(0),
        });
        let sealed = Arc::new(SealedBackend::new(wire.clone(), clock.clone()));
        sealed.unseal(&root_key()).await.unwrap();
        let access = PrivateStore::new(sealed.clone(), Namespace::Access);
        Self {
            wire,
            sealed,
            access,
        }
    }

    async fn put(&self, key: &str, text: &str) {
        self.access
            .commit(vec![], vec![put(key, text)])
            .await
            .unwrap();
    }

    async fn holds(&self, key: &str, text: &str) {
        let found = value(&self.access, key).await;
        assert_eq!(found.as_deref(), Some(text), "{key}");
    }

    async fn change_root_key(&self, replacement: &RootKey) {
        let former = root_key();
        let changed = self.sealed.change_root_key(&former, replacement);
        changed.await.unwrap();
    }

    /// Tends the keys until nothing is left to do; says whether earlier ones were dropped.
    async fn tend(&self) -> bool {
        let mut retired = false;
        loop {
            let tended = self.sealed.tend_keys().await.unwrap();
            retired |= tended.retired;
            if !tended.more {
                return retired;
            }
        }
    }
}

struct Installation {
    below: Arc<MemoryBackend>,
    clock: Arc<ManualClock>,
    a: Host,
    b: Host,
}

impl Installation {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_seconds(START / 1000));
        let below = Arc::new(MemoryBackend::new(clock.clone()));
        let a = Host::start(&below, &clock).await;
        let b = Host::start(&below, &clock).await;
        a.put("first", "1").await;
        Self { below, clock, a, b }
    }

    /// The terms by which the records of the namespace are sealed.
    async fn terms(&self) -> HashSet<u8> {
        let page = self.below.scan(Namespace::Access, "", None, 10_000);
        let items = page.await.unwrap().items;
        items.iter().map(|item| item.entry.value[4]).collect()
    }
}

#[tokio::test]
async fn k4_a_host_reads_what_another_one_sealed_by_a_key_that_it_has_just_added() {
    let it = Installation::new().await;
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(2)));
    it.a.put("second", "2").await;
    it.b.holds("second", "2").await;
    it.b.holds("first", "1").await;

    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(3)));
    it.a.put("third", "3").await;
    let page = it.b.access.scan("", None, 10).await.unwrap();
    assert_eq!(page.items.len(), 3, "a scan follows as well");

    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(4)));
    let told = it.b.sealed.key_status().await.unwrap();
    assert_eq!(told.term, Term(4));
    assert_eq!(it.b.sealed.rotate_key().await, Ok(Term(5)));
    it.b.put("fifth", "5").await;
    it.a.holds("fifth", "5").await;
}

#[tokio::test]
async fn k4_a_host_reads_by_the_third_key_after_the_second_was_dropped_unseen() {
    let it = Installation::new().await;
    for term in 2..6 {
        assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(term)));
        assert!(it.a.tend().await);
    }
    it.b.holds("first", "1").await;
    it.b.put("second", "2").await;
    it.a.holds("second", "2").await;
    assert_eq!(it.terms().await, HashSet::from([5]));
}

#[tokio::test]
async fn k4_a_commit_on_its_way_during_a_rotation_is_sealed_anew_and_none_is_lost() {
    let it = Installation::new().await;
    it.b.wire.hold_up();
    let access = it.b.access.clone();
    let writing = tokio::spawn(async move { access.commit(vec![], vec![put("late", "9")]).await });
    it.b.wire.is_reached().await;
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(2)));
    assert!(it.a.tend().await, "the first key is dropped");
    it.b.wire.release();
    assert_eq!(writing.await.unwrap(), Ok(()));
    assert_eq!(it.terms().await, HashSet::from([2]));
    it.a.holds("late", "9").await;
    it.b.holds("late", "9").await;
}

#[tokio::test]
async fn k4_a_pass_of_another_host_for_an_earlier_key_drops_none_that_is_needed() {
    let it = Installation::new().await;
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(2)));
    // The last commit of the pass of B waits while A adds another key and seals a record by the one before.
    it.b.sealed.follow_others().await.unwrap();
    it.b.wire.hold_up();
    let sealed = it.b.sealed.clone();
    let tending = tokio::spawn(async move { sealed.tend_keys().await });
    it.b.wire.is_reached().await;
    it.a.put("second", "2").await;
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(3)));
    it.b.wire.release();
    let tended = tending.await.unwrap().unwrap();
    assert!(!tended.retired && tended.more);
    it.a.holds("second", "2").await;
    it.b.holds("second", "2").await;
    assert!(it.b.tend().await);
    it.a.holds("second", "2").await;
    assert_eq!(it.terms().await, HashSet::from([3]));
}

#[tokio::test]
async fn k4_a_key_that_is_due_is_replaced_by_one_of_the_hosts() {
    let it = Installation::new().await;
    let policy = RotationPolicy {
        interval: SHORTEST_INTERVAL,
        ..RotationPolicy::default()
    };
    it.a.sealed.set_rotation_policy(policy).await.unwrap();
    it.clock.advance(Duration::from_secs(SHORTEST_INTERVAL));
    it.b.wire.hold_up();
    let sealed = it.b.sealed.clone();
    let tending = tokio::spawn(async move { sealed.tend_keys().await });
    it.b.wire.is_reached().await;
    let rotated = it.a.sealed.tend_keys().await.unwrap().rotated;
    assert_eq!(rotated, Some(Term(2)));
    it.b.wire.release();
    assert_eq!(tending.await.unwrap().unwrap().rotated, None);
    assert_eq!(it.b.sealed.key_status().await.unwrap().term, Term(2));
}

#[tokio::test]
async fn k2_a_host_follows_when_another_one_replaces_the_root_key() {
    let it = Installation::new().await;
    let replacement = other_root_key();
    it.a.change_root_key(&replacement).await;
    assert_eq!(it.b.sealed.follow_others().await, Ok(true));
    assert_eq!(it.b.sealed.follow_others().await, Ok(false));
    // Both have the new key: each follows a rotation by the other.
    assert_eq!(it.b.sealed.rotate_key().await, Ok(Term(2)));
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(3)));
    it.a.put("second", "2").await;
    it.b.holds("second", "2").await;
    let again = SealedBackend::new(it.below.clone(), it.clock.clone());
    assert!(again.unseal(&root_key()).await.is_err());
    assert_eq!(again.unseal(&replacement).await, Ok(Unsealed::Opened));
}

#[tokio::test]
async fn k2_a_host_that_misses_a_new_root_key_closes_its_store() {
    let it = Installation::new().await;
    let replacement = other_root_key();
    it.a.change_root_key(&replacement).await;
    it.clock.advance(Duration::from_secs(5 * 60));
    let written = it.b.access.commit(vec![], vec![put("late", "9")]).await;
    assert_eq!(written, Err(CommitError::Failed(StoreError::Sealed)));
    assert!(it.b.sealed.is_sealed());
    it.a.put("second", "2").await;
    let opened = it.b.sealed.unseal(&replacement).await;
    assert_eq!(opened, Ok(Unsealed::Opened));
    it.b.holds("second", "2").await;
}

#[tokio::test]
async fn k2_a_new_root_key_is_read_by_no_holder_of_the_former_one_alone() {
    let it = Installation::new().await;
    let replacement = other_root_key();
    it.a.change_root_key(&replacement).await;
    // A holder of the former root key and of this store opens neither the keyring nor what is handed over.
    let page = it.below.scan(Namespace::Keyring, "", None, 100);
    for item in page.await.unwrap().items {
        let value = item.entry.value;
        assert!(RootKey::open_for(&root_key(), &value).is_none());
    }
    let stranger = SealedBackend::new(it.below.clone(), it.clock.clone());
    assert!(matches!(
        stranger.unseal(&root_key()).await,
        Err(UnsealError::Keyring(_))
    ));
}

#[tokio::test]
async fn k4_a_keyring_that_was_put_back_is_not_followed() {
    let it = Installation::new().await;
    let keys = ["keyring"];
    let old = it.below.get(Namespace::Keyring, &keys).await.unwrap();
    let old = old.into_iter().next().flatten().unwrap().value;
    assert_eq!(it.a.sealed.rotate_key().await, Ok(Term(2)));
    it.b.sealed.follow_others().await.unwrap();
    let back = vec![Change::Put(Put {
        key: "keyring".to_owned(),
        value: old,
        expires_at: None,
    })];
    let commit = it.below.commit(Namespace::Keyring, vec![], back);
    commit.await.unwrap();
    let written = it.b.access.commit(vec![], vec![put("late", "9")]).await;
    let altered = StoreError::Corrupt("keyring".to_owned());
    assert_eq!(written, Err(CommitError::Failed(altered)));
}

#[tokio::test]
async fn k4_a_record_by_a_key_that_nobody_has_is_refused_in_bounded_time() {
    let it = Installation::new().await;
    let mut record = it.below.get(Namespace::Access, &["first"]).await.unwrap();
    let mut value = record.pop().flatten().unwrap().value;
    value[4] = 77;
    let altered = vec![Change::Put(Put {
        key: "first".to_owned(),
        value,
        expires_at: None,
    })];
    let commit = it.below.commit(Namespace::Access, vec![], altered);
    commit.await.unwrap();
    let read = it.b.access.get(&["first"]).await;
    assert_eq!(read.err(), Some(StoreError::Corrupt("first".to_owned())));
}
