//! Random sequences of commits by several instances on a tree of some depth, beside a sorted map.

use std::collections::BTreeMap;

use gatehouse_ports::{Change, CommitError, Put, Store as _};
use proptest::prelude::*;

use crate::setting::{Setting, absent, at_version, contents, delete, put};

const INSTANCES: usize = 3;

#[derive(Debug, Clone)]
enum Effect {
    Put(usize),
    Delete,
}

#[derive(Debug, Clone)]
struct Commit {
    by: usize,
    /// True if the checks that are made are those of what is there.
    is_current: bool,
    effects: BTreeMap<u16, Effect>,
}

fn commit() -> impl Strategy<Value = Commit> {
    // Some values stand in their leaf, some apart, and some leaves hold but one.
    let length = prop_oneof![8 => 0..200_usize, 3 => 1000..1537_usize, 1 => 1537..5000_usize];
    let effect = prop_oneof![3 => length.prop_map(Effect::Put), 2 => Just(Effect::Delete)];
    let few = prop::collection::btree_map(0..300_u16, effect.clone(), 1..6);
    let many = prop::collection::btree_map(0..300_u16, effect, 40..120);
    let removal = (0..300_u16, 1..200_u16).prop_map(|(from, count)| {
        (from..from.saturating_add(count).min(300))
            .map(|it| (it, Effect::Delete))
            .collect()
    });
    let effects = prop_oneof![6 => few, 2 => many, 1 => removal];
    (0..INSTANCES, prop::bool::weighted(0.8), effects).prop_map(|(by, is_current, effects)| {
        Commit {
            by,
            is_current,
            effects,
        }
    })
}

fn key(number: u16) -> String {
    // Long enough for inner nodes to split as well.
    format!("{}/{number:03}", "k".repeat(90))
}

fn run(commits: Vec<Commit>) {
    let setting = Setting::new();
    let instances: Vec<_> = (0..INSTANCES).map(|_| setting.instance()).collect();
    let mut model: BTreeMap<String, String> = BTreeMap::new();
    for (round, commit) in commits.into_iter().enumerate() {
        let instance = &instances[commit.by];
        let keys: Vec<String> = commit.effects.keys().map(|number| key(*number)).collect();
        let asked: Vec<&str> = keys.iter().map(String::as_str).collect();
        let seen = instance.get(&asked).unwrap();
        for (key, entry) in keys.iter().zip(&seen) {
            let found = entry.as_ref().map(|entry| entry.value.as_slice());
            assert_eq!(found, model.get(key).map(String::as_bytes));
        }
        let checks: Vec<_> = keys
            .iter()
            .zip(seen)
            .map(|(key, entry)| match entry {
                Some(entry) if commit.is_current => at_version(key, entry.version),
                None if !commit.is_current => at_version(key, 1),
                Some(_) | None => absent(key),
            })
            .collect();
        let changes: Vec<Change> = commit
            .effects
            .values()
            .zip(&keys)
            .map(|(effect, key)| match effect {
                Effect::Put(length) => put(key, &format!("{round:04}").repeat(length / 4)),
                Effect::Delete => delete(key),
            })
            .collect();
        let outcome = instance.commit(checks, changes.clone());
        if !commit.is_current {
            assert_eq!(outcome, Err(CommitError::Conflict(keys[0].clone())));
            continue;
        }
        outcome.unwrap();
        for change in changes {
            match change {
                Change::Delete(key) => model.remove(&key),
                Change::Put(Put { key, value, .. }) => {
                    model.insert(key, String::from_utf8(value).unwrap())
                }
            };
        }
    }
    assert!(setting.contents() == model);
    for instance in instances {
        assert!(contents(&instance) == model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_instances_together_behave_like_a_sorted_map(commits in prop::collection::vec(commit(), 1..30)) {
        run(commits);
    }
}
