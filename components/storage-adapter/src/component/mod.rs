//! The adapter as a component: it only hands on what it is asked.

use gatehouse_ports::{
    Cache, Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError, Version,
};

/// The imports and exports of a world, with the types of the ports for those of the storage interfaces.
macro_rules! bindings {
    ($world:literal) => {
        #[allow(missing_docs, unsafe_code, clippy::all)]
        pub mod bindings {
            wit_bindgen::generate!({
                path: [
                    "../../wit/deps/keyvalue",
                    "../../wit/deps/sqlite",
                    "../../wit/deps/postgres",
                    "../../wit/deps/config",
                    "../../wit/storage",
                    "../../wit/storage-adapter",
                ],
                world: $world,
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
                    "gatehouse:storage/cache@0.1.0/entry": gatehouse_ports::Entry,
                },
                generate_all,
            });

            use crate::component::Component;
            export!(Component);
        }
    };
}

#[cfg(not(any(feature = "over-sqlite", feature = "over-postgres")))]
#[path = "over_key_value.rs"]
mod over;
#[cfg(feature = "over-postgres")]
#[path = "over_postgres.rs"]
mod over;
#[cfg(feature = "over-sqlite")]
#[path = "over_sqlite.rs"]
mod over;

use over::bindings::exports::gatehouse::storage::{cache, key_value};

/// How many labels were asked for; a component has exactly one, since it is what keeps capabilities apart.
const LABELS: usize = cfg!(feature = "label-access") as usize
    + cfg!(feature = "label-auth-method") as usize
    + cfg!(feature = "label-orgs") as usize;

const _: () = assert!(
    LABELS == 1,
    "build the component with exactly one of the features label-access, label-auth-method and label-orgs"
);

/// The label of the store.
const LABEL: &str = if cfg!(feature = "label-access") {
    "access"
} else if cfg!(feature = "label-auth-method") {
    "auth-method"
} else {
    "orgs"
};

thread_local! {
    /// Lives as long as the instance, so that what it has opened is not opened again.
    static ADAPTER: over::Kept = over::adapter(LABEL);
}

struct Component;

impl key_value::Guest for Component {
    fn get(keys: Vec<String>) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        ADAPTER.with(|adapter| Store::get(adapter, &keys))
    }

    fn get_changed(keys: Vec<HeldKey>) -> Result<Vec<Difference>, StoreError> {
        ADAPTER.with(|adapter| adapter.get_changed(&keys))
    }

    fn scan(prefix: String, after: Option<String>, limit: u32) -> Result<Page, StoreError> {
        ADAPTER.with(|adapter| adapter.scan(&prefix, after.as_deref(), limit))
    }

    fn commit(checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        ADAPTER.with(|adapter| adapter.commit(checks, changes))
    }
}

impl cache::Guest for Component {
    fn get(key: String) -> Option<Entry> {
        ADAPTER.with(|adapter| Cache::get(adapter, &key))
    }

    fn swap(key: String, expected: Option<Version>, value: Vec<u8>, expires_at: u64) -> bool {
        ADAPTER.with(|adapter| adapter.swap(&key, expected, &value, expires_at))
    }
}
