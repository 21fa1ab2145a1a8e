use std::path::PathBuf;

use gatehouse_access::{Access, System as _, TokenLookup as _, TokenReference};
use gatehouse_store::create_key_file;
use tempfile::TempDir;

use super::*;
use crate::backup::begin_offline;
use crate::seal::SealedStore;

/// A folder with stores, keys and backups.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Settings of a store with a key file of its own.
    fn by_file(&self, store: &str, key: &str) -> Settings {
        let key = self.at(key);
        if !key.exists() {
            create_key_file(&key).unwrap();
        }
        self.settings(store, &format!("key_file = {key:?}"))
    }

    fn settings(&self, store: &str, seal: &str) -> Settings {
        let store = self.at(store);
        let text = format!("[storage]\npath = {store:?}\n[seal]\n{seal}\n");
        Settings::from_text(&text, [], []).unwrap()
    }

    /// Backs up a store of a stopped server.
    async fn back_up(&self, settings: &Settings) -> PathBuf {
        let mut backup = begin_offline(settings, no_share).await.unwrap();
        let mut bytes = Vec::new();
        while let Some(part) = backup.next().await.unwrap() {
            bytes.extend(part);
        }
        let file = self.at("backup");
        std::fs::write(&file, bytes).unwrap();
        file
    }
}

fn no_share(_: usize, _: u8) -> Result<Zeroizing<Vec<u8>>> {
    bail!("no share is given")
}

fn options(file: &Path) -> RestoreOptions<'_> {
    RestoreOptions {
        file,
        key_file: None,
        sharing: None,
        keep_tokens: false,
    }
}

async fn restored(settings: &Settings, options: RestoreOptions<'_>) -> Result<Restored> {
    let show = |_: &[KeyShare]| Ok(());
    restore(settings, options, no_share, show, |_| {}).await
}

async fn opened(settings: &Settings) -> SealedStore {
    let clock: SharedClock = Arc::new(SystemClock);
    SealedStore::open(settings, &clock).await.unwrap()
}

fn access(store: &Arc<dyn Backend>) -> impl Access {
    let store = PrivateStore::new(Arc::clone(store), Namespace::Access);
    AccessService::new(BlockingStore::new(store), SystemClock, OsRandom)
}

/// Initializes a store; answers its root token.
async fn initialized(settings: &Settings) -> String {
    let opened = opened(settings).await;
    let made = access(&opened.store).initialize(None);
    made.ok().unwrap().root_token
}

async fn is_valid(settings: &Settings, token: &str) -> bool {
    let opened = opened(settings).await;
    let token = TokenReference::Id(token.into());
    access(&opened.store).lookup_token(&token).is_ok()
}

#[tokio::test]
async fn s11_tokens_of_a_backup_end_unless_they_are_kept_and_a_new_root_token_gets_in() {
    let place = Place::new();
    let original = place.by_file("original", "key");
    let root = initialized(&original).await;
    let backup = place.back_up(&original).await;

    let target = place.by_file("target", "key");
    let done = restored(&target, options(&backup)).await.unwrap();
    assert!(!done.has_new_key);
    assert!(done.inventory.manifest.installation.is_some());
    assert!(!is_valid(&target, &root).await);
    {
        let opened = opened(&target).await;
        let access = access(&opened.store);
        let cluster = access.current_cluster().unwrap().unwrap();
        assert_eq!(Some(cluster.id), done.inventory.manifest.installation);
        let new = access.generate_root().ok().unwrap();
        let reference = TokenReference::Id(new.expose().into());
        assert!(access.lookup_token(&reference).is_ok());
    }

    let kept = place.by_file("kept", "key");
    let keeping = RestoreOptions {
        keep_tokens: true,
        ..options(&backup)
    };
    restored(&kept, keeping).await.unwrap();
    assert!(is_valid(&kept, &root).await);
    // The original is as it was.
    assert!(is_valid(&original, &root).await);
}

#[tokio::test]
async fn s11_a_store_that_is_not_empty_stays_as_it_is() {
    let place = Place::new();
    let original = place.by_file("original", "key");
    let root = initialized(&original).await;
    let backup = place.back_up(&original).await;
    let refused = restored(&original, options(&backup)).await.unwrap_err();
    assert!(refused.to_string().contains("not empty"), "{refused}");
    assert!(is_valid(&original, &root).await);
}

#[tokio::test]
async fn k2_a_backup_is_restored_under_the_key_that_the_settings_name() {
    let place = Place::new();
    let original = place.by_file("original", "key");
    initialized(&original).await;
    let backup = place.back_up(&original).await;
    let target = place.by_file("target", "another");
    let refused = restored(&target, options(&backup)).await.unwrap_err();
    assert!(refused.to_string().contains("another key"), "{refused}");

    let key = place.at("key");
    let with_key = RestoreOptions {
        key_file: Some(&key),
        ..options(&backup)
    };
    let done = restored(&target, with_key).await.unwrap();
    assert!(done.has_new_key);
    let opened = opened(&target).await;
    assert!(access(&opened.store).current_cluster().unwrap().is_some());
}

#[tokio::test]
async fn k2_a_backup_goes_from_a_key_file_to_shares_and_back() {
    let place = Place::new();
    let original = place.by_file("original", "key");
    initialized(&original).await;
    let backup = place.back_up(&original).await;
    let by_shares = place.settings("shares", "type = \"shamir\"");
    let key = place.at("key");
    let with_key = RestoreOptions {
        key_file: Some(&key),
        ..options(&backup)
    };
    let refused = restored(&by_shares, with_key).await.unwrap_err();
    assert!(refused.to_string().contains("--key-shares"), "{refused}");
    let split = RestoreOptions {
        sharing: Some(Sharing::new(3, 2).unwrap()),
        ..with_key
    };
    let mut shares = Vec::new();
    let show = |made: &[KeyShare]| {
        let bytes = made.iter().map(|share| share.as_bytes().to_vec());
        shares = bytes.map(Zeroizing::new).collect();
        Ok(())
    };
    let done = restore(&by_shares, split, no_share, show, |_| {}).await;
    assert!(done.unwrap().has_new_key);

    let share = |given: usize, _| shares.get(given).cloned().context("no more shares");
    let mut made = begin_offline(&by_shares, share).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(part) = made.next().await.unwrap() {
        bytes.extend(part);
    }
    drop(made);
    let backup = place.at("backup-of-shares");
    std::fs::write(&backup, bytes).unwrap();
    let back = place.by_file("back", "third");
    let show = |_: &[KeyShare]| Ok(());
    let done = restore(&back, options(&backup), share, show, |_| {}).await;
    assert!(done.unwrap().has_new_key);
    let opened = opened(&back).await;
    assert!(access(&opened.store).current_cluster().unwrap().is_some());
}

#[tokio::test]
async fn k9_a_restored_store_is_the_newest_copy_for_its_witness() {
    let place = Place::new();
    let original = place.by_file("original", "key");
    let witness = place.at("witness");
    let witnessed = |store: &str| {
        let key = place.at("key");
        place.settings(store, &format!("key_file = {key:?}\nwitness = {witness:?}"))
    };
    drop(original);
    let first = witnessed("original");
    initialized(&first).await;
    let backup = place.back_up(&first).await;
    // Counted on, so that the backup is an old copy.
    drop(opened(&first).await);
    drop(opened(&first).await);
    let target = witnessed("target");
    restored(&target, options(&backup)).await.unwrap();
    drop(opened(&target).await);
    let clock: SharedClock = Arc::new(SystemClock);
    let lost = SealedStore::open(&first, &clock).await;
    let refused = lost.err().unwrap().to_string();
    assert!(refused.contains("old copy"), "{refused}");
}

#[tokio::test]
async fn s11_there_is_no_backup_of_a_store_that_is_not_there_or_in_use() {
    let place = Place::new();
    let settings = place.by_file("original", "key");
    let missing = begin_offline(&settings, no_share).await.err().unwrap();
    assert!(
        missing.to_string().contains("there is no store"),
        "{missing}"
    );
    assert!(!place.at("original/gatehouse.redb").exists());
    let running = opened(&settings).await;
    let in_use = begin_offline(&settings, no_share).await.err().unwrap();
    assert!(in_use.to_string().contains("--address"), "{in_use}");
    drop(running);
    let memory = Settings::from_text("storage.type = \"memory\"", [], []).unwrap();
    assert!(begin_offline(&memory, no_share).await.is_err());
    let file = place.at("nothing");
    assert!(restored(&memory, options(&file)).await.is_err());
}
