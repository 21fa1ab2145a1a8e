//! The memory of an instance between requests. All of it is a cache: every entry expires, the number of entries is bounded,
//! and losing any of it costs time only.
//!
//! It is kept by mount and version of the mount's configuration, and so is what instances share. Every request reads the
//! configuration's version from the store, so a write in any instance ends the use of what all of them remembered before it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use gatehouse_ports::Version;
use gatehouse_storage::key_segment;

use super::access_token::AccessToken;
use super::ancestor::Ancestry;
use super::api_error::ApiError;
use super::key_document::KeyDocument;
use super::key_error::KeyError;
use super::slot::{CacheSlot, lock};
use super::{Endpoints, ServiceAccount, Settings};
use crate::config::ConfigRecord;

/// Most mounts that are remembered at a time.
const MAXIMUM_MOUNTS: usize = 64;
/// Most service accounts of a mount that are remembered at a time (contract 8.2).
const MAXIMUM_ACCOUNTS: usize = 1024;
/// Most projects of a mount whose ancestors are remembered at a time.
const MAXIMUM_PROJECTS: usize = 1024;

/// The memory of one instance.
#[derive(Default)]
pub(crate) struct Memory {
    mounts: Mutex<HashMap<String, Arc<MountMemory>>>,
}

/// The memory of one mount under one version of its configuration.
pub(crate) struct MountMemory {
    version: Option<Version>,
    pub(crate) config: ConfigRecord,
    pub(crate) endpoints: Endpoints,
    /// Before every key of what instances share.
    pub(super) shared_prefix: String,
    /// When this instance renews answers, in thousandths of their life.
    pub(super) renewal_share: OnceLock<u64>,
    pub(super) google_keys: CacheSlot<KeyDocument, KeyError>,
    pub(super) account_keys: CacheSlot<KeyDocument, KeyError>,
    pub(super) accounts: CacheSlot<ServiceAccount, ApiError>,
    pub(super) ancestries: CacheSlot<Ancestry, ApiError>,
    pub(super) access_token: CacheSlot<AccessToken, ApiError>,
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
            shared_prefix: shared_prefix(mount_id, version),
            renewal_share: OnceLock::new(),
            google_keys: CacheSlot::with_capacity(1),
            account_keys: CacheSlot::with_capacity(MAXIMUM_ACCOUNTS),
            accounts: CacheSlot::with_capacity(MAXIMUM_ACCOUNTS),
            ancestries: CacheSlot::with_capacity(MAXIMUM_PROJECTS),
            access_token: CacheSlot::with_capacity(1),
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

fn shared_prefix(mount_id: &str, version: Option<Version>) -> String {
    let mount = key_segment(mount_id);
    match version {
        Some(version) => format!("google/{mount}/{version}/"),
        None => format!("google/{mount}/unconfigured/"),
    }
}
