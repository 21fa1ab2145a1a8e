//! The barrier above a backend.

use std::sync::Arc;

use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{Change, CommitError, Entry, OsRandom, Put, StoreError, SystemClock};
use gatehouse_store::{
    Backend, KeyringError, MemoryBackend, Namespace, PrivateStore, RedbBackend, RootKey,
    SealedBackend, Term, UnsealError, Unsealed,
};

use crate::subject::{START, put, put_until, root_key, value};

struct Layers {
    below: Arc<MemoryBackend>,
    clock: Arc<ManualClock>,
    sealed: Arc<SealedBackend<Arc<MemoryBackend>>>,
}

impl Layers {
    fn sealed() -> Self {
        let clock = Arc::new(ManualClock::at_seconds(START / 1000));
        let below = Arc::new(MemoryBackend::new(clock.clone()));
        let sealed = Arc::new(SealedBackend::new(below.clone(), clock.clone()));
        Self {
            below,
            clock,
            sealed,
        }
    }

    async fn unsealed() -> Self {
        let layers = Self::sealed();
        let unsealed = layers.sealed.unseal(&root_key()).await;
        assert_eq!(unsealed, Ok(Unsealed::Created));
        layers
    }

    /// The same backend below a barrier that is down, as after a restart.
    fn restarted(&self) -> Self {
        Self {
            below: self.below.clone(),
            clock: self.clock.clone(),
            sealed: Arc::new(SealedBackend::new(self.below.clone(), self.clock.clone())),
        }
    }

    fn store(&self, namespace: Namespace) -> PrivateStore {
        PrivateStore::new(self.sealed.clone(), namespace)
    }

    fn access(&self) -> PrivateStore {
        self.store(Namespace::Access)
    }

    async fn raw(&self, namespace: Namespace, key: &str) -> Entry {
        let mut entries = self.below.get(namespace, &[key]).await.unwrap();
        entries.remove(0).unwrap()
    }

    async fn overwrite(&self, namespace: Namespace, key: &str, value: Vec<u8>) {
        let key = key.to_owned();
        let expires_at = None;
        let change = Change::Put(Put {
            key,
            value,
            expires_at,
        });
        let written = self.below.commit(namespace, vec![], vec![change]).await;
        written.unwrap();
    }
}

fn other_root_key() -> RootKey {
    RootKey::generate(&OsRandom).unwrap()
}

async fn is_corrupt(store: &PrivateStore, key: &str) -> bool {
    let corrupt = StoreError::Corrupt(key.to_owned());
    let scanned = store.scan("", None, 1000).await;
    store.get(&[key]).await == Err(corrupt.clone()) && scanned == Err(corrupt)
}

#[tokio::test]
async fn k2_a_sealed_store_answers_nothing() {
    let layers = Layers::sealed();
    let store = layers.access();
    assert!(layers.sealed.is_sealed());
    assert_eq!(store.get(&["a"]).await, Err(StoreError::Sealed));
    assert_eq!(store.scan("", None, 1).await, Err(StoreError::Sealed));
    let outcome = store.commit(vec![], vec![put("a", "1")]).await;
    assert_eq!(outcome, Err(CommitError::Failed(StoreError::Sealed)));
    assert_eq!(layers.below.held_entries(), 0);
}

#[tokio::test]
async fn k2_the_same_root_key_opens_after_a_restart_and_another_leaves_it_sealed() {
    let layers = Layers::unsealed().await;
    let change = put("a", "1");
    layers.access().commit(vec![], vec![change]).await.unwrap();

    let restarted = layers.restarted();
    let wrong = restarted.sealed.unseal(&other_root_key()).await;
    let refusal = UnsealError::Keyring(KeyringError::WrongRootKey);
    assert_eq!(wrong, Err(refusal));
    assert_eq!(
        restarted.access().get(&["a"]).await,
        Err(StoreError::Sealed)
    );
    let right = restarted.sealed.unseal(&root_key()).await;
    assert_eq!(right, Ok(Unsealed::Opened));
    assert_eq!(value(&restarted.access(), "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn k2_a_store_sealed_again_answers_nothing() {
    let layers = Layers::unsealed().await;
    layers.sealed.seal();
    assert_eq!(layers.access().get(&["a"]).await, Err(StoreError::Sealed));
}

#[tokio::test]
async fn k2_records_without_a_keyring_do_not_get_a_new_one() {
    let layers = Layers::sealed();
    layers.overwrite(Namespace::Orgs, "a", vec![1]).await;
    let outcome = layers.sealed.unseal(&root_key()).await;
    assert_eq!(outcome, Err(UnsealError::KeyringMissing));
    assert!(layers.sealed.is_sealed());
    assert_eq!(layers.below.held_entries(), 1);
}

#[tokio::test]
async fn k2_two_hosts_that_start_at_once_share_one_keyring() {
    let one = Layers::sealed();
    let other = one.restarted();
    let key = root_key();
    let (first, second) = tokio::join!(one.sealed.unseal(&key), other.sealed.unseal(&key));
    assert!(first.is_ok() && second.is_ok());
    one.access()
        .commit(vec![], vec![put("a", "1")])
        .await
        .unwrap();
    assert_eq!(value(&other.access(), "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn k1_the_backend_below_sees_no_value() {
    let layers = Layers::unsealed().await;
    let change = put("a", "a canary that sings");
    layers.access().commit(vec![], vec![change]).await.unwrap();
    let raw = layers.raw(Namespace::Access, "a").await.value;
    assert!(!raw.windows(6).any(|window| window == b"canary"));
}

#[tokio::test]
async fn k1_a_bit_flipped_below_is_reported_with_the_key() {
    let layers = Layers::unsealed().await;
    let store = layers.access();
    store.commit(vec![], vec![put("a", "1")]).await.unwrap();
    let raw = layers.raw(Namespace::Access, "a").await.value;
    for bit in 0..raw.len() * 8 {
        let mut altered = raw.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        layers.overwrite(Namespace::Access, "a", altered).await;
        assert!(is_corrupt(&store, "a").await, "bit {bit}");
    }
    layers.overwrite(Namespace::Access, "a", raw).await;
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn k1_records_exchanged_or_moved_between_stores_below_are_reported() {
    let layers = Layers::unsealed().await;
    let (access, orgs) = (layers.access(), layers.store(Namespace::Orgs));
    access
        .commit(vec![], vec![put("a", "1"), put("b", "2")])
        .await
        .unwrap();
    orgs.commit(vec![], vec![put("a", "3")]).await.unwrap();
    let of_b = layers.raw(Namespace::Access, "b").await.value;
    layers.overwrite(Namespace::Access, "a", of_b).await;
    assert!(is_corrupt(&access, "a").await);
    let of_orgs = layers.raw(Namespace::Orgs, "a").await.value;
    layers.overwrite(Namespace::Access, "a", of_orgs).await;
    assert!(is_corrupt(&access, "a").await);
    assert_eq!(value(&orgs, "a").await.as_deref(), Some("3"));
}

#[tokio::test]
async fn k1_an_end_of_life_removed_below_still_holds() {
    let layers = Layers::unsealed().await;
    let store = layers.access();
    let change = put_until("a", "1", Some(START + 5));
    store.commit(vec![], vec![change]).await.unwrap();
    let raw = layers.raw(Namespace::Access, "a").await.value;
    layers.overwrite(Namespace::Access, "a", raw).await;
    assert_eq!(value(&store, "a").await.as_deref(), Some("1"));
    layers.clock.advance(std::time::Duration::from_millis(5));
    assert_eq!(value(&store, "a").await, None);
    assert!(store.scan("", None, 1).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn k1_an_altered_keyring_leaves_the_store_sealed() {
    let layers = Layers::unsealed().await;
    let mut keyring = layers.raw(Namespace::Keyring, "keyring").await.value;
    keyring[40] ^= 1;
    layers
        .overwrite(Namespace::Keyring, "keyring", keyring)
        .await;
    let restarted = layers.restarted();
    assert!(restarted.sealed.unseal(&root_key()).await.is_err());
    assert!(restarted.sealed.is_sealed());
}

#[tokio::test]
async fn no_component_reaches_the_keyring() {
    let layers = Layers::unsealed().await;
    let store = layers.store(Namespace::Keyring);
    let read = store.get(&["keyring"]).await;
    assert!(matches!(read, Err(StoreError::Invalid(_))));
    let written = store.commit(vec![], vec![put("keyring", "")]).await;
    assert!(matches!(
        written,
        Err(CommitError::Failed(StoreError::Invalid(_)))
    ));
    assert!(layers.restarted().sealed.unseal(&root_key()).await.is_ok());
}

#[tokio::test]
async fn k4_rotation_keeps_old_records_readable_also_after_a_restart() {
    let layers = Layers::unsealed().await;
    let store = layers.access();
    store.commit(vec![], vec![put("old", "1")]).await.unwrap();
    assert_eq!(layers.sealed.rotate_key().await, Ok(Term(2)));
    assert_eq!(layers.sealed.rotate_key().await, Ok(Term(3)));
    store.commit(vec![], vec![put("new", "2")]).await.unwrap();
    let term = |sealed: Entry| sealed.value[1..5].to_vec();
    assert_eq!(
        term(layers.raw(Namespace::Access, "old").await),
        [0, 0, 0, 1]
    );
    assert_eq!(
        term(layers.raw(Namespace::Access, "new").await),
        [0, 0, 0, 3]
    );

    let restarted = layers.restarted();
    restarted.sealed.unseal(&root_key()).await.unwrap();
    for layers in [layers, restarted] {
        assert_eq!(value(&layers.access(), "old").await.as_deref(), Some("1"));
        assert_eq!(value(&layers.access(), "new").await.as_deref(), Some("2"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k4_rotation_goes_on_beside_reads_and_writes() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock);
    let file = RedbBackend::open(&directory.path().join("store.redb"), clock.clone()).unwrap();
    let sealed = Arc::new(SealedBackend::new(file, clock));
    sealed.unseal(&root_key()).await.unwrap();
    let work = |writer: u32| {
        let store = PrivateStore::new(sealed.clone(), Namespace::Access);
        async move {
            for number in 0..50 {
                let (key, text) = (format!("k/{writer}"), number.to_string());
                store.commit(vec![], vec![put(&key, &text)]).await.unwrap();
                assert_eq!(value(&store, &key).await, Some(text));
            }
        }
    };
    let workers: Vec<_> = (0..8).map(|writer| tokio::spawn(work(writer))).collect();
    for _ in 0..20 {
        sealed.rotate_key().await.unwrap();
    }
    for worker in workers {
        worker.await.unwrap();
    }
}

#[tokio::test]
async fn k2_the_root_key_can_be_replaced() {
    let layers = Layers::unsealed().await;
    layers
        .access()
        .commit(vec![], vec![put("a", "1")])
        .await
        .unwrap();
    let replacement = other_root_key();
    let changed = layers
        .sealed
        .change_root_key(&root_key(), &replacement)
        .await;
    assert_eq!(changed, Ok(()));

    let restarted = layers.restarted();
    assert!(restarted.sealed.unseal(&root_key()).await.is_err());
    restarted.sealed.unseal(&replacement).await.unwrap();
    assert_eq!(value(&restarted.access(), "a").await.as_deref(), Some("1"));
}
