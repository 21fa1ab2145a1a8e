//! The adapter as a component: it only turns types into one another.

use gatehouse_ports::{
    Cache, Change, Check, CommitError, Difference, Entry, HeldKey, OsRandom, Requirement, Store,
    StoreError, SystemClock, Version,
};
use zeroize::Zeroizing;

use crate::{Adapter, Bucket, BucketError, Host};

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: [
            "../../wit/deps/keyvalue",
            "../../wit/deps/config",
            "../../wit/storage",
            "../../wit/storage-adapter",
        ],
        world: "gatehouse:storage-adapter/adapter",
        generate_all,
    });

    use super::Component;
    export!(Component);
}

use bindings::exports::gatehouse::storage::{cache, key_value};
use bindings::wasi::config::store as config;
use bindings::wasi::keyvalue::{atomics, batch, store};

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

struct WasiHost;

impl Host for WasiHost {
    type Bucket = store::Bucket;

    fn open(&self, label: &str) -> Result<store::Bucket, BucketError> {
        store::open(label).map_err(bucket_error)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        let text = config::get("seal_key").map_err(|error| match error {
            config::Error::Upstream(why) | config::Error::Io(why) => why,
        })?;
        Ok(text.map(Zeroizing::new))
    }
}

impl Bucket for store::Bucket {
    type Swap = atomics::Cas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        Self::get(self, key).map_err(bucket_error)
    }

    fn set_many(&self, pairs: Vec<(String, Vec<u8>)>) -> Result<(), BucketError> {
        batch::set_many(self, &pairs).map_err(bucket_error)
    }

    fn delete_many(&self, keys: Vec<String>) -> Result<(), BucketError> {
        batch::delete_many(self, &keys).map_err(bucket_error)
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, BucketError> {
        atomics::increment(self, key, delta).map_err(bucket_error)
    }

    fn current(&self, key: &str) -> Result<(atomics::Cas, Option<Vec<u8>>), BucketError> {
        let cas = atomics::Cas::new(self, key).map_err(bucket_error)?;
        let found = cas.current().map_err(bucket_error)?;
        Ok((cas, found))
    }

    fn swap(&self, swap: atomics::Cas, value: &[u8]) -> Result<bool, BucketError> {
        match atomics::swap(swap, value) {
            Ok(()) => Ok(true),
            Err(atomics::CasError::CasFailed(_)) => Ok(false),
            Err(atomics::CasError::StoreError(error)) => Err(bucket_error(error)),
        }
    }
}

fn bucket_error(from: store::Error) -> BucketError {
    match from {
        store::Error::NoSuchStore => BucketError::NoSuchStore,
        store::Error::AccessDenied => BucketError::AccessDenied,
        store::Error::Other(text) => BucketError::Other(text),
    }
}

thread_local! {
    /// Lives as long as the instance, so that pages which it has opened are not opened again.
    static ADAPTER: Adapter<WasiHost, SystemClock, OsRandom> =
        Adapter::new(WasiHost, LABEL, SystemClock, OsRandom);
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
