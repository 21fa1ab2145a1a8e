//! The records of groups and names, and their keys.

use std::collections::BTreeMap;

use gatehouse_storage::{Record, key_segment};
use serde::{Deserialize, Serialize};

use crate::api::GroupType;

/// Key of the [`NameRecord`] that leads from an entity that was merged to the one that it is part of now.
pub(crate) fn merged_entity_key(id: &str) -> String {
    format!("entity-merged/{}", key_segment(id))
}

/// The prefix of the keys of all [`GroupRecord`]s.
pub(crate) const GROUP_PREFIX: &str = "group/";

/// Key of a [`GroupRecord`].
pub(crate) fn group_key(id: &str) -> String {
    format!("{GROUP_PREFIX}{}", key_segment(id))
}

/// The prefix of the keys of the [`NameRecord`]s of groups.
pub(crate) const GROUP_NAME_PREFIX: &str = "group-name/";

/// Key of the [`NameRecord`] of a group's hashed name.
pub(crate) fn group_name_key(hash: &str) -> String {
    format!("{GROUP_NAME_PREFIX}{hash}")
}

/// The prefix of the keys of the [`NameRecord`]s of entities.
pub(crate) const ENTITY_NAME_PREFIX: &str = "entity-name/";

/// Key of the [`NameRecord`] of an entity's hashed name.
pub(crate) fn entity_name_key(hash: &str) -> String {
    format!("{ENTITY_NAME_PREFIX}{hash}")
}

/// The prefix of the keys of the [`NameRecord`]s of entity aliases.
pub(crate) const ALIAS_ID_PREFIX: &str = "alias-id/";

/// Key of the [`NameRecord`] that leads from an entity alias's identifier to the alias's hash.
pub(crate) fn alias_id_key(id: &str) -> String {
    format!("{ALIAS_ID_PREFIX}{}", key_segment(id))
}

/// Key of the [`GroupAliasRecord`] of a hashed alias.
pub(crate) fn group_alias_key(hash: &str) -> String {
    format!("group-alias/{hash}")
}

/// The prefix of the keys of the [`NameRecord`]s of group aliases.
pub(crate) const GROUP_ALIAS_ID_PREFIX: &str = "group-alias-id/";

/// Key of the [`NameRecord`] that leads from a group alias's identifier to the alias's hash.
pub(crate) fn group_alias_id_key(id: &str) -> String {
    format!("{GROUP_ALIAS_ID_PREFIX}{}", key_segment(id))
}

/// The prefix of the keys of the [`OwnerRecord`]s of a group's members.
pub(crate) fn members_prefix(group_id: &str) -> String {
    format!("group-member/{}/", key_segment(group_id))
}

/// Key of the [`OwnerRecord`] of a member of a group.
pub(crate) fn member_key(group_id: &str, entity_id: &str) -> String {
    format!("{}{}", members_prefix(group_id), key_segment(entity_id))
}

/// Leads from a name, or from an identifier, to what bears it. Its absence is checked before it is given away.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NameRecord {
    pub(crate) target: String,
}

impl Record for NameRecord {
    const SCHEMA: u16 = 1;
}

/// Leads from a group to one of its members, for reads of the group; the entity's own record decides.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OwnerRecord {
    pub(crate) entity_id: String,
}

impl Record for OwnerRecord {
    const SCHEMA: u16 = 1;
}

/// An alias of an entity, as the entity remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AliasReference {
    pub(crate) id: String,
    pub(crate) mount_accessor: String,
    /// Names the alias's records.
    pub(crate) hash: String,
}

impl AliasReference {
    /// The reference to the alias with this identifier and this hash.
    pub(crate) fn new(id: &str, mount_accessor: &str, hash: &str) -> Self {
        Self {
            id: id.to_owned(),
            mount_accessor: mount_accessor.to_owned(),
            hash: hash.to_owned(),
        }
    }
}

/// An entity's place in an external group. It holds while the group has the very alias that brought the entity there, so that
/// deleting or renaming an alias ends all its memberships at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Membership {
    pub(crate) group_id: String,
    /// The hash of the group's alias.
    pub(crate) alias: String,
}

/// A set of entities that share policies. Its members have it in their records, and are found by [`members_prefix`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) group_type: GroupType,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    /// Groups whose members are members here as well, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) member_groups: Vec<String>,
    /// Groups that have this one as a member, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parent_groups: Vec<String>,
    /// The name by which logins know an external group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<AliasReference>,
    pub(crate) creation_time: u64,
    pub(crate) last_update_time: u64,
    /// Counts the changes.
    pub(crate) modify_index: u64,
}

impl Record for GroupRecord {
    const SCHEMA: u16 = 1;
}

/// The name by which a mount's logins know an external group.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GroupAliasRecord {
    pub(crate) id: String,
    pub(crate) group_id: String,
    pub(crate) name: String,
    pub(crate) mount_accessor: String,
    pub(crate) creation_time: u64,
    pub(crate) last_update_time: u64,
}

impl Record for GroupAliasRecord {
    const SCHEMA: u16 = 1;
}
