//! Store and cache as a component sees them: the imports `gatehouse:storage/key-value` and `gatehouse:storage/cache`.

use gatehouse_ports::{
    Cache, Change, Check, CommitError, Difference, Entry, HeldKey, Item, Page, Store, StoreError,
    Version,
};

use crate::answers;

/// Generated from the WIT; components map their own import to it, so that the conversions below exist once.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/storage",
        world: "client",
        with: {
            "gatehouse:storage/key-value@0.1.0/error": gatehouse_ports::StoreError,
            "gatehouse:storage/key-value@0.1.0/commit-error": gatehouse_ports::CommitError,
        },
        generate_all,
    });
}

/// Generated from the WIT like [`bindings`], for those components that share something between their instances.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod cache_bindings {
    wit_bindgen::generate!({
        path: "../../wit/storage",
        world: "caching-client",
        generate_all,
    });
}

use bindings::gatehouse::storage::key_value;
use cache_bindings::gatehouse::storage::cache;

/// The store that the host has bound to this component.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportedStore;

fn entry(from: key_value::Entry) -> Entry {
    Entry {
        value: from.value,
        version: Version(from.version),
    }
}

fn check(from: Check) -> key_value::Check {
    let requirement = match from.requirement {
        gatehouse_ports::Requirement::Absent => key_value::Requirement::Absent,
        gatehouse_ports::Requirement::AtVersion(version) => {
            key_value::Requirement::AtVersion(version.0)
        }
    };
    key_value::Check {
        key: from.key,
        requirement,
    }
}

fn change(from: Change) -> key_value::Change {
    match from {
        Change::Put {
            key,
            value,
            expires_at,
        } => key_value::Change::Put(key_value::Put {
            key,
            value,
            expires_at,
        }),
        Change::Delete { key } => key_value::Change::Delete(key),
    }
}

impl Store for ImportedStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let entries = key_value::get(&keys)?;
        let entries = entries.into_iter().map(|found| found.map(entry)).collect();
        answers::of_each_key(keys.len(), entries)
    }

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        let held_key = |held: &HeldKey<'_>| key_value::HeldKey {
            key: held.key.to_owned(),
            version: held.version.map(|version| version.0),
        };
        let difference = |difference| match difference {
            key_value::Difference::Absent => Difference::Absent,
            key_value::Difference::Unchanged => Difference::Unchanged,
            key_value::Difference::Changed(changed) => Difference::Changed(entry(changed)),
        };
        let asked: Vec<_> = keys.iter().map(held_key).collect();
        let differences = key_value::get_changed(&asked)?;
        let differences = differences.into_iter().map(difference).collect();
        answers::of_held_keys(keys, differences)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let page = key_value::scan(prefix, after, limit)?;
        let item = |item: key_value::Item| Item {
            key: item.key,
            entry: entry(item.entry),
        };
        let page = Page {
            items: page.items.into_iter().map(item).collect(),
            more: page.more,
        };
        answers::of_scan(prefix, after, limit, page)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        let checks: Vec<_> = checks.into_iter().map(check).collect();
        let changes: Vec<_> = changes.into_iter().map(change).collect();
        key_value::commit(&checks, &changes)
    }
}

/// The cache that the host has bound to this component.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportedCache;

impl Cache for ImportedCache {
    fn get(&self, key: &str) -> Option<Entry> {
        cache::get(key).map(|entry| Entry {
            value: entry.value,
            version: Version(entry.version),
        })
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        cache::swap(key, expected.map(|version| version.0), value, expires_at)
    }
}
