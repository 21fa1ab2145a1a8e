//! The durable backend's file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_store::{Backend, Namespace, OpenError, PrivateStore, RedbBackend};
use tempfile::TempDir;

use crate::subject::{Kind, Subject, keys, put, put_until, value, version};

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    (directory, path)
}

fn open(path: &Path) -> Result<RedbBackend, OpenError> {
    RedbBackend::open(path, Arc::new(SystemClock))
}

fn store(backend: RedbBackend) -> PrivateStore {
    let backend: Arc<dyn Backend> = Arc::new(backend);
    PrivateStore::new(backend, Namespace::Access)
}

#[tokio::test]
async fn s1_everything_is_there_after_reopening() {
    for kind in [Kind::Redb, Kind::SealedRedb] {
        let mut subject = Subject::new(kind).await;
        for number in 0..300 {
            let change = put_until(&format!("k/{number:03}"), &number.to_string(), None);
            subject.store().commit(vec![], vec![change]).await.unwrap();
        }
        let before = subject.store().scan("", None, 1000).await.unwrap();
        subject.reopen().await;
        let after = subject.store().scan("", None, 1000).await.unwrap();
        assert_eq!(after.items.len(), 300);
        assert_eq!(before, after);
    }
}

#[tokio::test]
async fn a_version_does_not_return_after_reopening() {
    for kind in [Kind::Redb, Kind::SealedRedb] {
        let mut subject = Subject::new(kind).await;
        let mut seen = std::collections::HashSet::new();
        for _ in 0..5 {
            let store = subject.store();
            for _ in 0..3 {
                store.commit(vec![], vec![put("a", "")]).await.unwrap();
                assert!(seen.insert(version(&store, "a").await));
            }
            drop(store);
            subject.reopen().await;
        }
    }
}

#[test]
fn the_file_is_for_its_owner_alone() {
    let (_directory, path) = place();
    drop(open(&path).unwrap());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn s13_a_file_in_use_is_refused_and_free_again_afterwards() {
    let (_directory, path) = place();
    let first = open(&path).unwrap();
    let second = open(&path);
    assert!(matches!(second, Err(OpenError::InUse { .. })));
    let message = second.err().unwrap().to_string();
    assert!(message.contains("in use by another process"), "{message}");
    drop(first);
    assert!(open(&path).is_ok());
}

#[test]
fn s1_a_file_whose_making_was_cut_is_made_again() {
    let (_directory, path) = place();
    let unfinished = path.with_extension("redb.new");
    for left in [0, 1, 4_096] {
        // No test stops redb between its two writes of a new file, so any bytes stand for a part of it.
        fs::write(&unfinished, vec![7; left]).unwrap();
        drop(open(&path).unwrap());
        assert!(!unfinished.exists(), "it was moved to its place");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn s1_a_file_that_eight_make_at_once_loses_nothing() {
    let (_directory, path) = place();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let write_one = |number: u32| {
        let backend = loop {
            match open(&path) {
                Ok(backend) => break backend,
                Err(OpenError::InUse { .. }) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        };
        let change = put(&format!("k/{number}"), "");
        runtime
            .block_on(store(backend).commit(vec![], vec![change]))
            .unwrap();
    };
    let write_one = &write_one;
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || write_one(number));
        }
    });
    let read = store(open(&path).unwrap());
    let page = runtime.block_on(read.scan("", None, 1000)).unwrap();
    assert_eq!(page.items.len(), 8);
}

#[test]
fn a_link_to_a_file_that_is_missing_is_named_and_left_alone() {
    let (directory, path) = place();
    let elsewhere = directory.path().join("unmounted").join("store.redb");
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    let message = open(&path).err().unwrap().to_string();
    assert!(message.contains(path.to_str().unwrap()), "{message}");
    assert_eq!(fs::read_link(&path).unwrap(), elsewhere);
}

#[test]
fn a_missing_directory_and_a_file_without_permission_are_named() {
    let (directory, _path) = place();
    let missing = directory.path().join("missing").join("store.redb");
    let message = open(&missing).err().unwrap().to_string();
    assert!(message.contains(missing.to_str().unwrap()), "{message}");
}

#[test]
fn s3_a_file_that_is_something_else_is_refused_and_left_alone() {
    let (_directory, path) = place();
    let content = "a letter, not a store\n".repeat(1000);
    fs::write(&path, &content).unwrap();
    let refused = open(&path);
    assert!(matches!(refused, Err(OpenError::Damaged { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn s12_a_newer_schema_is_refused_and_left_alone() {
    let (_directory, path) = place();
    drop(open(&path).unwrap());
    let set_schema = |number: u64| {
        let table = redb::TableDefinition::<&str, u64>::new("store");
        let database = redb::Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        let previous = {
            let mut table = transaction.open_table(table).unwrap();
            let previous = table.insert("schema", number).unwrap();
            previous.unwrap().value()
        };
        transaction.commit().unwrap();
        previous
    };
    assert_eq!(set_schema(2), 1);
    let refused = open(&path);
    assert!(matches!(
        refused,
        Err(OpenError::NewerSchema { found: 2, .. })
    ));
    assert_eq!(set_schema(1), 2);
    assert!(open(&path).is_ok());
}

/// Damages a copy of a small store in one place after the other. Whatever the place, an answer is the truth or an error.
#[tokio::test]
async fn s3_no_damaged_byte_is_answered_as_data() {
    let (directory, path) = place();
    let written = store(open(&path).unwrap());
    let names: Vec<String> = (0..40).map(|number| format!("k/{number:02}")).collect();
    for name in &names {
        let change = put(name, &name.repeat(20));
        written.commit(vec![], vec![change]).await.unwrap();
    }
    drop(written);
    let intact = fs::read(&path).unwrap();
    let copy = directory.path().join("copy.redb");

    let used: Vec<usize> = (0..intact.len()).filter(|at| intact[*at] != 0).collect();
    let mut refused = 0;
    for at in used.iter().step_by(4) {
        let mut damaged = intact.clone();
        damaged[*at] ^= 0x55;
        fs::write(&copy, &damaged).unwrap();
        let Ok(backend) = open(&copy) else {
            assert!(open(&copy).is_err(), "byte {at}: refused only once");
            refused += 1;
            continue;
        };
        let store = store(backend);
        assert_eq!(keys(&store, "", 1000).await, names, "byte {at}");
        for name in &names {
            assert_eq!(
                value(&store, name).await,
                Some(name.repeat(20)),
                "byte {at}"
            );
        }
    }
    assert!(refused > 0);
}

#[test]
fn s3_an_empty_file_is_refused_and_left_alone() {
    let (_directory, path) = place();
    fs::write(&path, "").unwrap();
    let refused = open(&path);
    assert!(matches!(refused, Err(OpenError::Damaged { .. })));
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("it is empty"), "{message}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn s3_a_truncated_file_is_refused() {
    let (directory, path) = place();
    drop(open(&path).unwrap());
    let intact = fs::read(&path).unwrap();
    let copy = directory.path().join("copy.redb");
    for eighth in 1..8 {
        fs::write(&copy, &intact[..intact.len() * eighth / 8]).unwrap();
        assert!(open(&copy).is_err(), "{eighth} eighths");
    }
}
