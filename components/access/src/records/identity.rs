//! The records of entities and their aliases.

use std::collections::BTreeMap;

use gatehouse_storage::{Cacheable, Record, key_segment};
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::identity::{AliasReference, Membership};

/// The prefix of the keys of all [`AliasRecord`]s.
const ALIAS_PREFIX: &str = "alias/";

/// The prefix of the keys of all [`EntityRecord`]s.
pub(crate) const ENTITY_PREFIX: &str = "entity/";

/// Key of the [`AliasRecord`] of a hashed alias.
pub(crate) fn alias_key(hash: &str) -> String {
    format!("{ALIAS_PREFIX}{hash}")
}

/// Key of the [`AliasMetadataRecord`] of a hashed alias.
pub(crate) fn alias_metadata_key(hash: &str) -> String {
    format!("alias-metadata/{hash}")
}

/// Key of an [`EntityRecord`].
pub(crate) fn entity_key(id: &str) -> String {
    format!("{ENTITY_PREFIX}{}", key_segment(id))
}

/// The identity that a mount knows under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AliasRecord {
    pub(crate) id: String,
    pub(crate) entity_id: String,
    pub(crate) name: String,
    pub(crate) mount_accessor: String,
    pub(crate) creation_time: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) last_update_time: u64,
    /// The metadata that an operator set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) custom_metadata: BTreeMap<String, String>,
    /// The entities that it belonged to before they were merged, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged_from: Vec<String>,
}

impl Record for AliasRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for AliasRecord {}

/// The metadata of the last login of an alias. Apart from the alias, since identities that share one overwrite each other
/// here at every login, and must not conflict over it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AliasMetadataRecord {
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) last_update_time: u64,
}

impl Record for AliasMetadataRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for AliasMetadataRecord {}

/// The entity that stands behind one or more aliases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntityRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) disabled: bool,
    #[serde(default)]
    pub(crate) policies: Vec<String>,
    pub(crate) creation_time: u64,
    #[serde(default)]
    pub(crate) last_update_time: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    /// At most one for each mount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<AliasReference>,
    /// Sorted identifiers; each of these groups names the entity as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) internal_groups: Vec<String>,
    /// By mount accessor, what the last login there brought; sorted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) external_groups: BTreeMap<String, Vec<Membership>>,
    /// The entities that became part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged: Vec<String>,
    /// The key of the place that it has in a quota of its token role; see [`crate::quotas`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

impl Record for EntityRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for EntityRecord {}
