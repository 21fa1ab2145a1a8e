//! Databases that cannot be used: each is refused with what mends it, and left as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use gatehouse_ports::{CommitError, Store as _, StoreError};
use gatehouse_spin_sqlite::{AdapterHost, Verdict};
use gatehouse_storage_adapter::sqlite::{DatabaseError, KNOWN_SCHEMA};

use super::Setting;
use crate::setting::{LABEL, SEAL_KEY, put, told, value};

fn begun() -> Setting {
    let setting = Setting::new();
    setting
        .instance()
        .commit(vec![], vec![put("a", "1")])
        .unwrap();
    setting
}

#[test]
fn k2_without_the_key_the_store_is_sealed_and_with_another_it_is_refused() {
    let setting = begun();
    for told in [None, Some(String::new())] {
        let host = AdapterHost::answering(setting.databases.another_client(), Ok(told));
        let instance = setting.instance_at(host);
        assert_eq!(instance.get(&["a"]), Err(StoreError::Sealed));
    }
    let another = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHhA=";
    let host = AdapterHost::new(setting.databases.another_client(), another);
    let why = told(&setting.instance_at(host));
    assert!(why.contains("seal_key is not the key"), "{why}");
    assert!(!why.contains(another) && !why.contains(SEAL_KEY), "{why}");
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn s12_tables_of_a_newer_version_are_refused() {
    let setting = begun();
    let newer = KNOWN_SCHEMA + 1;
    setting.ask(&format!("update gatehouse_store set number = {newer}"));
    let why = told(&setting.instance());
    assert!(why.contains("newer") && why.contains("update"), "{why}");
    setting.ask(&format!(
        "update gatehouse_store set number = {KNOWN_SCHEMA}"
    ));
    assert_eq!(value(&setting.instance(), "a").as_deref(), Some("1"));
}

#[test]
fn records_without_their_keyring_are_refused_and_no_other_is_made() {
    let setting = begun();
    setting.ask("delete from gatehouse_keyring");
    let why = told(&setting.instance());
    assert!(why.contains("no keyring"), "{why}");
    assert_eq!(setting.count("select count(*) from gatehouse_keyring"), 0);
    setting.ask("insert into gatehouse_keyring (id, sealed) values (1, x'ff')");
    let why = told(&setting.instance());
    assert!(why.contains("newer"), "{why}");
}

#[test]
fn a_file_that_is_no_database_is_named_as_that() {
    let setting = Setting::new();
    fs::write(setting.databases.path(LABEL), "text\n".repeat(1000)).unwrap();
    let why = told(&setting.instance());
    assert!(why.contains("no database of SQLite"), "{why}");
    let text = fs::read_to_string(setting.databases.path(LABEL)).unwrap();
    assert!(text.starts_with("text\n"));
}

#[test]
fn a_label_that_is_not_declared_is_named_with_where_to_declare_it() {
    let setting = Setting::new();
    let host = AdapterHost::new(setting.databases.another_client(), SEAL_KEY);
    let undeclared = gatehouse_storage_adapter::sqlite::SqliteAdapter::new(
        host,
        "nowhere",
        setting.time.clone(),
        gatehouse_ports::OsRandom,
    );
    let why = told(&undeclared);
    assert!(why.contains("sqlite_databases"), "{why}");
}

#[test]
fn a_full_disk_and_a_file_without_the_right_to_write_are_told_with_their_cure_and_change_nothing() {
    for (error, cure) in [
        (DatabaseError::Full, "make room"),
        (
            DatabaseError::Io("database or disk is full".to_owned()),
            "make room",
        ),
        (
            DatabaseError::Io("attempt to write a readonly database".to_owned()),
            "right to write",
        ),
    ] {
        let setting = begun();
        let client = setting.databases.another_client();
        client.intercept(move |statement| {
            if statement.contains("insert into gatehouse_entry") {
                return Verdict::Fail(error.clone());
            }
            Verdict::Proceed
        });
        let instance = setting.instance_of(client);
        let refused = instance.commit(vec![], vec![put("a", "2")]);
        let Err(CommitError::Failed(StoreError::Unavailable(why))) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains(cure), "{why}");
        assert_eq!(value(&instance, "a").as_deref(), Some("1"));
    }
}

/// Root may write everywhere, so this shows nothing where the tests run as root.
#[test]
fn a_read_only_file_is_refused_by_sqlite_itself() {
    let setting = begun();
    let path = setting.databases.path(LABEL);
    let mut rights = fs::metadata(&path).unwrap().permissions();
    rights.set_mode(0o444);
    fs::set_permissions(&path, rights).unwrap();
    if fs::OpenOptions::new().append(true).open(&path).is_ok() {
        return;
    }
    let refused = setting.instance().commit(vec![], vec![put("a", "2")]);
    let Err(CommitError::Failed(StoreError::Unavailable(why))) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("right to write"), "{why}");
}
