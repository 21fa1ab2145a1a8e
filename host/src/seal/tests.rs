use std::path::PathBuf;

use gatehouse_ports::{Change, StoreError, SystemClock};
use gatehouse_store::{Namespace, PrivateStore, create_key_file};
use zeroize::Zeroizing;

use super::*;
use crate::runtime::services::{InitializeError, Progress, SealFailure, UnsealError as Refusal};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn key_file(&self, name: &str) -> PathBuf {
        let file = self.0.path().join(name);
        if !file.exists() {
            create_key_file(&file).unwrap();
        }
        file
    }

    /// Starts with this `[seal]` section and a durable store.
    async fn open(&self, seal: &str) -> Result<SealedStore> {
        let folder = self.0.path().join("store");
        let text = format!("[storage]\npath = {folder:?}\n[seal]\n{seal}");
        open(&text).await
    }

    async fn open_with_key_file(&self, name: &str) -> Result<SealedStore> {
        self.open(&format!("key_file = {:?}", self.key_file(name)))
            .await
    }
}

const SHAMIR: &str = "type = \"shamir\"";

async fn open(text: &str) -> Result<SealedStore> {
    let settings = Settings::from_text(text, [], []).unwrap();
    let clock: SharedClock = Arc::new(SystemClock);
    SealedStore::open(&settings, &clock).await
}

impl SealedStore {
    async fn put(&self) -> Result<(), String> {
        let store = PrivateStore::new(self.store.clone(), Namespace::Access);
        let change = Change::Put {
            key: "system".into(),
            value: b"first".to_vec(),
            expires_at: None,
        };
        let put = store.commit(vec![], vec![change]).await;
        put.map_err(|error| error.to_string())
    }

    /// Whether the record is there; `None` while sealed.
    async fn holds(&self) -> Option<bool> {
        let store = PrivateStore::new(self.store.clone(), Namespace::Access);
        match store.get(&["system"]).await {
            Ok(entries) => Some(entries[0].is_some()),
            Err(error) => {
                assert_eq!(error, StoreError::Sealed);
                None
            }
        }
    }

    async fn status(&self) -> Option<Progress> {
        self.seal.status().await.unwrap()
    }

    async fn initialize(&self) -> Vec<Zeroizing<Vec<u8>>> {
        let shares = self.seal.begin_initialization(3, 2).await.unwrap();
        self.put().await.unwrap();
        self.seal.finish_initialization().await.unwrap();
        shares
    }
}

#[tokio::test]
async fn k2_a_key_file_opens_the_store_at_every_start() {
    let place = Place::new();
    for holds in [false, true] {
        let opened = place.open_with_key_file("key").await.unwrap();
        assert!(opened.status().await.is_none());
        assert_eq!(opened.holds().await, Some(holds));
        opened.put().await.unwrap();
    }
    let sealed = place.open_with_key_file("another key").await.unwrap();
    assert_eq!(sealed.holds().await, None);
}

#[tokio::test]
async fn an_automatic_seal_has_no_shares_and_closes_until_the_next_start() {
    let place = Place::new();
    let opened = place.open_with_key_file("key").await.unwrap();
    let automatic = SealFailure::Automatic;
    let several = opened.seal.begin_initialization(5, 3).await.err();
    assert!(matches!(
        several,
        Some(InitializeError::Failure(SealFailure::Automatic))
    ));
    let none = opened.seal.begin_initialization(1, 1).await.unwrap();
    assert!(none.is_empty());
    opened.put().await.unwrap();
    opened.seal.finish_initialization().await.unwrap();
    assert_eq!(opened.holds().await, Some(true), "it stays open");

    opened.seal.seal().await.unwrap();
    assert_eq!(opened.holds().await, None);
    let share = Zeroizing::new(vec![1; 33]);
    let refused = opened.seal.unseal(share).await.err().unwrap();
    assert!(matches!(refused, Refusal::Failure(SealFailure::Automatic)));
    let reset = opened.seal.reset_unseal().await.err();
    assert_eq!(format!("{reset:?}"), format!("{:?}", Some(automatic)));
    drop(opened);
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
}

#[tokio::test]
async fn k2_shares_open_the_store_after_every_start() {
    let place = Place::new();
    let empty = place.open(SHAMIR).await.unwrap();
    let status = empty.status().await.unwrap();
    assert_eq!((status.initialized, status.sealed), (false, true));
    assert_eq!((status.shares, status.threshold), (0, 0));
    for (shares, threshold) in [(0, 0), (3, 1), (2, 3), (256, 2)] {
        let refused = empty.seal.begin_initialization(shares, threshold).await;
        assert!(matches!(
            refused.err(),
            Some(InitializeError::InvalidNumbers)
        ));
    }
    let shares = empty.initialize().await;
    let again = empty.seal.begin_initialization(3, 2).await.err();
    assert!(matches!(again, Some(InitializeError::AlreadyInitialized)));
    drop(empty);

    for pair in [[0, 1], [2, 0]] {
        let closed = place.open(SHAMIR).await.unwrap();
        let status = closed.status().await.unwrap();
        assert_eq!((status.initialized, status.sealed), (true, true));
        assert_eq!((status.shares, status.threshold), (3, 2));
        assert_eq!(closed.holds().await, None);
        let malformed = closed.seal.unseal(Zeroizing::new(vec![1; 5])).await;
        assert!(matches!(malformed.err(), Some(Refusal::Malformed)));
        let one = closed.seal.unseal(shares[pair[0]].clone()).await.unwrap();
        assert_eq!((one.given, one.nonce.len()), (1, 36));
        let wrong = closed.seal.unseal(Zeroizing::new(vec![1; 33])).await;
        assert!(matches!(wrong.err(), Some(Refusal::WrongShares)));
        let kept = closed.status().await.unwrap();
        assert_eq!((kept.given, kept.nonce), (1, one.nonce));
        for place in pair {
            closed.seal.unseal(shares[place].clone()).await.unwrap();
        }
        let status = closed.status().await.unwrap();
        assert_eq!((status.sealed, status.given), (false, 0));
        assert_eq!(closed.holds().await, Some(true));
    }
}

#[tokio::test]
async fn an_initialization_that_was_cut_off_leaves_nothing_after_a_restart() {
    let place = Place::new();
    let begun = place.open(SHAMIR).await.unwrap();
    begun.seal.begin_initialization(3, 2).await.unwrap();
    begun.put().await.unwrap();
    drop(begun);
    let empty = place.open(SHAMIR).await.unwrap();
    assert!(!empty.status().await.unwrap().initialized);
    empty.seal.begin_initialization(3, 2).await.unwrap();
    assert_eq!(empty.holds().await, Some(false));
    empty.seal.abandon_initialization().await.unwrap();
    drop(empty);
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(false), "nor of the kind of seal");
}

#[tokio::test]
async fn k2_a_store_of_the_other_kind_is_refused_with_the_setting_that_cures_it() {
    let place = Place::new();
    drop(place.open_with_key_file("key").await.unwrap());
    let refused = place.open(SHAMIR).await.err().unwrap();
    assert!(format!("{refused:#}").contains("set seal.key_file"));

    let place = Place::new();
    place.open(SHAMIR).await.unwrap().initialize().await;
    let refused = place.open_with_key_file("key").await.err().unwrap();
    assert!(format!("{refused:#}").contains("set seal.type = \"shamir\""));
}

#[tokio::test]
async fn a_store_in_memory_may_have_either_kind() {
    let memory = "[storage]\ntype = \"memory\"\n";
    let opened = open(memory).await.unwrap();
    assert!(opened.status().await.is_none());
    assert_eq!(opened.holds().await, Some(false));
    let closed = open(&format!("{memory}[seal]\n{SHAMIR}")).await.unwrap();
    assert_eq!(closed.holds().await, None);
    for share in closed.initialize().await.into_iter().take(2) {
        closed.seal.unseal(share).await.unwrap();
    }
    assert_eq!(closed.holds().await, Some(true));
}
