//! The records of the store, and their keys.

mod identity;
mod mounts;
mod policies;
mod tokens;

use gatehouse_storage::Record;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub(crate) use identity::{
    AliasMetadataRecord, AliasRecord, ENTITY_PREFIX, EntityRecord, alias_key, alias_metadata_key,
    entity_key,
};
pub(crate) use mounts::{
    DISABLED_MOUNT_PREFIX, DisabledMountRecord, MOUNT_PREFIX, MOUNT_TABLE_KEY, MigrationRecord,
    MountRecord, MountTableRecord, disabled_mount_key, migration_key, mount_key,
};
pub(crate) use policies::{
    POLICY_NAME_PREFIX, POLICY_PREFIX, PolicyNameRecord, PolicyRecord, RulesRecord, policy_key,
    policy_name_key, rules_key,
};
pub(crate) use tokens::{
    ACCESSOR_PREFIX, AccessorRecord, CHILD_PREFIX, ChildRecord, FIRST_ROOT_PATH, LEASE_MARK,
    RELINQUISHED_PREFIX, RelinquishedRecord, TOKEN_MOUNT, TOKEN_PREFIX, TokenOrigin, TokenRecord,
    WrappedRecord, accessor_key, child_key, children_prefix, cubbyhole_key, relinquished_key,
    token_key, wrapped_key,
};

/// Key of the [`SystemRecord`].
pub(crate) const SYSTEM_KEY: &str = "system";

/// Made once, by initialization. Never changed. Wiped when dropped, since it holds the server's secret.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct SystemRecord {
    pub(crate) cluster_id: String,
    pub(crate) cluster_name: String,
    /// Base64 of the key under which identifiers are hashed.
    pub(crate) identifier_key: String,
}

impl Record for SystemRecord {
    const SCHEMA: u16 = 1;
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
