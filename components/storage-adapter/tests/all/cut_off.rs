//! An instance that is cut off after any single write leaves the state before its commit or the one after it, and the next instance
//! continues from there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use gatehouse_ports::{Change, Put, Store};

use crate::setting::{Instance, Setting, apart, delete, fill, large, put, put_until};

/// Commits one after the other; together they create the store, split and join nodes, and store, replace and remove large values.
fn commits() -> Vec<Vec<Change>> {
    let many = |value: &str| {
        (0..40)
            .map(|n| put(&format!("k/{n:02}"), &value.repeat(300)))
            .collect()
    };
    vec![
        vec![put("a", "1"), put("b", "1")],
        vec![put("b", "2"), put("large", &large(1))],
        many("x"),
        vec![delete("a"), put("large", &large(2)), put("c", "1")],
        many("yy"),
        (0..38)
            .map(|number| delete(&format!("k/{number:02}")))
            .collect(),
        vec![delete("large"), put_until("b", "3", u64::MAX)],
    ]
}

fn applied(state: &BTreeMap<String, String>, changes: &[Change]) -> BTreeMap<String, String> {
    let mut state = state.clone();
    for change in changes {
        match change {
            Change::Delete(key) => state.remove(key),
            Change::Put(Put { key, value, .. }) => {
                state.insert(key.clone(), String::from_utf8(value.clone()).unwrap())
            }
        };
    }
    state
}

/// The store after `commits`, made by an instance that was never cut off.
fn after(commits: &[Vec<Change>]) -> (Setting, BTreeMap<String, String>) {
    let setting = Setting::new();
    let instance = setting.instance();
    let mut state = BTreeMap::new();
    for changes in commits {
        instance.commit(vec![], changes.clone()).unwrap();
        state = applied(&state, changes);
    }
    (setting, state)
}

/// Cuts the instance off after every number of writes within `changes`, on the store that `before` makes; returns that number.
fn cut_everywhere(
    before: impl Fn() -> (Setting, BTreeMap<String, String>),
    warm: impl Fn(&Instance),
    changes: &[Change],
) -> u64 {
    for writes in 0.. {
        let (setting, old) = before();
        let new = applied(&old, changes);
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        warm(&instance);
        client.stop_after_writes(writes);
        let outcome = instance.commit(vec![], changes.to_vec());

        let left = setting.contents();
        assert!(
            left == old || left == new,
            "half of a commit after {writes} writes"
        );
        if outcome.is_ok() {
            assert!(
                left == new,
                "an acknowledged commit is lost after {writes} writes"
            );
        }
        // The next instance continues, and its entries are added to those that were left.
        let next = setting.instance();
        next.commit(vec![], vec![put("next", "1"), put("b", "next")])
            .unwrap();
        let expected = applied(&left, &[put("next", "1"), put("b", "next")]);
        assert!(
            setting.contents() == expected,
            "the next commit after {writes} writes"
        );
        assert_eq!(client.misuses(), []);
        if !client.was_stopped() {
            assert!(outcome.is_ok() && left == new);
            return writes;
        }
    }
    panic!("a commit ends")
}

#[test]
fn s1_a_first_start_may_be_cut_off_after_any_write() {
    let writes = cut_everywhere(
        || (Setting::new(), BTreeMap::new()),
        |_| (),
        &[put("a", "1"), put("b", "1")],
    );
    assert_eq!(writes, 3, "the head, the root, and the swap");
}

#[test]
fn s1_every_commit_may_be_cut_off_after_any_write() {
    let commits = commits();
    for (number, changes) in commits.iter().enumerate() {
        for warm in [false, true] {
            let read = |instance: &Instance| {
                if warm {
                    instance.scan("", None, 1000).unwrap();
                }
            };
            cut_everywhere(|| after(&commits[..number]), read, changes);
        }
    }
}

#[test]
fn s1_a_commit_into_a_deep_tree_may_be_cut_off_after_any_write() {
    let before = || {
        let setting = Setting::new();
        let entries = fill(&setting.instance());
        (setting, entries)
    };
    let writes = cut_everywhere(before, |_| (), &[put("entry", &large(3))]);
    assert!(writes > 5, "{writes} writes");
}

#[test]
fn s1_instances_cut_off_one_after_the_other_leave_whole_states() {
    let setting = Setting::new();
    let mut state = BTreeMap::new();
    for round in 0..120_u64 {
        let client = setting.stores.another_client();
        let instance = setting.instance_of(client.clone());
        client.stop_after_writes(round % 7);
        let key = format!("round/{:02}", round % 40);
        let changes = [
            put(&key, &round.to_string()),
            put("last", &round.to_string()),
        ];
        let outcome = instance.commit(vec![], changes.to_vec());
        let left = setting.contents();
        let next = applied(&state, &changes);
        assert!(
            left == next || (left == state && outcome.is_err()),
            "round {round}"
        );
        state = left;
    }
    assert!(!state.is_empty());
}

#[test]
fn s5_whoever_clears_up_after_others_deletes_nothing_that_counts() {
    let setting = Arc::new(Setting::new());
    let work = |thread: u64| {
        let setting = setting.clone();
        thread::spawn(move || {
            let mut acknowledged = Vec::new();
            for round in 0..60 {
                let client = setting.stores.another_client();
                client.stop_after_writes((round * 5 + thread) % 21);
                let key = format!("{thread}/{}", round % 20);
                let value = apart(usize::try_from(thread * 100 + round).unwrap());
                let changes = vec![put(&key, &value), put(&format!("at/{thread}"), &value)];
                if setting.instance_of(client).commit(vec![], changes).is_ok() {
                    acknowledged.push(key);
                }
            }
            acknowledged
        })
    };
    let threads: Vec<_> = (0..4).map(work).collect();
    let acknowledged = threads.into_iter().map(|thread| thread.join().unwrap());
    let acknowledged: Vec<String> = acknowledged.flatten().collect();
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    let contents = setting.contents();
    assert!(acknowledged.iter().all(|key| contents.contains_key(key)));
}
