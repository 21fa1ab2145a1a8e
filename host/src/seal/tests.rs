use std::path::PathBuf;

use gatehouse_ports::{Change, Put, StoreError, SystemClock};
use gatehouse_store::{Namespace, PrivateStore, create_key_file};
use zeroize::Zeroizing;

use super::*;
use crate::runtime::services::{InitializeError, Progress, SealError, UnsealError as Refusal};

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
        let change = Change::Put(Put {
            key: "system".into(),
            value: b"first".to_vec(),
            expires_at: None,
        });
        let put = store.commit(vec![], vec![change]).await;
        put.map_err(|error| error.to_string())
    }

    /// True if the record is there; `None` while sealed.
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
    let automatic = SealError::Automatic;
    let several = opened.seal.begin_initialization(5, 3).await.err();
    assert!(matches!(
        several,
        Some(InitializeError::Failure(SealError::Automatic))
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
    assert!(matches!(refused, Refusal::Failure(SealError::Automatic)));
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

/// Settings over the durable store of `place`.
fn settings(place: &Place, seal: &str) -> Settings {
    let folder = place.0.path().join("store");
    let text = format!("[storage]\npath = {folder:?}\n[seal]\n{seal}");
    Settings::from_text(&text, [], []).unwrap()
}

fn by_key_file(place: &Place, name: &str) -> String {
    format!("key_file = {:?}", place.key_file(name))
}

#[tokio::test]
async fn k4_the_key_of_a_store_with_a_key_file_is_rotated_without_the_file() {
    let place = Place::new();
    let opened = place.open_with_key_file("key").await.unwrap();
    opened.put().await.unwrap();
    let keys = opened.seal.keys().unwrap();
    assert_eq!(keys.current().await.unwrap().term, 1);
    std::fs::remove_file(place.key_file("key")).unwrap();
    keys.rotate().await.unwrap();
    assert_eq!(keys.current().await.unwrap().term, 2);
    assert!(opened.seal.ceremonies().is_none());
    assert_eq!(opened.holds().await, Some(true));
    opened.seal.seal().await.unwrap();
    assert!(keys.rotate().await.is_err());
}

#[tokio::test]
async fn k2_a_key_file_is_replaced_and_the_old_one_kept() {
    let place = Place::new();
    place
        .open_with_key_file("key")
        .await
        .unwrap()
        .put()
        .await
        .unwrap();
    let settings = settings(&place, &by_key_file(&place, "key"));
    let first = std::fs::read(place.key_file("key")).unwrap();
    let former = migration::replace_key_file(&settings).await.unwrap();
    assert_eq!(std::fs::read(&former).unwrap(), first);
    assert_ne!(std::fs::read(place.key_file("key")).unwrap(), first);
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
    drop(opened);
    let by_former = place.open_with_key_file("key.old").await.unwrap();
    assert_eq!(by_former.holds().await, None);
    drop(by_former);

    let again = migration::replace_key_file(&settings).await.unwrap_err();
    assert!(
        format!("{again:#}").contains("holds an earlier key"),
        "{again:#}"
    );
    std::fs::remove_file(former).unwrap();
    migration::replace_key_file(&settings).await.unwrap();
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
}

#[tokio::test]
async fn k2_a_replacement_that_was_cut_off_anywhere_is_finished_by_the_next_start() {
    let place = Place::new();
    place
        .open_with_key_file("key")
        .await
        .unwrap()
        .put()
        .await
        .unwrap();
    // Cut off before the store was sealed by the new key: it is there, and counts for nothing.
    place.key_file("key.new");
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
    drop(opened);
    // Cut off before the new key took its place.
    let settings = settings(&place, &by_key_file(&place, "key"));
    let store = stopped_store(&settings).await.unwrap();
    let key = |name: &str| gatehouse_store::read_key_file(&place.key_file(name)).unwrap();
    store.unseal(&key("key")).await.unwrap();
    store
        .change_root_key(&key("key"), &key("key.new"))
        .await
        .unwrap();
    drop(store);
    let new = std::fs::read(place.key_file("key.new")).unwrap();
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
    assert_eq!(std::fs::read(place.key_file("key")).unwrap(), new);
    assert!(!place.0.path().join("key.new").exists());
}

#[tokio::test]
async fn k2_a_store_moves_to_shares_and_back() {
    let place = Place::new();
    place
        .open_with_key_file("key")
        .await
        .unwrap()
        .put()
        .await
        .unwrap();
    let with_file = settings(&place, &by_key_file(&place, "key"));
    let sharing = gatehouse_store::Sharing::new(3, 2).unwrap();
    let refused = migration::to_shares(&with_file, sharing, |_| anyhow::bail!("no printer"));
    assert!(
        refused.await.is_err(),
        "shares that nobody has seen open nothing"
    );
    let opened = place.open_with_key_file("key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
    drop(opened);

    let mut shares = Vec::new();
    let show = |made: &[gatehouse_store::KeyShare]| {
        shares.extend(
            made.iter()
                .map(|share| Zeroizing::new(share.as_bytes().to_vec())),
        );
        Ok(())
    };
    migration::to_shares(&with_file, sharing, show)
        .await
        .unwrap();
    assert!(place.open_with_key_file("key").await.is_err());
    let closed = place.open(SHAMIR).await.unwrap();
    for share in &shares[1..] {
        closed.seal.unseal(share.clone()).await.unwrap();
    }
    assert_eq!(closed.holds().await, Some(true));
    drop(closed);

    let in_shares = settings(&place, SHAMIR);
    let next = place.0.path().join("next key");
    let few = migration::to_key_file(&in_shares, &next, |given, needed| {
        assert_eq!(needed, 2);
        shares
            .get(given)
            .filter(|_| given == 0)
            .cloned()
            .context("there are too few")
    });
    assert!(few.await.is_err());
    assert!(!next.exists());
    let all = |given: usize, _| Ok(shares[given].clone());
    migration::to_key_file(&in_shares, &next, all)
        .await
        .unwrap();
    assert!(place.open(SHAMIR).await.is_err());
    let opened = place.open_with_key_file("next key").await.unwrap();
    assert_eq!(opened.holds().await, Some(true));
    let no_share = |_, _| anyhow::bail!("no share is asked for");
    let wrong_kind = migration::to_key_file(&with_file, &next, no_share).await;
    assert!(format!("{:#}", wrong_kind.unwrap_err()).contains("already"));
}

/// Copies the store of `place` to a folder beside it, or back.
fn copy_store(place: &Place, from: &str, to: &str) {
    let (from, to) = (place.0.path().join(from), place.0.path().join(to));
    std::fs::create_dir_all(&to).unwrap();
    std::fs::copy(from.join(STORE_FILE), to.join(STORE_FILE)).unwrap();
}

#[tokio::test]
async fn k9_an_old_copy_of_the_store_is_refused_until_somebody_accepts_it() {
    let place = Place::new();
    let witness = place.0.path().join("witness");
    let seal = format!("{}\nwitness = {witness:?}", by_key_file(&place, "key"));
    for _ in 0..2 {
        place.open(&seal).await.unwrap().put().await.unwrap();
    }
    copy_store(&place, "store", "old");
    drop(place.open(&seal).await.unwrap());
    copy_store(&place, "store", "newest");
    copy_store(&place, "old", "store");
    let refused = place.open(&seal).await.err().unwrap();
    let text = format!("{refused:#}");
    assert!(
        text.contains("its counter is 2") && text.contains("has seen 3"),
        "{text}"
    );
    assert!(text.contains("--accept-rollback"), "{text}");

    copy_store(&place, "newest", "store");
    drop(place.open(&seal).await.unwrap());
    copy_store(&place, "old", "store");
    witness::Witness::new(witness.clone()).forget().unwrap();
    drop(place.open(&seal).await.unwrap());
    drop(place.open(&seal).await.unwrap());

    // Another store under the same witness, and one that was never counted.
    std::fs::remove_dir_all(place.0.path().join("store")).unwrap();
    let refused = place.open(&seal).await.err().unwrap();
    assert!(
        format!("{refused:#}").contains("it has no counter"),
        "{refused:#}"
    );
    std::fs::write(&witness, format!("gatehouse-witness-1 {:032x} 1", 7)).unwrap();
    copy_store(&place, "newest", "store");
    let refused = place.open(&seal).await.err().unwrap();
    assert!(
        format!("{refused:#}").contains("another store"),
        "{refused:#}"
    );
    std::fs::write(&witness, "something else").unwrap();
    assert!(place.open(&seal).await.is_err());
}

#[tokio::test]
async fn k9_running_counts_the_store_and_the_witness_never_knows_of_more() {
    let place = Place::new();
    let witness = place.0.path().join("witness");
    let seal = format!("{}\nwitness = {witness:?}", by_key_file(&place, "key"));
    let seen = || std::fs::read_to_string(&witness).unwrap();
    let opened = place.open(&seal).await.unwrap();
    assert!(seen().ends_with(" 1\n"), "{}", seen());
    let SealedStore {
        store,
        seal: held,
        mut upkeep,
        backups,
    } = opened;
    upkeep.run().await;
    assert!(seen().ends_with(" 1\n"), "a minute has not passed");
    upkeep.repeat(async {}).await;
    assert!(seen().ends_with(" 2\n"), "the stop is counted: {}", seen());
    drop((store, held, backups));
    let opened = place.open(&seal).await.unwrap();
    assert!(seen().ends_with(" 3\n"));
    drop(opened);
}

#[tokio::test]
async fn k9_a_seal_of_shares_shows_an_old_copy_too() {
    let place = Place::new();
    let witness = place.0.path().join("witness");
    let seal = format!("{SHAMIR}\nwitness = {witness:?}");
    let mut opened = place.open(&seal).await.unwrap();
    opened.seal.begin_initialization(3, 2).await.unwrap();
    opened.upkeep.run().await;
    assert!(!witness.exists(), "what may be given up is not counted");
    opened.seal.abandon_initialization().await.unwrap();
    let shares = opened.initialize().await;
    opened.upkeep.run().await;
    assert!(!witness.exists(), "a store that is sealed is not counted");
    for share in &shares[..2] {
        opened.seal.unseal(share.clone()).await.unwrap();
    }
    opened.upkeep.run().await;
    drop(opened);
    copy_store(&place, "store", "old");
    let mut opened = place.open(&seal).await.unwrap();
    for share in &shares[..2] {
        opened.seal.unseal(share.clone()).await.unwrap();
    }
    opened.upkeep.run().await;
    drop(opened);
    copy_store(&place, "old", "store");
    let refused = place.open(&seal).await.err().unwrap();
    assert!(format!("{refused:#}").contains("old copy"), "{refused:#}");
}
