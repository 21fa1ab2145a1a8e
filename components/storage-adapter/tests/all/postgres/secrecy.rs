//! The content that the database shows, and the limits of a party that alters it (SEC-K1).

use gatehouse_ports::{Cache, Store, StoreError};
use gatehouse_storage_adapter::postgres::Value;

use super::Setting;
use crate::setting::{put, put_until};

#[test]
fn no_value_shows_in_the_tables() {
    let setting = Setting::new();
    let instance = setting.instance();
    let change = put("a", "a value that nobody may see");
    instance.commit(vec![], vec![change]).unwrap();
    assert!(instance.swap("c", None, b"a cached value that nobody may see", u64::MAX));
    for table in ["entry", "cache"] {
        let rows = setting.ask(&format!("select value from gatehouse_spin.{table}"));
        assert_eq!(rows.len(), 1);
        let Value::Bytes(bytes) = &rows[0][0] else {
            panic!("{rows:?}");
        };
        let shows = bytes.windows(10).any(|window| window == b"nobody may");
        assert!(!shows);
    }
}

#[test]
fn k1_a_value_that_was_altered_moved_or_exchanged_does_not_open() {
    for tampering in [
        "update gatehouse_spin.entry set value = (select value from gatehouse_spin.entry where key = 'b') where key = 'a'",
        "update gatehouse_spin.entry set value = (select value from gatehouse_spin.cache where key = 'a') where key = 'a'",
        "update gatehouse_spin.entry set value = substring(value for octet_length(value) - 1) where key = 'a'",
        "update gatehouse_spin.entry set value = 'x' where key = 'a'",
    ] {
        let setting = Setting::new();
        let instance = setting.instance();
        let changes = vec![put("a", "1"), put("b", "2")];
        instance.commit(vec![], changes).unwrap();
        assert!(instance.swap("a", None, b"cached", u64::MAX));
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
    let change = put_until("a", "1", until);
    setting.instance().commit(vec![], vec![change]).unwrap();
    setting.ask("update gatehouse_spin.entry set expires_at = null");
    setting.time.0.set_milliseconds(super::START + 2000);
    let instance = setting.instance();
    assert_eq!(Store::get(&instance, &["a"]).unwrap(), [None]);
    assert!(instance.scan("", None, 10).unwrap().items.is_empty());
}

#[test]
fn a_cache_keeps_what_is_swapped_and_is_without_what_was_damaged() {
    let setting = Setting::new();
    let instance = setting.instance();
    assert!(instance.swap("a", None, b"1", u64::MAX));
    assert!(!instance.swap("a", None, b"2", u64::MAX), "it is there");
    let found = Cache::get(&setting.instance(), "a").unwrap();
    assert_eq!(found.value, b"1");
    setting.ask("update gatehouse_spin.cache set value = 'x'");
    assert_eq!(Cache::get(&setting.instance(), "a"), None);
}
