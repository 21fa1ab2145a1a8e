//! Backups that become stores again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gatehouse_ports::OsRandom;
use gatehouse_store::{
    BackupError, Generation, KeyShare, Namespace, RestoredSeal, RootKey, SealKind, SealedBackend,
    ShareSeal, Sharing, UnsealError, Unsealed,
};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::{
    Below, above, backup, begin, content, database, file, fill, memory, open, private, restore,
    verify,
};
use crate::postgres_databases::Database;
use crate::subject::{delete, put, root_key, value, version};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_store_moves_from_a_file_to_a_database_and_back_byte_for_byte() {
    let (one, another) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = file(one.path());
    let sealed = open(&first).await;
    fill(&sealed).await;
    let tables = Database::with_tables().await;
    let second = database(&tables).await;
    let made = backup(&sealed).await.unwrap();
    let inventory = restore(&made, &second).await.unwrap();
    assert_eq!(inventory, verify(&made, Some(&root_key())).unwrap());
    assert_eq!(content(&second).await, content(&first).await);

    let third = file(another.path());
    let sealed = open(&second).await;
    let made = backup(&sealed).await.unwrap();
    restore(&made, &third).await.unwrap();
    assert_eq!(content(&third).await, content(&first).await);
    let sealed = above(&third);
    assert_eq!(sealed.unseal(&root_key()).await, Ok(Unsealed::Opened));
    let orgs = private(&sealed, Namespace::Orgs);
    assert_eq!(value(&orgs, "a").await.as_deref(), Some("orgs"));
}

#[tokio::test]
async fn s11_a_backup_says_what_it_is_of() {
    let below = memory();
    let sealed = open(&below).await;
    fill(&sealed).await;
    let made = backup(&sealed).await.unwrap();
    let inventory = verify(&made, None).unwrap();
    let manifest = gatehouse_store::read_manifest(&made[..]).unwrap();
    assert_eq!(inventory.manifest, manifest);
    assert_eq!(manifest.installation.as_deref(), Some("an id"));
    assert_eq!(manifest.seal, SealKind::KeyFile);
    // Keyring and the record of its key; four in each of the others.
    assert_eq!(inventory.summary.records, [2, 4, 4, 4, 4]);
}

/// Writes two records that are always equal, in one commit, until told to stop.
async fn write_pairs(sealed: Arc<SealedBackend<Below>>, stop: Arc<AtomicBool>) -> u32 {
    let store = private(&sealed, Namespace::Access);
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let text = number.to_string();
        let pair = vec![put("first", &text), put("the-last", &text)];
        store.commit(vec![], pair).await.unwrap();
    }
    number
}

async fn is_of_one_moment(below: Below) {
    let sealed = open(&below).await;
    let access = private(&sealed, Namespace::Access);
    let pair = vec![put("first", "0"), put("the-last", "0")];
    access.commit(vec![], pair).await.unwrap();
    // Enough between the two for several pages.
    let long = "between".repeat(20_000);
    for number in 0..12 {
        let between = vec![put(&format!("r{number}"), &long)];
        access.commit(vec![], between).await.unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(write_pairs(sealed.clone(), stop.clone()));
    let mut seen = Vec::new();
    for _ in 0..5 {
        let made = backup(&sealed).await.unwrap();
        let target = memory();
        restore(&made, &target).await.unwrap();
        let restored = open(&target).await;
        let restored = private(&restored, Namespace::Access);
        let first = value(&restored, "first").await.unwrap();
        assert_eq!(value(&restored, "the-last").await.unwrap(), first);
        seen.push(first.parse::<u32>().unwrap());
    }
    stop.store(true, Ordering::Relaxed);
    let last = writing.await.unwrap();
    assert!(seen.is_sorted() && seen.iter().all(|number| *number <= last));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_backup_under_load_is_of_one_moment_in_memory() {
    is_of_one_moment(memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_backup_under_load_is_of_one_moment_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    is_of_one_moment(file(folder.path())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_backup_under_load_is_of_one_moment_in_a_database() {
    let tables = Database::with_tables().await;
    is_of_one_moment(database(&tables).await).await;
}

async fn shows_its_moment(below: Below) {
    let sealed = open(&below).await;
    fill(&sealed).await;
    let before = content(&below).await;
    let mut snapshot = below.snapshot().await.unwrap();
    let access = private(&sealed, Namespace::Access);
    let changes = vec![put("a", "changed"), delete("~"), put("new", "")];
    access.commit(vec![], changes).await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = snapshot.page(Namespace::Access, after.as_deref()).await;
        let page = page.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        seen.extend(page.into_iter().map(|entry| (Namespace::Access, entry)));
    }
    let of_access: Vec<_> = before
        .into_iter()
        .filter(|(namespace, _)| *namespace == Namespace::Access)
        .collect();
    assert_eq!(seen, of_access);
    assert_ne!(content(&below).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_snapshot_shows_nothing_of_later_commits() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Database::with_tables().await;
    shows_its_moment(memory()).await;
    shows_its_moment(file(folder.path())).await;
    shows_its_moment(database(&tables).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_snapshot_outlives_its_backend() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Database::with_tables().await;
    for below in [memory(), file(folder.path()), database(&tables).await] {
        fill(&open(&below).await).await;
        let mut snapshot = below.snapshot().await.unwrap();
        drop(below);
        let page = snapshot.page(Namespace::Orgs, None).await.unwrap();
        assert_eq!(page.len(), 4);
    }
    // Until then the file is held.
    assert!(!content(&file(folder.path())).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_pages_of_a_snapshot_are_bounded_and_leave_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Database::with_tables().await;
    for below in [memory(), file(folder.path()), database(&tables).await] {
        let sealed = open(&below).await;
        let orgs = private(&sealed, Namespace::Orgs);
        for block in 0..3 {
            let many = (0..700).map(|number| put(&format!("n/{block}/{number:04}"), "v"));
            orgs.commit(vec![], many.collect()).await.unwrap();
        }
        let large = "x".repeat(1024 * 1024);
        for name in ["large/1", "large/2"] {
            orgs.commit(vec![], vec![put(name, &large)]).await.unwrap();
        }
        let made = backup(&sealed).await.unwrap();
        assert_eq!(verify(&made, None).unwrap().summary.records[3], 2102);
        let target = memory();
        restore(&made, &target).await.unwrap();
        assert_eq!(content(&target).await, content(&below).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_restore_wants_an_empty_store_and_leaves_another_as_it_is() {
    let source = memory();
    let sealed = open(&source).await;
    fill(&sealed).await;
    let made = backup(&sealed).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tables = Database::with_tables().await;
    for target in [memory(), file(folder.path()), database(&tables).await] {
        let other = open(&target).await;
        private(&other, Namespace::Access)
            .commit(vec![], vec![put("own", "")])
            .await
            .unwrap();
        let before = content(&target).await;
        let refused = begin(&made, &target, &root_key()).await;
        assert!(matches!(refused.err(), Some(BackupError::NotEmpty)));
        assert_eq!(content(&target).await, before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_versions_that_the_lost_store_gave_after_the_backup_are_not_given_again() {
    let folder = TempDir::new().unwrap();
    let tables = Database::with_tables().await;
    for target in [memory(), file(folder.path()), database(&tables).await] {
        let source = memory();
        let sealed = open(&source).await;
        fill(&sealed).await;
        let made = backup(&sealed).await.unwrap();
        let access = private(&sealed, Namespace::Access);
        let mut given = Vec::new();
        for number in 0..100 {
            let change = vec![put("a", &number.to_string())];
            access.commit(vec![], change).await.unwrap();
            given.push(version(&access, "a").await);
        }
        restore(&made, &target).await.unwrap();
        let restored = open(&target).await;
        let restored = private(&restored, Namespace::Access);
        let beyond = given.iter().copied().max().unwrap() + (1 << 39);
        assert!(version(&restored, "a").await > beyond);
        restored
            .commit(vec![], vec![put("a", "after")])
            .await
            .unwrap();
        assert!(version(&restored, "a").await > beyond);
    }
}

#[tokio::test]
async fn s11_a_restored_file_gives_higher_versions_also_after_it_was_opened_again() {
    let source = memory();
    let sealed = open(&source).await;
    let made = backup(&sealed).await.unwrap();
    let folder = TempDir::new().unwrap();
    restore(&made, &file(folder.path())).await.unwrap();
    let again = file(folder.path());
    let restored = open(&again).await;
    let access = private(&restored, Namespace::Access);
    access.commit(vec![], vec![put("a", "")]).await.unwrap();
    assert!(version(&access, "a").await > 1 << 40);
}

fn another_key() -> RootKey {
    RootKey::generate(&OsRandom).unwrap()
}

async fn unsealed_by(below: &Below, shares: &[KeyShare]) -> Arc<SealedBackend<Below>> {
    let sealed = above(below);
    let seal = ShareSeal::open(sealed.clone(), Duration::ZERO).await;
    let seal = seal.unwrap();
    for share in shares {
        let bytes = Zeroizing::new(share.as_bytes().to_vec());
        seal.unseal(bytes).await.unwrap();
    }
    sealed
}

#[tokio::test]
async fn k2_a_restored_store_gets_another_key_in_a_file_or_in_shares() {
    let source = memory();
    let sealed = open(&source).await;
    fill(&sealed).await;
    let made = backup(&sealed).await.unwrap();

    let (key, by_file) = (another_key(), memory());
    let restoration = begin(&made, &by_file, &root_key()).await.unwrap();
    let seal = RestoredSeal::Whole(&key);
    restoration.finish(seal, None).await.unwrap();
    let refused = above(&by_file).unseal(&root_key()).await;
    assert!(matches!(refused, Err(UnsealError::Keyring(_))));
    let restored = above(&by_file);
    assert_eq!(restored.unseal(&key).await, Ok(Unsealed::Opened));

    let sharing = Sharing::new(3, 2).unwrap();
    let shares = key.split(sharing, &OsRandom).unwrap();
    let made = backup(&restored).await.unwrap();
    let by_shares = memory();
    let restoration = begin(&made, &by_shares, &key).await.unwrap();
    let seal = RestoredSeal::Split(&key, sharing);
    restoration.finish(seal, None).await.unwrap();
    let refused = above(&by_shares).unseal(&key).await;
    assert_eq!(refused, Err(UnsealError::SharesNeeded));
    let restored = unsealed_by(&by_shares, &shares[1..]).await;
    let access = private(&restored, Namespace::Access);
    assert_eq!(value(&access, "a").await.as_deref(), Some("access"));

    // Back to a file, and as it was.
    let made = backup(&restored).await.unwrap();
    let kind = verify(&made, Some(&key)).unwrap().manifest.seal;
    assert_eq!(kind.sharing(), Some(sharing));
    let back = memory();
    let restoration = begin(&made, &back, &key).await.unwrap();
    let seal = RestoredSeal::Whole(&key);
    restoration.finish(seal, None).await.unwrap();
    assert_eq!(above(&back).unseal(&key).await, Ok(Unsealed::Opened));
    let same = memory();
    let restoration = begin(&made, &same, &key).await.unwrap();
    restoration
        .finish(RestoredSeal::AsItWas, None)
        .await
        .unwrap();
    assert!(!unsealed_by(&same, &shares[..2]).await.is_sealed());
}

#[tokio::test]
async fn k9_a_restored_store_is_counted_as_it_is_told() {
    let source = memory();
    let sealed = open(&source).await;
    let counted = sealed.advance_generation().await.unwrap();
    let made = backup(&sealed).await.unwrap();
    let target = memory();
    let restoration = begin(&made, &target, &root_key()).await.unwrap();
    assert_eq!(restoration.generation().unwrap(), Some(counted));
    let further = Generation {
        count: counted.count + 7,
        ..counted
    };
    let seal = RestoredSeal::AsItWas;
    restoration.finish(seal, Some(further)).await.unwrap();
    let restored = open(&target).await;
    assert_eq!(restored.generation().await.unwrap(), Some(further));
}

#[tokio::test]
async fn s11_records_of_earlier_keys_and_all_that_is_beside_the_keyring_are_kept() {
    let source = memory();
    let sealed = open(&source).await;
    fill(&sealed).await;
    sealed.rotate_key().await.unwrap();
    let access = private(&sealed, Namespace::Access);
    access.commit(vec![], vec![put("new", "")]).await.unwrap();
    let made = backup(&sealed).await.unwrap();
    let target = memory();
    restore(&made, &target).await.unwrap();
    assert_eq!(content(&target).await, content(&source).await);
    let restored = open(&target).await;
    let status = restored.key_status().await.unwrap();
    assert_eq!(status.term, sealed.key_status().await.unwrap().term);
    let access = private(&restored, Namespace::Access);
    assert_eq!(value(&access, "a").await.as_deref(), Some("access"));
}

#[tokio::test]
async fn s11_there_is_no_backup_of_what_is_not_whole() {
    let below = memory();
    let sealed = above(&below);
    let sealed_backup = backup(&sealed).await;
    assert!(matches!(sealed_backup, Err(BackupError::Store(_))));
    let none = gatehouse_store::Backup::begin(&below, root_key(), None, 0).await;
    assert!(matches!(none.err(), Some(BackupError::Empty)));

    let seal = ShareSeal::open(sealed.clone(), Duration::from_secs(3600)).await;
    let seal = seal.unwrap();
    seal.begin(Sharing::new(3, 2).unwrap()).await.unwrap();
    let begun = backup(&sealed).await;
    assert!(matches!(begun, Err(BackupError::Unfinished)));
    seal.finish().await.unwrap();
    let wrong = gatehouse_store::Backup::begin(&below, root_key(), None, 0).await;
    assert!(matches!(wrong.err(), Some(BackupError::WrongKey)));
}
