//! What an instance remembers of Google between requests. All of it is a cache: every entry expires, the number of entries is bounded,
//! and losing any of it costs time only.
//!
//! It is kept by mount and version of the mount's configuration. Every request reads the configuration's version from the store, so a
//! write in any other instance ends the use of what was remembered before it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_ports::Version;

use super::accounts::AccountAnswer;
use super::bounded::Bounded;
use super::keys::{AccountKeys, GoogleKeys};
use super::tokens::AccessToken;
use super::{Endpoints, Settings};
use crate::config::ConfigRecord;

/// Most mounts that are remembered at a time.
const MAXIMUM_MOUNTS: usize = 64;
/// Most service accounts of a mount that are remembered at a time (contract 8.2).
const MAXIMUM_ACCOUNTS: usize = 1024;

/// The memory of one instance.
#[derive(Default)]
pub(crate) struct Memory {
    mounts: Mutex<HashMap<String, Arc<MountMemory>>>,
}

/// What is remembered of one mount under one version of its configuration.
pub(crate) struct MountMemory {
    version: Option<Version>,
    pub(crate) config: ConfigRecord,
    pub(crate) endpoints: Endpoints,
    pub(super) google_keys: Mutex<GoogleKeys>,
    pub(super) account_keys: Mutex<Bounded<AccountKeys>>,
    pub(super) accounts: Mutex<Bounded<AccountAnswer>>,
    pub(super) access_token: Mutex<Option<AccessToken>>,
}

impl Memory {
    /// The memory of a mount whose configuration is at `version`; `read` gives that configuration when it is not remembered.
    pub(crate) fn of_mount<E>(
        &self,
        mount_id: &str,
        version: Option<Version>,
        settings: &Settings,
        read: impl FnOnce() -> Result<ConfigRecord, E>,
    ) -> Result<Arc<MountMemory>, E> {
        let mut mounts = lock(&self.mounts);
        if let Some(memory) = mounts.get(mount_id)
            && memory.version == version
        {
            return Ok(Arc::clone(memory));
        }
        let config = read()?;
        let memory = Arc::new(MountMemory {
            version,
            endpoints: Endpoints::new(&config.custom_endpoint, settings),
            config,
            google_keys: Mutex::default(),
            account_keys: Mutex::new(Bounded::with_capacity(MAXIMUM_ACCOUNTS)),
            accounts: Mutex::new(Bounded::with_capacity(MAXIMUM_ACCOUNTS)),
            access_token: Mutex::default(),
        });
        if mounts.len() >= MAXIMUM_MOUNTS
            && let Some(other) = mounts.keys().next().cloned()
        {
            mounts.remove(&other);
        }
        mounts.insert(mount_id.to_owned(), Arc::clone(&memory));
        Ok(memory)
    }

    /// Drops what is remembered of a mount.
    pub(crate) fn forget(&self, mount_id: &str) {
        lock(&self.mounts).remove(mount_id);
    }
}

/// Locks are held for a look or a change, never while Google is asked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
