//! What takes room in the bucket: what counts, what a reader may still need, and nothing else.

use std::time::Duration;

use gatehouse_ports::Store as _;

use crate::setting::{LABEL, Setting, delete, fill, large, put, put_until};

#[test]
fn what_is_replaced_is_deleted_some_commits_later() {
    let setting = Setting::new();
    let instance = setting.instance();
    let mut most = 0;
    for round in 0..60 {
        let changes = vec![put("a", &large(round)), put("b", &round.to_string())];
        instance.commit(vec![], changes).unwrap();
        most = most.max(setting.stores.stored_keys(LABEL).len());
    }
    // The head, and five states of a root and two parts.
    assert!(most <= 1 + 5 * 3, "{most} records");
    for _ in 0..6 {
        instance.commit(vec![], vec![put("b", "")]).unwrap();
    }
    instance
        .commit(vec![], vec![delete("a"), delete("b")])
        .unwrap();
    for _ in 0..6 {
        instance.commit(vec![], vec![put("c", "")]).unwrap();
    }
    assert_eq!(setting.stores.stored_keys(LABEL).len(), 1 + 5);
}

#[test]
fn a_store_that_was_emptied_takes_as_little_room_as_a_new_one() {
    let setting = Setting::new();
    let instance = setting.instance();
    let entries = fill(&instance);
    let full = setting.stores.stored_keys(LABEL).len();
    assert!(full > 50, "{full} records");
    for key in entries.keys() {
        instance.commit(vec![], vec![delete(key)]).unwrap();
    }
    assert!(setting.contents().is_empty());
    for _ in 0..6 {
        instance.commit(vec![], vec![put("c", "")]).unwrap();
    }
    assert_eq!(setting.stores.stored_keys(LABEL).len(), 1 + 5);
}

#[test]
fn nodes_that_shrink_are_joined() {
    let setting = Setting::new();
    let instance = setting.instance();
    let entries = fill(&instance);
    let full = setting.stores.stored_keys(LABEL).len();
    for key in entries
        .keys()
        .enumerate()
        .filter(|(n, _)| n % 10 > 0)
        .map(|(_, key)| key)
    {
        instance.commit(vec![], vec![delete(key)]).unwrap();
    }
    for _ in 0..6 {
        instance.commit(vec![], vec![put("c", "")]).unwrap();
    }
    assert_eq!(setting.contents().len(), entries.len() / 10 + 1);
    let left = setting.stores.stored_keys(LABEL).len();
    assert!(left < full / 3, "{left} of {full} records");
}

#[test]
fn what_has_expired_goes_though_nobody_touches_it() {
    let setting = Setting::new();
    let instance = setting.instance();
    let ending = |n: usize| put_until(&format!("ending/{n:04}"), &"x".repeat(500), 1_000_005);
    instance
        .commit(vec![], (0..300).map(ending).collect())
        .unwrap();
    let full = setting.stores.stored_keys(LABEL).len();
    assert!(full > 30, "{full} records");
    setting.time.0.advance(Duration::from_millis(5));
    assert!(setting.contents().is_empty());
    for round in 0..60 {
        instance
            .commit(vec![], vec![put("other", &round.to_string())])
            .unwrap();
    }
    let left = setting.stores.stored_keys(LABEL).len();
    assert!(left <= 1 + 5 * 2, "{left} of {full} records");
    assert_eq!(setting.contents()["other"], "59");
}

#[test]
fn entries_that_come_in_order_one_by_one_fill_their_nodes_to_the_half() {
    let setting = Setting::new();
    let instance = setting.instance();
    for number in 0..400 {
        let change = put(&format!("k/{number:05}"), &"x".repeat(200));
        instance.commit(vec![], vec![change]).unwrap();
    }
    let records = setting.stores.stored_keys(LABEL).len();
    assert!(records < 80, "{records} records for 100 kB");
    assert_eq!(setting.contents().len(), 400);
}
