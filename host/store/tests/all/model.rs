//! Random sequences of operations, beside a model that is too simple to be wrong.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use gatehouse_ports::{
    Change, Check, Clock as _, CommitError, Difference, HeldKey, Put, Requirement, Version,
};
use gatehouse_store::Namespace;
use proptest::prelude::*;
use proptest::sample::select;

use crate::subject::{Kind, Subject};

const KEYS: [&str; 9] = ["!", "a", "a/", "a/b", "a/b/c", "a0", "b", "~", "~~"];
const PREFIXES: [&str; 8] = ["", "!", "a", "a/", "a/b", "b", "c", "~"];
const NAMESPACES: [Namespace; 3] = [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs];

/// The requirement of a check, before the model says which version that is.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Absent,
    Current,
    Stale,
}

#[derive(Debug, Clone)]
enum Effect {
    Put { value: Vec<u8>, lives: Option<u64> },
    Delete,
}

#[derive(Debug, Clone)]
enum Operation {
    Get(Namespace, Vec<&'static str>),
    Scan(Namespace, &'static str, Option<&'static str>, u32),
    Commit(
        Namespace,
        Vec<(&'static str, Wanted)>,
        BTreeMap<&'static str, Effect>,
    ),
    Wait(u64),
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let namespace = || select(&NAMESPACES[..]);
    let key = || select(&KEYS[..]);
    let wanted = prop_oneof![
        2 => Just(Wanted::Current),
        2 => Just(Wanted::Absent),
        1 => Just(Wanted::Stale),
    ];
    let put = (
        prop::collection::vec(any::<u8>(), 0..40),
        prop::option::of(0..20_u64),
    )
        .prop_map(|(value, lives)| Effect::Put { value, lives });
    let effect = prop_oneof![3 => put, 1 => Just(Effect::Delete)];
    let checks = prop::collection::vec((key(), wanted), 0..3);
    let effects = prop::collection::btree_map(key(), effect, 0..4);
    prop_oneof![
        3 => (namespace(), prop::collection::vec(key(), 0..5)).prop_map(|(n, k)| Operation::Get(n, k)),
        3 => (namespace(), select(&PREFIXES[..]), prop::option::of(key()), 1..6_u32)
            .prop_map(|(n, prefix, after, limit)| Operation::Scan(n, prefix, after, limit)),
        8 => (namespace(), checks, effects).prop_map(|(n, c, e)| Operation::Commit(n, c, e)),
        2 => (0..10_u64).prop_map(Operation::Wait),
        1 => Just(Operation::Reopen),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Stored {
    value: Vec<u8>,
    ends: Option<u64>,
    version: Version,
}

/// The entries that must be in the store, and the versions that each key ever had.
#[derive(Default)]
struct Model {
    entries: BTreeMap<(Namespace, &'static str), Stored>,
    versions: HashSet<(Namespace, &'static str, Version)>,
    last: BTreeMap<(Namespace, &'static str), Version>,
}

impl Model {
    fn live(&self, namespace: Namespace, key: &'static str, now: u64) -> Option<&Stored> {
        let stored = self.entries.get(&(namespace, key))?;
        stored.ends.is_none_or(|end| now < end).then_some(stored)
    }

    fn requirement(
        &self,
        namespace: Namespace,
        key: &'static str,
        wanted: Wanted,
        now: u64,
    ) -> Requirement {
        let live = self.live(namespace, key, now);
        match (wanted, live) {
            (Wanted::Absent, _) => Requirement::Absent,
            (Wanted::Current, Some(stored)) => Requirement::AtVersion(stored.version),
            (Wanted::Current | Wanted::Stale, None) => {
                let last = self.last.get(&(namespace, key)).copied();
                Requirement::AtVersion(last.unwrap_or(1))
            }
            (Wanted::Stale, Some(stored)) => {
                let older = self.versions.iter().find(|(owner, of, version)| {
                    (*owner, *of) == (namespace, key) && *version != stored.version
                });
                Requirement::AtVersion(older.map_or(u64::MAX, |(.., version)| *version))
            }
        }
    }

    fn holds(
        &self,
        namespace: Namespace,
        key: &'static str,
        requirement: Requirement,
        now: u64,
    ) -> bool {
        let live = self.live(namespace, key, now);
        match requirement {
            Requirement::Absent => live.is_none(),
            Requirement::AtVersion(version) => live.is_some_and(|live| live.version == version),
        }
    }
}

async fn run(kind: Kind, operations: Vec<Operation>) {
    let mut subject = Subject::new(kind).await;
    let mut model = Model::default();
    for operation in operations {
        let now = subject.clock.now_milliseconds();
        match operation {
            Operation::Wait(milliseconds) => {
                subject.clock.advance(Duration::from_millis(milliseconds))
            }
            Operation::Reopen if kind.is_durable() => subject.reopen().await,
            Operation::Reopen => {}
            Operation::Get(namespace, keys) => {
                let store = subject.store_of(namespace);
                let held: Vec<_> = keys
                    .iter()
                    .map(|key| HeldKey {
                        key: (*key).to_owned(),
                        version: model.last.get(&(namespace, *key)).copied(),
                    })
                    .collect();
                let differences = store.get_changed(&held).await.unwrap();
                let entries = store.get(&keys).await.unwrap();
                assert_eq!(entries.len(), keys.len());
                for ((held, entry), difference) in held.iter().zip(&entries).zip(differences) {
                    let expected = Difference::between(held.version, entry.clone());
                    assert_eq!(difference, expected);
                }
                for (key, entry) in keys.into_iter().zip(entries) {
                    let found = entry.map(|entry| (entry.value, entry.version));
                    let live = model.live(namespace, key, now);
                    assert_eq!(found, live.map(|live| (live.value.clone(), live.version)));
                }
            }
            Operation::Scan(namespace, prefix, after, limit) => {
                let store = subject.store_of(namespace);
                let page = store.scan(prefix, after, limit).await.unwrap();
                let mut expected: Vec<_> = KEYS
                    .into_iter()
                    .filter(|key| key.starts_with(prefix) && after.is_none_or(|after| *key > after))
                    .filter_map(|key| Some((key, model.live(namespace, key, now)?.clone())))
                    .collect();
                let more = expected.len() > limit as usize;
                expected.truncate(limit as usize);
                assert_eq!(page.more, more);
                assert_eq!(page.items.len(), expected.len());
                for (item, (key, stored)) in page.items.into_iter().zip(expected) {
                    assert_eq!(item.key, key);
                    assert_eq!(
                        (item.entry.value, item.entry.version),
                        (stored.value, stored.version)
                    );
                }
            }
            Operation::Commit(namespace, wanted, effects) => {
                commit(&subject, &mut model, namespace, wanted, effects).await;
            }
        }
    }
}

async fn commit(
    subject: &Subject,
    model: &mut Model,
    namespace: Namespace,
    wanted: Vec<(&'static str, Wanted)>,
    effects: BTreeMap<&'static str, Effect>,
) {
    let now = subject.clock.now_milliseconds();
    let store = subject.store_of(namespace);
    let checks: Vec<_> = wanted
        .into_iter()
        .map(|(key, wanted)| (key, model.requirement(namespace, key, wanted, now)))
        .collect();
    let failed = checks
        .iter()
        .find(|(key, requirement)| !model.holds(namespace, key, *requirement, now));
    let expected = failed.map_or(Ok(()), |(key, _)| {
        Err(CommitError::Conflict((*key).to_owned()))
    });
    let check = |(key, requirement): &(&str, Requirement)| Check {
        key: (*key).to_owned(),
        requirement: *requirement,
    };
    let change = |(key, effect): (&&str, &Effect)| {
        let key = (*key).to_owned();
        match effect.clone() {
            Effect::Delete => Change::Delete(key),
            Effect::Put { value, lives } => Change::Put(Put {
                key,
                value,
                expires_at: lives.map(|lives| now + lives),
            }),
        }
    };
    let changes = effects.iter().map(change).collect();
    let outcome = store
        .commit(checks.iter().map(check).collect(), changes)
        .await;
    assert_eq!(outcome, expected);
    if outcome.is_err() {
        return;
    }
    for (key, effect) in effects {
        let entry = store.get(&[key]).await.unwrap().remove(0);
        let Effect::Put { value, lives } = effect else {
            assert_eq!(entry, None);
            model.entries.remove(&(namespace, key));
            continue;
        };
        if lives == Some(0) {
            assert_eq!(entry, None);
            model.entries.remove(&(namespace, key));
            continue;
        }
        let version = entry.unwrap().version;
        assert!(
            model.versions.insert((namespace, key, version)),
            "a version came back"
        );
        model.last.insert((namespace, key), version);
        let ends = lives.map(|lives| now + lives);
        model.entries.insert(
            (namespace, key),
            Stored {
                value,
                ends,
                version,
            },
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_backend_behaves_like_the_model(operations in prop::collection::vec(operation(), 1..60)) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        for kind in Kind::ALL {
            runtime.block_on(run(kind, operations.clone()));
        }
    }
}
