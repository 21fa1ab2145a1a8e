//! Store and cache as a component sees them: the imports `gatehouse:storage/key-value` and `gatehouse:storage/cache`.

use gatehouse_ports::{
    Cache, Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError, Version,
};

use crate::answers;

/// Generated from the WIT; components map their own import to it. Its types are those of the ports, which have the same fields and cases.
#[allow(missing_docs, unsafe_code, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/storage",
        world: "client",
        with: {
            "gatehouse:storage/key-value@0.1.0/entry": gatehouse_ports::Entry,
            "gatehouse:storage/key-value@0.1.0/held-key": gatehouse_ports::HeldKey,
            "gatehouse:storage/key-value@0.1.0/difference": gatehouse_ports::Difference,
            "gatehouse:storage/key-value@0.1.0/item": gatehouse_ports::Item,
            "gatehouse:storage/key-value@0.1.0/page": gatehouse_ports::Page,
            "gatehouse:storage/key-value@0.1.0/requirement": gatehouse_ports::Requirement,
            "gatehouse:storage/key-value@0.1.0/check": gatehouse_ports::Check,
            "gatehouse:storage/key-value@0.1.0/put": gatehouse_ports::Put,
            "gatehouse:storage/key-value@0.1.0/change": gatehouse_ports::Change,
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
        with: {
            "gatehouse:storage/cache@0.1.0/entry": gatehouse_ports::Entry,
        },
        generate_all,
    });
}

use bindings::gatehouse::storage::key_value;
use cache_bindings::gatehouse::storage::cache;

/// The store that the host has bound to this component.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportedStore;

impl Store for ImportedStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        answers::of_each_key(keys.len(), key_value::get(&keys)?)
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        answers::of_held_keys(keys, key_value::get_changed(keys)?)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        let page = key_value::scan(prefix, after, limit)?;
        answers::of_scan(prefix, after, limit, page)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        key_value::commit(&checks, &changes)
    }
}

/// The cache that the host has bound to this component.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportedCache;

impl Cache for ImportedCache {
    fn get(&self, key: &str) -> Option<Entry> {
        cache::get(key)
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        cache::swap(key, expected, value, expires_at)
    }
}
