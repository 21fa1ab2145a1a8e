//! The content that the database shows, and the limits of a party that alters it (SEC-K1).

use std::fs;

use gatehouse_ports::{Cache, Store, StoreError};

use super::Setting;
use crate::setting::{LABEL, put, put_until};

#[test]
fn no_value_shows_in_the_files() {
    let setting = Setting::new();
    let instance = setting.instance();
    instance
        .commit(vec![], vec![put("a", "a value that nobody may see")])
        .unwrap();
    assert!(instance.swap("c", None, b"a cached value that nobody may see", u64::MAX));
    let path = setting.databases.path(LABEL);
    let ahead = path.with_extension("sqlite-wal");
    for file in [path, ahead] {
        let bytes = fs::read(file).unwrap();
        let shows = bytes.windows(10).any(|window| window == b"nobody may");
        assert!(!shows);
    }
}

#[test]
fn k1_a_value_that_was_altered_moved_or_exchanged_does_not_open() {
    let entries = || {
        let setting = Setting::new();
        let instance = setting.instance();
        let changes = vec![put("a", "1"), put("b", "2")];
        instance.commit(vec![], changes).unwrap();
        assert!(instance.swap("a", None, b"cached", u64::MAX));
        setting
    };
    for tampering in [
        "update gatehouse_entry set value = (select value from gatehouse_entry where key = 'b') where key = 'a'",
        "update gatehouse_entry set value = (select value from gatehouse_cache where key = 'a') where key = 'a'",
        "update gatehouse_entry set value = substr(value, 1, length(value) - 1) where key = 'a'",
        "update gatehouse_entry set value = zeroblob(length(value)) where key = 'a'",
    ] {
        let setting = entries();
        setting.ask(tampering);
        let found = Store::get(&setting.instance(), &["a"]);
        let corrupt = Err(StoreError::Corrupt("a".to_owned()));
        assert_eq!(found, corrupt, "{tampering}");
    }
}

#[test]
fn k1_the_end_of_an_entry_is_what_was_sealed() {
    let setting = Setting::new();
    let until = super::START + 1000;
    setting
        .instance()
        .commit(vec![], vec![put_until("a", "1", until)])
        .unwrap();
    setting.ask("update gatehouse_entry set expires_at = null");
    setting.time.0.set_milliseconds(super::START + 2000);
    let instance = setting.instance();
    assert_eq!(Store::get(&instance, &["a"]).unwrap(), [None]);
    assert!(instance.scan("", None, 10).unwrap().items.is_empty());
}

#[test]
fn a_cache_that_was_damaged_is_without_its_entry() {
    let setting = Setting::new();
    let instance = setting.instance();
    assert!(instance.swap("a", None, b"1", u64::MAX));
    setting.ask("update gatehouse_cache set value = zeroblob(80)");
    assert_eq!(Cache::get(&setting.instance(), "a"), None);
}
