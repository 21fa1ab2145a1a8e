//! Reads of more than one statement has room for, and entries that a reader holds.

use std::sync::atomic::{AtomicBool, Ordering};

use gatehouse_ports::{Difference, HeldKey, MAXIMUM_KEYS_PER_CALL, Store as _, StoreError};
use gatehouse_spin_sqlite::Verdict;

use super::Setting;
use crate::setting::{put, put_until};

fn keys() -> Vec<String> {
    (0..MAXIMUM_KEYS_PER_CALL)
        .map(|number| format!("k/{number:04}"))
        .collect()
}

#[test]
fn as_many_keys_as_a_call_may_have_are_read_in_their_order() {
    let setting = Setting::new();
    let instance = setting.instance();
    let keys = keys();
    let changes = keys.iter().map(|key| put(key, key)).collect();
    instance.commit(vec![], changes).unwrap();
    let asked: Vec<&str> = keys.iter().rev().map(String::as_str).collect();
    let found = instance.get(&asked).unwrap();
    for (key, entry) in asked.iter().zip(found) {
        assert_eq!(entry.unwrap().value, key.as_bytes());
    }
    assert_eq!(instance.get(&[]).unwrap(), []);
}

#[test]
fn a_read_in_parts_is_of_one_point_in_time() {
    let setting = Setting::new();
    let keys = keys();
    let (first, last) = (keys[0].clone(), keys[keys.len() - 1].clone());
    let both = move |value: &str| vec![put(&first, value), put(&last, value)];
    setting.instance().commit(vec![], both("1")).unwrap();
    // Another instance changes both between the first part and the last.
    let client = setting.databases.another_client();
    let (other, is_done) = (setting.instance(), AtomicBool::new(false));
    client.intercept(move |statement| {
        let is_last_part = statement.contains("case when") && !statement.contains("(95, ?");
        if is_last_part && !is_done.swap(true, Ordering::Relaxed) {
            other.commit(vec![], both("2")).unwrap();
        }
        Verdict::Proceed
    });
    let instance = setting.instance_of(client);
    let asked: Vec<&str> = keys.iter().map(String::as_str).collect();
    let found = instance.get(&asked).unwrap();
    let value = |place: usize| found[place].as_ref().unwrap().value.clone();
    assert_eq!([value(0), value(keys.len() - 1)], [b"2", b"2"]);
}

#[test]
fn what_is_held_is_unchanged_for_those_alone_who_have_opened_it_and_until_its_sealed_end() {
    let setting = Setting::new();
    let instance = setting.instance();
    let until = super::START + 1000;
    instance
        .commit(vec![], vec![put_until("a", "1", until)])
        .unwrap();
    let entry = instance.get(&["a"]).unwrap().remove(0).unwrap();
    let held = HeldKey {
        key: "a".into(),
        version: Some(entry.version),
    };
    assert_eq!(
        instance.get_changed(std::slice::from_ref(&held)).unwrap(),
        [Difference::Unchanged]
    );
    // A database that passes off another value as this one is not believed by an instance that has not opened the entry.
    setting.ask("update gatehouse_entry set value = zeroblob(100), expires_at = null");
    let fresh = setting.instance();
    let refused = Err(StoreError::Corrupt("a".to_owned()));
    assert_eq!(fresh.get_changed(std::slice::from_ref(&held)), refused);
    setting.time.0.set_milliseconds(super::START + 2000);
    assert_eq!(instance.get_changed(&[held]), refused);
}
