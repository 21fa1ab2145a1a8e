//! Several hosts that share a store (SEC-K2, S1).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, HeldKey, Page, StoreError, SystemClock,
};
use gatehouse_store::{
    Answer, Backend, BeginError, Guard, MemoryBackend, Namespace, PrivateStore, RedbBackend,
    SealedBackend, UnsealError, Unsealed,
};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::shares::{Host, memory, sharing};
use crate::subject::{put, root_key, value};

/// The longest that a request takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than a first start is renewed for.
const LEASE: Duration = Duration::from_secs(5);

/// The link of one host to the store that all share. It can be cut off from it, and held up before its next commit.
pub struct Link {
    below: Arc<MemoryBackend>,
    is_cut_off: AtomicBool,
    is_held_up: AtomicBool,
    /// One permit for each commit that is held up.
    reached: Semaphore,
    released: Semaphore,
}

impl Link {
    pub fn to(below: &Arc<MemoryBackend>) -> Arc<Self> {
        Arc::new(Self {
            below: below.clone(),
            is_cut_off: AtomicBool::new(false),
            is_held_up: AtomicBool::new(false),
            reached: Semaphore::new(0),
            released: Semaphore::new(0),
        })
    }

    /// Lets nothing through any more.
    pub fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::SeqCst);
    }

    fn hold_up(&self) {
        self.is_held_up.store(true, Ordering::SeqCst);
    }

    async fn is_reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    fn release(&self) {
        self.is_held_up.store(false, Ordering::SeqCst);
        self.released.add_permits(1);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.is_cut_off.load(Ordering::SeqCst) {
            true => Err(StoreError::Unavailable("the network is gone".into())),
            false => Ok(()),
        }
    }

    async fn pass(&self) -> Result<(), StoreError> {
        if self.is_held_up.load(Ordering::SeqCst) {
            self.reached.add_permits(1);
            self.released.acquire().await.unwrap().forget();
        }
        self.check()
    }
}

impl Backend for Link {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            self.check()?;
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
            self.check()?;
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
            self.pass().await?;
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
            self.pass().await?;
            let commit = self.below.commit_under(guard, namespace, checks, changes);
            commit.await
        })
    }

    fn is_shared(&self) -> bool {
        true
    }
}

async fn host(below: &Arc<MemoryBackend>) -> (Arc<Link>, Host<Arc<Link>>) {
    let link = Link::to(below);
    let host = Host::start(link.clone(), PATIENCE).await.unwrap();
    (link, host)
}

fn first() -> Vec<Change> {
    vec![put("system", "first")]
}

async fn is_held_by_all(hosts: &[&Host<Arc<Link>>]) {
    for host in hosts {
        let progress = host.seal.progress().await;
        assert_eq!(progress.sharing, Some(sharing(3, 2)));
        assert!(progress.sealed);
    }
}

#[tokio::test(start_paused = true)]
async fn k2_of_two_hosts_that_are_initialized_at_once_one_is_and_the_other_is_told() {
    let below = memory();
    let ((_, one), (_, other)) = (host(&below).await, host(&below).await);
    let shares = one.seal.begin(sharing(3, 2)).await.unwrap();
    let store = one.store(Namespace::Access);
    store.commit(vec![], first()).await.unwrap();
    assert_eq!(other.seal.progress().await.sharing, None);

    let seal = other.seal.clone();
    let waiting = tokio::spawn(async move { seal.begin(sharing(3, 2)).await.err() });
    // Longer than a lease: it is renewed.
    tokio::time::sleep(LEASE + LEASE / 2).await;
    store.commit(vec![], first()).await.unwrap();
    one.seal.finish().await.unwrap();
    assert_eq!(waiting.await.unwrap(), Some(BeginError::AlreadyInitialized));

    is_held_by_all(&[&one, &other]).await;
    for host in [&one, &other] {
        host.give(&shares[0]).await.unwrap();
        assert!(!host.give(&shares[1]).await.unwrap().sealed);
        let system = value(&host.store(Namespace::Access), "system").await;
        assert_eq!(system.as_deref(), Some("first"));
    }
}

#[tokio::test(start_paused = true)]
async fn k2_a_host_that_starts_waits_for_a_first_start_and_leaves_it_alone() {
    let below = memory();
    let (_, one) = host(&below).await;
    let shares = one.seal.begin(sharing(3, 2)).await.unwrap();
    let starting = Link::to(&below);
    let starting = tokio::spawn(async move { Host::start(starting, PATIENCE).await });
    tokio::time::sleep(3 * LEASE).await;
    assert!(!starting.is_finished());
    let store = one.store(Namespace::Access);
    store.commit(vec![], first()).await.unwrap();
    one.seal.finish().await.unwrap();
    let other = starting.await.unwrap().unwrap();
    is_held_by_all(&[&one, &other]).await;
    other.give(&shares[2]).await.unwrap();
    assert!(!other.give(&shares[0]).await.unwrap().sealed);
}

#[tokio::test(start_paused = true)]
async fn k2_a_first_start_that_never_ends_is_waited_for_no_longer_than_a_minute() {
    let below = memory();
    let (_, asked) = host(&below).await;
    let link = Link::to(&below);
    let one = Host::start(link, 10 * PATIENCE).await.unwrap();
    one.seal.begin(sharing(3, 2)).await.unwrap();
    let began = Instant::now();
    let starting = Host::start(Link::to(&below), PATIENCE).await;
    assert_eq!(starting.err(), Some(UnsealError::Unfinished));
    let waited = began.elapsed();
    assert!((PATIENCE..PATIENCE + LEASE).contains(&waited), "{waited:?}");
    let began = Instant::now();
    let refused = asked.seal.begin(sharing(3, 2)).await.err();
    assert_eq!(refused, Some(BeginError::AlreadyInitialized));
    assert!(began.elapsed() <= 3 * LEASE);
    one.seal.finish().await.unwrap();
    is_held_by_all(&[&one, &asked]).await;
}

#[tokio::test(start_paused = true)]
async fn k2_a_first_start_whose_host_was_killed_is_taken_over_after_its_lease() {
    for by_start in [true, false] {
        let below = memory();
        let ((link, killed), (_, running)) = (host(&below).await, host(&below).await);
        killed.seal.begin(sharing(3, 2)).await.unwrap();
        let store = killed.store(Namespace::Access);
        store.commit(vec![], first()).await.unwrap();
        link.cut_off();
        let began = Instant::now();
        let follower = match by_start {
            true => host(&below).await.1,
            false => running,
        };
        let shares = follower.seal.begin(sharing(3, 2)).await.unwrap();
        let waited = began.elapsed();
        assert!((LEASE..LEASE + LEASE / 2).contains(&waited), "{waited:?}");
        let left = value(&follower.store(Namespace::Access), "system").await;
        assert_eq!(left, None, "nothing is left of what was given up");
        follower.seal.finish().await.unwrap();
        follower.give(&shares[0]).await.unwrap();
        assert!(!follower.give(&shares[1]).await.unwrap().sealed);
    }
}

#[tokio::test(start_paused = true)]
async fn s1_a_host_that_was_wrongly_taken_for_dead_writes_nothing_into_what_follows() {
    let below = memory();
    let ((link, stopped), (_, follower)) = (host(&below).await, host(&below).await);
    stopped.seal.begin(sharing(3, 2)).await.unwrap();
    link.hold_up();
    let store = stopped.store(Namespace::Access);
    let late = tokio::spawn(async move { store.commit(vec![], first()).await });
    link.is_reached().await;

    let shares = follower.seal.begin(sharing(3, 2)).await.unwrap();
    let second = vec![put("system", "second")];
    let store = follower.store(Namespace::Access);
    store.commit(vec![], second).await.unwrap();
    link.release();
    link.release();
    link.release();
    let late = late.await.unwrap();
    assert!(matches!(
        late,
        Err(CommitError::Failed(StoreError::Unavailable(_)))
    ));
    assert!(stopped.seal.finish().await.is_err());
    stopped.seal.abandon().await.unwrap();
    follower.seal.finish().await.unwrap();

    is_held_by_all(&[&stopped, &follower]).await;
    for host in [&stopped, &follower] {
        host.give(&shares[0]).await.unwrap();
        assert!(!host.give(&shares[2]).await.unwrap().sealed);
        let system = value(&host.store(Namespace::Access), "system").await;
        assert_eq!(system.as_deref(), Some("second"));
    }
}

#[tokio::test(start_paused = true)]
async fn s1_a_host_that_stops_while_it_wipes_deletes_nothing_of_what_follows() {
    let below = memory();
    let (link, killed) = host(&below).await;
    killed.seal.begin(sharing(3, 2)).await.unwrap();
    let store = killed.store(Namespace::Access);
    store.commit(vec![], first()).await.unwrap();
    link.cut_off();

    let stopping = Link::to(&below);
    let wiper = {
        let stopping = stopping.clone();
        tokio::spawn(async move { Host::start(stopping, PATIENCE).await.map(|_| ()) })
    };
    tokio::time::sleep(LEASE - LEASE / 10).await;
    // The mark becomes its own; the deletion after it is held up.
    stopping.hold_up();
    stopping.is_reached().await;
    stopping.released.add_permits(1);
    stopping.is_reached().await;

    let (_, follower) = host(&below).await;
    let shares = follower.seal.begin(sharing(3, 2)).await.unwrap();
    let store = follower.store(Namespace::Access);
    store.commit(vec![], first()).await.unwrap();
    stopping.release();
    let wiped = wiper.await.unwrap();
    assert!(matches!(wiped, Err(UnsealError::Store(_))), "{wiped:?}");
    follower.seal.finish().await.unwrap();
    follower.give(&shares[0]).await.unwrap();
    follower.give(&shares[1]).await.unwrap();
    let system = value(&follower.store(Namespace::Access), "system").await;
    assert_eq!(system.as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn k2_a_file_of_one_host_is_emptied_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    let open = || Arc::new(RedbBackend::open(&file, Arc::new(SystemClock)).unwrap());
    {
        let killed = Host::start(open(), PATIENCE).await.unwrap();
        killed.seal.begin(sharing(3, 2)).await.unwrap();
        let store = killed.store(Namespace::Access);
        store.commit(vec![], first()).await.unwrap();
    }
    let began = Instant::now();
    let restarted = Host::start(open(), PATIENCE).await.unwrap();
    restarted.seal.begin(sharing(3, 2)).await.unwrap();
    assert!(began.elapsed() < LEASE / 5, "{:?}", began.elapsed());
    let left = value(&restarted.store(Namespace::Access), "system").await;
    assert_eq!(left, None);
}

#[tokio::test(start_paused = true)]
async fn k2_of_two_hosts_with_one_key_file_one_makes_the_keyring_and_both_open_it() {
    let below = memory();
    let (slow, fast) = (Link::to(&below), Link::to(&below));
    let [slow_store, fast_store] = [&slow, &fast]
        .map(|link| Arc::new(SealedBackend::new(link.clone(), Arc::new(SystemClock))));
    slow.hold_up();
    let started = {
        let store = slow_store.clone();
        tokio::spawn(async move { store.unseal(&root_key()).await })
    };
    slow.is_reached().await;
    let made = fast_store.unseal(&root_key()).await;
    assert_eq!(made, Ok(Unsealed::Created));
    let store = PrivateStore::new(fast_store, Namespace::Access);
    store.commit(vec![], first()).await.unwrap();
    slow.release();
    assert_eq!(started.await.unwrap(), Ok(Unsealed::Opened));
    let store = PrivateStore::new(slow_store, Namespace::Access);
    assert_eq!(value(&store, "system").await.as_deref(), Some("first"));
}
