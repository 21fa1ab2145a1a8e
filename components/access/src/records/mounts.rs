//! The records of mounts, of those that are gone and of those that were moved.

use std::collections::BTreeMap;

use gatehouse_storage::{Cacheable, Record, key_segment};
use serde::{Deserialize, Serialize};

use super::TokenRecord;
use crate::api::{FieldTooLong, Leases, Mount, MountConfiguration, MountView};
use crate::bounds::{MOUNT_LISTS_BYTES, TEXT_BYTES, length_of_pairs};
use crate::generation::Generations;
use crate::lifetime::{SYSTEM_DEFAULT_LEASE_TTL, SYSTEM_MAX_LEASE_TTL};

/// Key of the [`MountTableRecord`].
pub(crate) const MOUNT_TABLE_KEY: &str = "mount-table";

/// The prefix of the keys of all [`MountRecord`]s.
pub(crate) const MOUNT_PREFIX: &str = "mount/auth/";

/// Changes with every mount that comes or goes, so that two changes at related paths cannot pass each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MountTableRecord {
    pub(crate) changes: u64,
}

impl Record for MountTableRecord {
    const SCHEMA: u16 = 1;
}

/// Key of the [`MountRecord`] at `path`, which may end in `/`.
pub(crate) fn mount_key(path: &str) -> String {
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<String> = path.split('/').map(key_segment).collect();
    format!("{MOUNT_PREFIX}{}", segments.join("/"))
}

/// The prefix of the keys of all [`DisabledMountRecord`]s.
pub(crate) const DISABLED_MOUNT_PREFIX: &str = "disabled-mount/";

/// Key of a [`DisabledMountRecord`].
pub(crate) fn disabled_mount_key(id: &str) -> String {
    format!("{DISABLED_MOUNT_PREFIX}{}", key_segment(id))
}

/// Says that the method may still keep something for a mount that is gone. The mount goes in the same commit in which this comes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DisabledMountRecord {
    pub(crate) id: String,
}

impl Record for DisabledMountRecord {
    const SCHEMA: u16 = 1;
}

/// Key of a [`MigrationRecord`].
pub(crate) fn migration_key(id: &str) -> String {
    format!("migration/{}", key_segment(id))
}

/// Says for a while where a mount was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MigrationRecord {
    pub(crate) source: String,
    pub(crate) target: String,
}

impl Record for MigrationRecord {
    const SCHEMA: u16 = 1;
}

/// An enabled auth method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountRecord {
    pub(crate) id: String,
    pub(crate) accessor: String,
    /// With one trailing `/`.
    pub(crate) path: String,
    pub(crate) mount_type: String,
    pub(crate) description: String,
    pub(crate) configuration: MountConfiguration,
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) local: bool,
    #[serde(default)]
    pub(crate) seal_wrap: bool,
    #[serde(default)]
    pub(crate) external_entropy_access: bool,
    /// The generations that tell which of its tokens were cut off.
    #[serde(default, skip_serializing_if = "Generations::is_first")]
    pub(crate) generations: Generations,
}

impl Record for MountRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for MountRecord {}

impl MountRecord {
    /// The leases that are in force: the system's where none are set, and no default above the maximum.
    pub(crate) fn leases(&self) -> Leases {
        let or_system = |set: u64, system: u64| if set == 0 { system } else { set };
        let max_ttl = or_system(self.configuration.max_lease_ttl, SYSTEM_MAX_LEASE_TTL);
        let default_ttl = or_system(
            self.configuration.default_lease_ttl,
            SYSTEM_DEFAULT_LEASE_TTL,
        );
        Leases {
            default_ttl: default_ttl.min(max_ttl),
            max_ttl,
        }
    }

    /// True if it issued the token and did not cut it off since.
    pub(crate) fn honours(&self, token: &TokenRecord) -> bool {
        let origin = token.origin.as_ref();
        let path = token.path.strip_prefix("auth/");
        let below = path.and_then(|path| path.strip_prefix(&self.path));
        origin.is_none_or(|origin| origin.mount_id == self.id)
            && self
                .generations
                .count(below.unwrap_or_default(), token.generation)
    }

    /// Refuses a mount with longer texts than a list of all mounts bears.
    pub(crate) fn require_bounded(&self) -> Result<(), FieldTooLong> {
        FieldTooLong::check("description", self.description.len(), TEXT_BYTES)?;
        let configuration = &self.configuration;
        let lists = [
            &configuration.audit_non_hmac_request_keys,
            &configuration.audit_non_hmac_response_keys,
            &configuration.passthrough_request_headers,
            &configuration.allowed_response_headers,
        ];
        let key = configuration.identity_token_key.as_ref();
        let texts = lists.into_iter().flatten().chain(key).map(String::len);
        let length = texts.sum::<usize>() + length_of_pairs(&self.options);
        FieldTooLong::check(
            "the lists and options of a mount together",
            length,
            MOUNT_LISTS_BYTES,
        )
    }

    /// Cuts a description of an earlier version down to what descriptions have now.
    pub(crate) fn shorten_description(&mut self) {
        let end = self.description.floor_char_boundary(TEXT_BYTES);
        self.description.truncate(end);
        self.description.shrink_to_fit();
    }

    /// The mount as a request meets it.
    pub(crate) fn in_force(&self) -> Mount {
        let leases = self.leases();
        Mount {
            id: self.id.clone(),
            accessor: self.accessor.clone(),
            path: self.path.clone(),
            mount_type: self.mount_type.clone(),
            default_lease_ttl: leases.default_ttl,
            max_lease_ttl: leases.max_ttl,
            audit_non_hmac_request_keys: self.configuration.audit_non_hmac_request_keys.clone(),
            audit_non_hmac_response_keys: self.configuration.audit_non_hmac_response_keys.clone(),
        }
    }

    /// The mount as it is listed.
    pub(crate) fn view(self) -> MountView {
        MountView {
            leases: self.leases(),
            path: self.path,
            id: self.id,
            accessor: self.accessor,
            mount_type: self.mount_type,
            description: self.description,
            configuration: self.configuration,
            options: self.options.into_iter().collect(),
            local: self.local,
            seal_wrap: self.seal_wrap,
            external_entropy_access: self.external_entropy_access,
        }
    }
}
