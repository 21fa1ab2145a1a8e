//! The import `gatehouse:storage/cache`, bound to one map under the name that a component uses for it.

mod entries;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_ports::{Cache, Version};
use gatehouse_store::SharedClock;
use wasmtime::component::{ComponentType, Linker, Lower};
use zeroize::{Zeroize, Zeroizing};

use super::state::InstanceState;
use entries::Entries;

/// The name under which a component that stands alone imports its cache.
pub const INTERFACE: &str = "gatehouse:storage/cache@0.1.0";

/// Entries of one cache (keys of what can be had again: documents, tokens, accounts).
const MAXIMUM_ENTRIES: usize = 10_000;
/// Bytes of one cache, keys and values together.
const MAXIMUM_BYTES: usize = 64 << 20;

/// The cache that all instances of one component share: in memory alone, bounded, and gone with the process.
///
/// Every clone sees the entries that another stores. Two components never get clones of the same one.
#[derive(Clone)]
pub struct SharedCache {
    entries: Arc<Mutex<Entries>>,
    clock: SharedClock,
}

impl SharedCache {
    /// An empty cache of at most 10,000 entries and 64 MiB, whose entries expire by `clock`.
    #[must_use]
    pub fn new(clock: SharedClock) -> Self {
        Self {
            entries: Arc::new(Mutex::new(Entries::new(MAXIMUM_ENTRIES, MAXIMUM_BYTES))),
            clock,
        }
    }

    // The state is whole even after a panic elsewhere: nothing in here panics between two of its steps.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache for SharedCache {
    fn get(&self, key: &str) -> Option<gatehouse_ports::Entry> {
        let now = self.clock.now_milliseconds();
        let mut entries = self.lock();
        let (value, version) = entries.get(key, now)?;
        Some(gatehouse_ports::Entry {
            value: value.to_vec(),
            version,
        })
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        let now = self.clock.now_milliseconds();
        let value = Zeroizing::new(value.to_vec());
        self.lock().swap(key, expected, value, expires_at, now)
    }
}

/// The record `entry`. It copies what may be a secret on its way to the guest, and clears the copy.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Entry {
    value: Vec<u8>,
    version: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

impl From<gatehouse_ports::Entry> for Entry {
    fn from(entry: gatehouse_ports::Entry) -> Self {
        Self {
            value: entry.value,
            version: entry.version,
        }
    }
}

/// Gives `cache` to the import called `name`: [`INTERFACE`] for a component alone, `auth-method-cache` in a composition.
///
/// # Errors
///
/// When the name is taken.
pub fn bind(
    linker: &mut Linker<InstanceState>,
    name: &str,
    cache: impl Cache + Send + Sync + 'static,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    let cache = Arc::new(cache);
    let bound = Arc::clone(&cache);
    instance.func_wrap("get", move |_, (key,): (String,)| {
        Ok((bound.get(&key).map(Entry::from),))
    })?;
    instance.func_wrap(
        "swap",
        move |_, (key, expected, value, expires_at): (String, Option<u64>, Vec<u8>, u64)| {
            let value = Zeroizing::new(value);
            Ok((cache.swap(&key, expected, &value, expires_at),))
        },
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
