//! The room that the bucket takes: for pages that count, pages that a reader may still need, and nothing else.

use std::time::Duration;

use gatehouse_ports::{Change, Store as _};
use gatehouse_wasi_key_value::{Error, Operation, Verdict};

use crate::setting::{LABEL, Setting, apart, delete, fill, large, put, put_until};

#[test]
fn what_is_replaced_is_deleted_some_commits_later() {
    let setting = Setting::new();
    let instance = setting.instance();
    let mut most = 0;
    for round in 0..60 {
        let changes = vec![put("a", &large(round)), put("b", &round.to_string())];
        instance.commit(vec![], changes).unwrap();
        most = most.max(setting.records().len());
    }
    // The head, and nine states of a root and two parts.
    assert!(most <= 1 + 9 * 3, "{most} records");
    for _ in 0..6 {
        instance.commit(vec![], vec![put("b", "")]).unwrap();
    }
    instance
        .commit(vec![], vec![delete("a"), delete("b")])
        .unwrap();
    assert_eq!(least(&setting, |_| put("c", "")), 1 + 5);
}

/// A store in which the next commit has something to clear.
fn grown() -> Setting {
    let setting = Setting::new();
    let instance = setting.instance();
    for round in 0..8 {
        let changes = vec![put("a", &apart(round)), put("b", &round.to_string())];
        instance.commit(vec![], changes).unwrap();
    }
    setting
}

/// How many records there are after each of some commits, at least: every fifth clears, and leaves the head and the records of five states.
fn least(setting: &Setting, change: impl Fn(usize) -> Change) -> usize {
    let instance = setting.instance();
    let commit_and_count = |round| {
        instance.commit(vec![], vec![change(round)]).unwrap();
        setting.records().len()
    };
    (0..15).map(commit_and_count).skip(10).min().unwrap()
}

/// How many records there are some commits later, when the last one has cleared.
fn records_later(setting: &Setting) -> usize {
    least(setting, |round| put("a", &apart(round)))
}

#[test]
fn what_a_commit_clears_and_what_it_writes_is_cleared_though_it_is_cut_off() {
    let undisturbed = records_later(&grown());
    for writes in 0.. {
        let setting = grown();
        let client = setting.stores.another_client();
        client.stop_after_writes(writes);
        let changes = vec![put("a", &apart(7)), put("b", "7")];
        let outcome = setting.instance_of(client.clone()).commit(vec![], changes);
        // The double writes a batch in pieces and from the end, as no real store does: the note of an instance that is cut off within a
        // batch is missing.
        let pieces = match writes {
            9 => 1,
            10 => 2,
            _ => 0,
        };
        // An attempt that takes the place of its note finds the pages that it left.
        let is_cleared = || records_later(&setting) == undisturbed + pieces;
        assert!((0..40).any(|_| is_cleared()), "after {writes} writes");
        if !client.was_stopped() {
            assert_eq!(outcome, Ok(()));
            assert_eq!(
                writes, 12,
                "eight deletions, the root, a page, the note and the head"
            );
            break;
        }
    }
}

#[test]
fn what_cannot_be_deleted_is_deleted_when_it_can_and_a_root_has_a_bound() {
    let undisturbed = records_later(&grown());
    let setting = grown();
    let client = setting.stores.another_client();
    client.intercept(|call| match call.operation {
        Operation::DeleteMany => Verdict::Fail(Error::other("nothing can be deleted")),
        _ => Verdict::Proceed,
    });
    let failing = setting.instance_of(client);
    let mut largest = 0;
    for round in 0..160 {
        if round == 20 {
            assert_eq!(records_later(&setting), undisturbed);
        }
        let changes = vec![put("b", &round.to_string())];
        failing.commit(vec![], changes).unwrap();
        let sizes = setting.records().into_iter();
        let sizes = sizes.filter(|name| name.contains("root"));
        let sizes = sizes.map(|name| setting.stores.stored(LABEL, &name).unwrap().len());
        largest = largest.max(sizes.max().unwrap());
    }
    assert!(largest < 4096, "{largest} bytes");
}

#[test]
fn a_store_that_was_emptied_takes_as_little_room_as_a_new_one() {
    let setting = Setting::new();
    let instance = setting.instance();
    let entries = fill(&instance);
    let full = setting.records().len();
    assert!(full > 50, "{full} records");
    for key in entries.keys() {
        instance.commit(vec![], vec![delete(key)]).unwrap();
    }
    assert!(setting.contents().is_empty());
    assert_eq!(least(&setting, |_| put("c", "")), 1 + 5);
}

#[test]
fn nodes_that_shrink_are_joined() {
    let setting = Setting::new();
    let instance = setting.instance();
    let entries = fill(&instance);
    let full = setting.records().len();
    for key in entries
        .keys()
        .enumerate()
        .filter(|(n, _)| n % 10 > 0)
        .map(|(_, key)| key)
    {
        instance.commit(vec![], vec![delete(key)]).unwrap();
    }
    let left = least(&setting, |_| put("c", ""));
    assert_eq!(setting.contents().len(), entries.len() / 10 + 1);
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
    let full = setting.records().len();
    assert!(full > 30, "{full} records");
    setting.time.0.advance(Duration::from_millis(5));
    assert!(setting.contents().is_empty());
    for round in 0..60 {
        instance
            .commit(vec![], vec![put("other", &round.to_string())])
            .unwrap();
    }
    let left = setting.records().len();
    assert!(left <= 1 + 9 * 2, "{left} of {full} records");
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
    let records = setting.records().len();
    assert!(records < 80, "{records} records for 100 kB");
    assert_eq!(setting.contents().len(), 400);
}
