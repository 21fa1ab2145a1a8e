//! The adapter as a component: it only turns types into one another.

use gatehouse_ports::{
    Cache, Change, Check, CommitError, Difference, Entry, HeldKey, Requirement, Store, StoreError,
    Version,
};

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
    fn get(keys: Vec<String>) -> Result<Vec<Option<key_value::Entry>>, key_value::Error> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let entries = ADAPTER
            .with(|adapter| Store::get(adapter, &keys))
            .map_err(store_error)?;
        Ok(entries.into_iter().map(|found| found.map(entry)).collect())
    }

    fn get_changed(
        keys: Vec<key_value::HeldKey>,
    ) -> Result<Vec<key_value::Difference>, key_value::Error> {
        let held = |held: &key_value::HeldKey| held.version.map(Version);
        let keys: Vec<HeldKey<'_>> = keys
            .iter()
            .map(|key| HeldKey {
                key: &key.key,
                version: held(key),
            })
            .collect();
        let found = ADAPTER.with(|adapter| adapter.get_changed(&keys));
        let difference = |difference| match difference {
            Difference::Absent => key_value::Difference::Absent,
            Difference::Unchanged => key_value::Difference::Unchanged,
            Difference::Changed(changed) => key_value::Difference::Changed(entry(changed)),
        };
        Ok(found
            .map_err(store_error)?
            .into_iter()
            .map(difference)
            .collect())
    }

    fn scan(
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<key_value::Page, key_value::Error> {
        let page = ADAPTER.with(|adapter| adapter.scan(&prefix, after.as_deref(), limit));
        let page = page.map_err(store_error)?;
        let item = |item: gatehouse_ports::Item| key_value::Item {
            key: item.key,
            entry: entry(item.entry),
        };
        Ok(key_value::Page {
            items: page.items.into_iter().map(item).collect(),
            more: page.more,
        })
    }

    fn commit(
        checks: Vec<key_value::Check>,
        changes: Vec<key_value::Change>,
    ) -> Result<(), key_value::CommitError> {
        let checks = checks.into_iter().map(check).collect();
        let changes = changes.into_iter().map(change).collect();
        let outcome = ADAPTER.with(|adapter| adapter.commit(checks, changes));
        outcome.map_err(|error| match error {
            CommitError::Conflict(key) => key_value::CommitError::Conflict(key),
            CommitError::Failed(error) => key_value::CommitError::Failed(store_error(error)),
        })
    }
}

impl cache::Guest for Component {
    fn get(key: String) -> Option<cache::Entry> {
        let found = ADAPTER.with(|adapter| Cache::get(adapter, &key));
        found.map(|entry| cache::Entry {
            value: entry.value,
            version: entry.version.0,
        })
    }

    fn swap(key: String, expected: Option<u64>, value: Vec<u8>, expires_at: u64) -> bool {
        ADAPTER.with(|adapter| adapter.swap(&key, expected.map(Version), &value, expires_at))
    }
}

fn entry(from: Entry) -> key_value::Entry {
    key_value::Entry {
        value: from.value,
        version: from.version.0,
    }
}

fn check(from: key_value::Check) -> Check {
    Check {
        key: from.key,
        requirement: match from.requirement {
            key_value::Requirement::Absent => Requirement::Absent,
            key_value::Requirement::AtVersion(version) => Requirement::AtVersion(Version(version)),
        },
    }
}

fn change(from: key_value::Change) -> Change {
    match from {
        key_value::Change::Delete(key) => Change::Delete { key },
        key_value::Change::Put(put) => Change::Put {
            key: put.key,
            value: put.value,
            expires_at: put.expires_at,
        },
    }
}

fn store_error(from: StoreError) -> key_value::Error {
    match from {
        StoreError::Sealed => key_value::Error::Sealed,
        StoreError::Unavailable(why) => key_value::Error::Unavailable(why),
        StoreError::Corrupt(key) => key_value::Error::Corrupt(key),
        StoreError::Invalid(why) => key_value::Error::Invalid(why),
    }
}
