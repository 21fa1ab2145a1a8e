//! Backups of stores under Spin, and stores for Spin that are made from backups.

use std::convert::Infallible;
use std::fs;
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gatehouse_ports::{OsRandom, Store, StoreError, SystemClock};
use gatehouse_spin_sqlite::{AdapterHost, Databases};
use gatehouse_storage_adapter::Adapter;
use gatehouse_storage_adapter::sqlite::SqliteAdapter;
use gatehouse_store::{
    BackupError, Inventory, Namespace, RootKey, SpinError, SpinFiles, SpinForm, SpinPlace,
    SpinRestoration, SpinStore,
};
use gatehouse_wasi_key_value::KeyValue;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{backup, fill, memory, open, private, restore, small_backup, verify};
use crate::subject::{delete, put, put_until, root_key, value};

pub const LABELS: [&str; 3] = ["access", "auth-method", "orgs"];

pub fn other_key() -> RootKey {
    RootKey::generate(&OsRandom).unwrap()
}

fn files(folder: &Path, form: SpinForm) -> SpinPlace {
    let named = |label| Ok::<PathBuf, Infallible>(folder.join(format!("{label}.sqlite")));
    SpinPlace::Files(SpinFiles::new(form, named).unwrap())
}

pub fn sqlite(folder: &Path) -> SpinPlace {
    files(folder, SpinForm::Sqlite)
}

/// The store of `label` as Spin's instances have it.
pub fn instance(folder: &Path, label: &str, key: &RootKey) -> impl Store {
    let databases = Databases::in_folder(folder, &LABELS);
    let host = AdapterHost::new(databases, &key.to_text());
    SqliteAdapter::new(host, label, SystemClock, OsRandom)
}

/// A folder with the files of an installation that was used: with ends, removals, and values of all lengths.
pub fn installation(key: &RootKey) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for label in LABELS {
        fill_one(&instance(folder.path(), label, key), label);
    }
    folder
}

pub fn fill_one(store: &impl Store, label: &str) {
    let far = 10_000_000_000_000;
    let mut changes = vec![
        put("a", label),
        put("gone", "removed"),
        put_until("ends", "later", Some(far)),
        put_until("over", "ended", Some(1)),
        put("long", &"long ".repeat(200_000)),
    ];
    changes.extend((0..300).map(|number| put(&format!("many/{number:03}"), "one of many")));
    store.commit(vec![], changes).unwrap();
    store.commit(vec![], vec![delete("gone")]).unwrap();
}

/// The bytes of a backup of these files.
pub async fn made(files: &SpinPlace, key: &RootKey) -> Result<Vec<u8>, SpinError> {
    let store = SpinStore::open_to_read(files, key)?;
    Ok(written(store).await)
}

pub async fn written(store: SpinStore) -> Vec<u8> {
    let begun = store.backup(Some("an id".to_owned()), 7).await;
    let mut backup = begun.unwrap();
    let mut file = Vec::new();
    while let Some(part) = backup.next().await.unwrap() {
        file.extend(part);
    }
    file
}

pub fn restored(backup: &[u8], files: &SpinPlace, key: &RootKey) -> Result<Inventory, SpinError> {
    SpinRestoration::begin(Cursor::new(backup), files, &root_key(), key, |_| {})?.finish()
}

/// A backup of another key and a changed one are refused at `place`.
pub async fn assert_unverified_refused(place: &SpinPlace) {
    let mut backup = small_backup().await;
    let begun = SpinRestoration::begin(
        Cursor::new(&backup),
        place,
        &other_key(),
        &root_key(),
        |_| {},
    );
    let refused = begun.err().unwrap();
    assert!(
        matches!(refused, SpinError::Backup(BackupError::WrongKey)),
        "{refused}"
    );
    let middle = backup.len() / 2;
    backup[middle] ^= 1;
    restored(&backup, place, &root_key()).unwrap_err();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Asserts that a store has all that [`fill_one`] left.
pub async fn assert_filled(backup: &[u8]) {
    let below = memory();
    restore(backup, &below).await.unwrap();
    let sealed = open(&below).await;
    for namespace in [Namespace::Access, Namespace::AuthMethod, Namespace::Orgs] {
        let store = private(&sealed, namespace);
        let label = namespace.label();
        assert_eq!(value(&store, "a").await.as_deref(), Some(label));
        assert_eq!(value(&store, "ends").await.as_deref(), Some("later"));
        assert_eq!(value(&store, "long").await.unwrap().len(), 1_000_000);
        assert_eq!(value(&store, "gone").await, None);
        assert_eq!(value(&store, "over").await, None);
        let many = store.scan("many/", None, 1000).await.unwrap();
        assert_eq!(many.items.len(), 300);
    }
}

#[tokio::test]
async fn s11_a_store_under_spin_is_backed_up_and_becomes_a_store_of_a_server() {
    let folder = installation(&root_key());
    let made = made(&sqlite(folder.path()), &root_key()).await.unwrap();
    let inventory = verify(&made, Some(&root_key())).unwrap();
    assert_eq!(inventory.manifest.installation.as_deref(), Some("an id"));
    // The keyring, and in each part what is left: 300 of many, and three.
    assert_eq!(inventory.summary.records, [1, 303, 303, 303, 0]);
    assert_filled(&made).await;
}

#[tokio::test]
async fn s11_a_key_value_store_under_spin_is_backed_up_from_the_file_that_spin_keeps() {
    let key = root_key();
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path(), SpinForm::KeyValue);
    for label in LABELS {
        let stores = KeyValue::new(&LABELS);
        let host = gatehouse_wasi_key_value::AdapterHost::new(stores.clone(), &key.to_text());
        fill_one(&Adapter::new(host, label, SystemClock, OsRandom), label);
        // The table of Spin's SQLite provider.
        let file = folder.path().join(format!("{label}.sqlite"));
        let connection = Connection::open(file).unwrap();
        let table = "create table spin_key_value
            (store text not null, key text not null, value blob not null, primary key (store, key))";
        connection.execute(table, []).unwrap();
        for key in stores.stored_keys(label) {
            let row = (label, &key, stores.stored(label, &key).unwrap());
            let put = "insert into spin_key_value values (?1, ?2, ?3)";
            connection.execute(put, row).unwrap();
        }
    }
    let made = made(&files, &key).await.unwrap();
    let inventory = verify(&made, Some(&key)).unwrap();
    assert_eq!(inventory.summary.records, [1, 303, 303, 303, 0]);
    assert_filled(&made).await;
    let refused = SpinStore::open_to_write(&files, &key).err().unwrap();
    assert!(refused.to_string().contains("move"), "{refused}");
}

#[tokio::test]
async fn s11_a_backup_under_spin_is_of_one_moment_and_spin_goes_on() {
    let key = root_key();
    let folder = installation(&key);
    let opened = SpinStore::open_to_read(&sqlite(folder.path()), &key).unwrap();
    for label in LABELS {
        let store = instance(folder.path(), label, &key);
        store.commit(vec![], vec![put("a", "changed")]).unwrap();
        store.commit(vec![], vec![delete("long")]).unwrap();
        assert_eq!(store.get(&["long"]).unwrap(), [None]);
    }
    assert_filled(&written(opened).await).await;
}

#[tokio::test]
async fn s11_a_backup_of_a_server_becomes_files_that_spin_opens_and_that_hold_nothing_of_the_server_itself()
 {
    let below = memory();
    let sealed = open(&below).await;
    fill(&sealed).await;
    let backup = backup(&sealed).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stores = folder.path().join("deep/within");
    let key = other_key();
    let inventory = restored(&backup, &sqlite(&stores), &key).unwrap();
    assert_eq!(inventory, verify(&backup, Some(&root_key())).unwrap());
    let expected = LABELS.map(|label| format!("{label}.sqlite"));
    assert_eq!(names(&stores), expected);
    for label in LABELS {
        let file = stores.join(format!("{label}.sqlite"));
        let mode = file.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o600, "{label}");
        let instance = instance(&stores, label, &key);
        let found = instance.get(&["a", "ends", "~"]).unwrap();
        let texts: Vec<_> = found
            .into_iter()
            .map(|entry| String::from_utf8(entry.unwrap().value).unwrap())
            .collect();
        assert_eq!(texts, [label, "later", &"long ".repeat(300)]);
    }
    // And back, under the key that they have now.
    let again = made(&sqlite(&stores), &key).await.unwrap();
    let inventory = verify(&again, Some(&key)).unwrap();
    assert_eq!(inventory.summary.records, [1, 4, 4, 4, 0]);
}

#[tokio::test]
async fn s11_files_that_are_there_are_left_as_they_are() {
    let backup = small_backup().await;
    for taken in [
        "access.sqlite",
        "orgs.sqlite",
        "auth-method.sqlite-wal",
        "access.sqlite-journal",
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(taken), "precious").unwrap();
        let refused = restored(&backup, &sqlite(folder.path()), &root_key()).unwrap_err();
        assert!(matches!(refused, SpinError::Exists { .. }), "{refused}");
        assert_eq!(names(folder.path()), [taken]);
        let kept = fs::read_to_string(folder.path().join(taken)).unwrap();
        assert_eq!(kept, "precious");
    }
}

#[tokio::test]
async fn s11_a_backup_that_does_not_verify_makes_no_file_for_spin() {
    let folder = tempfile::tempdir().unwrap();
    assert_unverified_refused(&sqlite(folder.path())).await;
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

pub fn begun(backup: &[u8], files: &SpinPlace) -> Result<SpinRestoration, SpinError> {
    SpinRestoration::begin(Cursor::new(backup), files, &root_key(), &root_key(), |_| {})
}

#[tokio::test]
async fn s11_a_restore_for_spin_that_fails_leaves_no_file_and_one_that_was_cut_off_begins_anew() {
    let backup = small_backup().await;
    let key = root_key();
    let folder = tempfile::tempdir().unwrap();
    let files = sqlite(folder.path());
    drop(begun(&backup, &files).unwrap());
    assert_eq!(names(folder.path()), Vec::<String>::new());

    // Cut off before any file has its name: Spin finds none. A descriptor that stays open keeps the folder locked, as a process does.
    let cut_off = begun(&backup, &files).unwrap();
    let refused = begun(&backup, &files).err().unwrap();
    assert!(matches!(refused, SpinError::Locked { .. }), "{refused}");
    let copies: Vec<(String, Vec<u8>)> = names(folder.path())
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.path().join(name)).unwrap()))
        .collect();
    drop(cut_off);
    for (name, content) in &copies {
        assert!(name.contains(".restoring"), "{name}");
        fs::write(folder.path().join(name), content).unwrap();
    }
    restored(&backup, &files, &key).unwrap();
    let expected = LABELS.map(|label| format!("{label}.sqlite"));
    assert_eq!(names(folder.path()), expected);

    // Cut off between the names: two files have theirs beside the first ones, and that of the identity has not.
    let at = |name: &str| folder.path().join(name);
    for label in ["auth-method", "orgs"] {
        let named = at(&format!("{label}.sqlite"));
        fs::hard_link(&named, at(&format!("{label}.sqlite.restoring"))).unwrap();
    }
    fs::rename(at("access.sqlite"), at("access.sqlite.restoring")).unwrap();
    restored(&backup, &files, &key).unwrap();
    let found = instance(folder.path(), "access", &key).get(&["k"]).unwrap();
    assert_eq!(found[0].as_ref().unwrap().value, b"v");
    assert_eq!(names(folder.path()), expected);

    // A file of an installation is none of a restore, whatever an earlier one has left beside it.
    fs::remove_file(at("access.sqlite")).unwrap();
    fs::write(at("access.sqlite.restoring"), "").unwrap();
    fs::write(at("orgs.sqlite.restoring"), "").unwrap();
    let refused = restored(&backup, &files, &key).unwrap_err();
    assert!(matches!(refused, SpinError::Exists { .. }), "{refused}");
    assert!(at("auth-method.sqlite").exists() && at("orgs.sqlite").exists());
}

#[tokio::test]
async fn s11_a_file_that_spin_makes_during_a_restore_is_left_to_spin() {
    let backup = small_backup().await;
    let folder = tempfile::tempdir().unwrap();
    let restoration = begun(&backup, &sqlite(folder.path())).unwrap();
    let key = root_key();
    fill_one(&instance(folder.path(), "access", &key), "access");
    let refused = restoration.finish().err().unwrap();
    assert!(matches!(refused, SpinError::Exists { .. }), "{refused}");
    let found = instance(folder.path(), "access", &key).get(&["a"]).unwrap();
    assert_eq!(found[0].as_ref().unwrap().value, b"access");
    let names = names(folder.path());
    assert!(
        names.iter().all(|name| name.starts_with("access.sqlite")),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.contains("restoring")),
        "{names:?}"
    );
}

#[tokio::test]
async fn s11_each_capability_needs_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let one = |_| Ok::<PathBuf, Infallible>(folder.path().join("one.sqlite"));
    let files = SpinPlace::Files(SpinFiles::new(SpinForm::Sqlite, one).unwrap());
    let refused = begun(&small_backup().await, &files).err().unwrap();
    assert!(matches!(refused, SpinError::Shared { .. }), "{refused}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn s11_records_without_their_keyring_make_no_backup() {
    let folder = installation(&root_key());
    Connection::open(folder.path().join("orgs.sqlite"))
        .unwrap()
        .execute("delete from gatehouse_keyring", [])
        .unwrap();
    let refused = made(&sqlite(folder.path()), &root_key()).await.unwrap_err();
    assert!(matches!(refused, SpinError::NoKeyring { .. }), "{refused}");
}

#[tokio::test]
async fn s11_what_is_no_installation_is_told_from_one_that_was_not_used_yet() {
    let key = root_key();
    let folder = tempfile::tempdir().unwrap();
    let files = sqlite(folder.path());
    let missing = made(&files, &key).await.unwrap_err();
    assert!(matches!(missing, SpinError::Missing { .. }), "{missing}");
    assert_eq!(names(folder.path()), Vec::<String>::new());

    Connection::open(folder.path().join("access.sqlite"))
        .unwrap()
        .execute("create table of_another_program (a)", [])
        .unwrap();
    let foreign = made(&files, &key).await.unwrap_err();
    assert!(
        matches!(foreign, SpinError::NoInstallation { .. }),
        "{foreign}"
    );
    fs::write(
        folder.path().join("access.sqlite"),
        "no database at all, but some text, which is longer than the head of one would be: a hundred bytes and more",
    )
    .unwrap();
    let nonsense = made(&files, &key).await.unwrap_err();
    assert!(matches!(nonsense, SpinError::Unusable(_)), "{nonsense}");

    fs::remove_file(folder.path().join("access.sqlite")).unwrap();
    fill_one(&instance(folder.path(), "access", &key), "access");
    let store = SpinStore::open_to_read(&files, &key).unwrap();
    let empty = ["auth-method", "orgs"].map(|label| folder.path().join(format!("{label}.sqlite")));
    assert!(
        store.empty().eq(&empty),
        "{:?}",
        store.empty().collect::<Vec<_>>()
    );
    let inventory = verify(&written(store).await, Some(&key)).unwrap();
    assert_eq!(inventory.summary.records, [1, 0, 303, 0, 0]);
}

#[tokio::test]
async fn s11_another_key_opens_no_store_under_spin_and_changes_nothing() {
    let folder = installation(&root_key());
    let files = sqlite(folder.path());
    let refused = made(&files, &other_key()).await.unwrap_err();
    assert!(
        matches!(refused, SpinError::Store(StoreError::Unavailable(_))),
        "{refused}"
    );
    assert!(refused.to_string().contains("seal_key"), "{refused}");
    assert_filled(&made(&files, &root_key()).await.unwrap()).await;
}

#[tokio::test]
async fn s11_a_record_that_was_altered_in_the_file_makes_no_backup() {
    let folder = installation(&root_key());
    Connection::open(folder.path().join("orgs.sqlite"))
        .unwrap()
        .execute(
            "update gatehouse_entry set value = zeroblob(80) where key = 'a'",
            [],
        )
        .unwrap();
    let store = SpinStore::open_to_read(&sqlite(folder.path()), &root_key()).unwrap();
    let mut backup = store.backup(None, 7).await.unwrap();
    let failed = loop {
        match backup.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the backup is complete"),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&failed, BackupError::Store(StoreError::Corrupt(key)) if key == "a"),
        "{failed}"
    );
}

#[tokio::test]
async fn s11_a_program_that_keeps_a_file_locked_is_named_by_it() {
    let folder = installation(&root_key());
    let file = folder.path().join("auth-method.sqlite");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let refused = made(&sqlite(folder.path()), &root_key()).await.unwrap_err();
    assert!(
        matches!(&refused, SpinError::Locked { path } if *path == file),
        "{refused}"
    );
}
