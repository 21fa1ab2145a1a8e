//! Entities, groups and their aliases as operators see them (contract 7.2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Failure, FieldTooLong};

/// Who says which entities are in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupType {
    /// Operators.
    #[default]
    Internal,
    /// Logins, by the group's alias.
    External,
}

/// Which entity or which group is meant.
#[derive(Debug, Clone, Copy)]
pub enum IdentityReference<'a> {
    /// By its identifier.
    Id(&'a str),
    /// By its name.
    Name(&'a str),
    /// By the identifier of one of its aliases.
    AliasId(&'a str),
    /// By one of its aliases.
    Alias {
        /// The mount's accessor.
        mount_accessor: &'a str,
        /// The name within the mount.
        name: &'a str,
    },
}

/// What a write is about.
#[derive(Debug, Clone, Copy)]
pub enum IdentityTarget<'a> {
    /// What has this identifier; it must exist.
    Id(&'a str),
    /// What has this name; made when it does not exist.
    Name(&'a str),
    /// Something new with a made-up name, unless the changes name it.
    New,
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityWritten {
    /// A UUID.
    pub id: String,
    /// The name it has now.
    pub name: String,
    /// Whether it did not exist before.
    pub created: bool,
}

/// An alias: what a mount's logins call an entity or an external group. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasView {
    /// A UUID.
    pub id: String,
    /// The entity or group that it leads to.
    pub canonical_id: String,
    /// Unique within the mount.
    pub name: String,
    /// The mount's accessor.
    pub mount_accessor: String,
    /// `auth/gcp/`; empty when the mount is gone.
    pub mount_path: String,
    /// `gcp`; empty when the mount is gone.
    pub mount_type: String,
    /// What the last login said. Empty for groups, and in lists.
    pub metadata: BTreeMap<String, String>,
    /// What an operator said.
    pub custom_metadata: BTreeMap<String, String>,
    /// The entities that it belonged to before they were merged into others, oldest first.
    pub merged_from_canonical_ids: Vec<String>,
    /// When it was made.
    pub creation_time: u64,
    /// When it was last changed.
    pub last_update_time: u64,
}

/// An entity. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityView {
    /// A UUID.
    pub id: String,
    /// Unique.
    pub name: String,
    /// Whether its tokens and logins are refused.
    pub disabled: bool,
    /// Its own policies, sorted.
    pub policies: Vec<String>,
    /// What an operator said. Empty in lists.
    pub metadata: BTreeMap<String, String>,
    /// At most one for each mount.
    pub aliases: Vec<AliasView>,
    /// The groups it is a member of, sorted. Empty in lists.
    pub direct_group_ids: Vec<String>,
    /// The groups that have those below them, sorted. Empty in lists.
    pub inherited_group_ids: Vec<String>,
    /// The entities that became part of it, in the order in which they did.
    pub merged_entity_ids: Vec<String>,
    /// When it was made.
    pub creation_time: u64,
    /// When it was last changed.
    pub last_update_time: u64,
}

/// A group. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupView {
    /// A UUID.
    pub id: String,
    /// Unique.
    pub name: String,
    /// Who fills it.
    pub group_type: GroupType,
    /// Its policies, sorted.
    pub policies: Vec<String>,
    /// What an operator said. Empty in lists.
    pub metadata: BTreeMap<String, String>,
    /// Its direct members, sorted. Empty in lists.
    pub member_entity_ids: Vec<String>,
    /// Groups below it, sorted.
    pub member_group_ids: Vec<String>,
    /// Groups above it, sorted.
    pub parent_group_ids: Vec<String>,
    /// What logins call it, if it is external.
    pub alias: Option<AliasView>,
    /// Counts its changes, from 1.
    pub modify_index: u64,
    /// When it was made.
    pub creation_time: u64,
    /// When it was last changed.
    pub last_update_time: u64,
}

/// What is to change about an entity; `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntityChanges {
    /// The new name.
    pub name: Option<String>,
    /// Whether its tokens and logins are refused.
    pub disabled: Option<bool>,
    /// In place of all policies.
    pub policies: Option<Vec<String>>,
    /// In place of all metadata.
    pub metadata: Option<BTreeMap<String, String>>,
}

/// Entities that are to become one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergeRequest {
    /// The entities that cease to be.
    pub from_entity_ids: Vec<String>,
    /// The entity that they become part of; it keeps its name, policies and metadata.
    pub to_entity_id: String,
    /// Of several aliases of one mount, the identifier of the one that stays; others are ignored.
    pub alias_ids_to_keep: Vec<String>,
}

/// What is to change about a group; `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupChanges {
    /// The new name.
    pub name: Option<String>,
    /// Chosen when it is made; internal unless said otherwise.
    pub group_type: Option<GroupType>,
    /// In place of all policies.
    pub policies: Option<Vec<String>>,
    /// In place of all metadata.
    pub metadata: Option<BTreeMap<String, String>>,
    /// In place of all members; internal groups only.
    pub member_entity_ids: Option<Vec<String>>,
    /// In place of all groups below it; internal groups only.
    pub member_group_ids: Option<Vec<String>>,
}

/// An alias to be made or changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AliasRequest {
    /// Changes the alias with this identifier. Without it the alias is the one with this mount and name, made if need be.
    pub id: Option<String>,
    /// The name within the mount.
    pub name: Option<String>,
    /// The mount's accessor.
    pub mount_accessor: Option<String>,
    /// The entity or group that it is to lead to; a new one where a new alias says nothing.
    pub canonical_id: Option<String>,
    /// In place of what was there; entities only.
    pub custom_metadata: Option<BTreeMap<String, String>>,
}

/// An alias that was made or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasWritten {
    /// A UUID.
    pub id: String,
    /// The entity or group that it leads to.
    pub canonical_id: String,
    /// False where it was so already, and nothing was stored.
    pub changed: bool,
}

/// Why an entity, a group or an alias stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// There is no such entity.
    #[error("there is no such entity")]
    UnknownEntity,
    /// There is no such group.
    #[error("there is no such group")]
    UnknownGroup,
    /// There is no such alias.
    #[error("there is no such alias")]
    UnknownAlias,
    /// A name that is empty, longer than 512 bytes, has control characters, or has an empty, `.` or `..` part between slashes.
    #[error("a name has 1 to 512 bytes without control characters, and no empty, . or .. part")]
    InvalidName,
    /// The name belongs to another one.
    #[error("the name is already in use")]
    NameTaken,
    /// Policy `root`, which no identity gives.
    #[error("policies cannot contain root")]
    RootPolicy,
    /// More policies than one entity or group may have; holds that number.
    #[error("at most {0} policies: put rules into fewer policies")]
    TooManyPolicies(u32),
    /// More than 64 entries, a name longer than 128 bytes, or a value longer than 512.
    #[error("metadata has at most 64 entries, of at most 128 bytes for a name and 512 for a value")]
    InvalidMetadata,
    /// The request names no alias.
    #[error("missing alias name")]
    MissingAliasName,
    /// The request names no mount.
    #[error("missing mount accessor")]
    MissingMountAccessor,
    /// There is no mount with this accessor.
    #[error("there is no mount with the accessor {0:?}")]
    UnknownMountAccessor(String),
    /// Another alias has this mount and name.
    #[error("the mount has another alias of that name")]
    AliasTaken,
    /// The entity or group has another alias: a group has one, an entity one for each mount.
    #[error("it has another alias of this mount: delete that first")]
    AlreadyAliased,
    /// A member that does not exist; holds its identifier.
    #[error("there is no entity {0:?} to be a member")]
    UnknownMemberEntity(String),
    /// A member that does not exist; holds its identifier.
    #[error("there is no group {0:?} to be a member")]
    UnknownMemberGroup(String),
    /// Logins alone fill external groups.
    #[error("members of external groups come from logins")]
    ExternalMembers,
    /// The type of a group is chosen once.
    #[error("group type cannot be changed")]
    GroupTypeFixed,
    /// Only external groups have aliases.
    #[error("an internal group has no alias")]
    InternalAlias,
    /// The group would come to be below itself.
    #[error("a group cannot be below itself")]
    CyclicGroups,
    /// More levels of groups within groups than are followed; holds that number.
    #[error("at most {0} levels of groups")]
    TooDeep(u32),
    /// More members than one write may add and remove; holds that number.
    #[error("at most {0} members are added and removed at once")]
    TooManyChanges(u32),
    /// An entity in more internal groups than it may be; holds that number.
    #[error("an entity is in at most {0} internal groups")]
    TooManyGroups(u32),
    /// An entity that is to be merged does not exist; holds nothing, since the caller named it.
    #[error("an entity to merge from does not exist")]
    UnknownMergedEntity,
    /// An entity would become part of itself.
    #[error("an entity cannot be merged into itself")]
    MergedIntoItself,
    /// Entities to be merged have several aliases of one mount, and not exactly one of them is to be kept; holds the mount's
    /// accessor.
    #[error(
        "the entities have several aliases of the mount with the accessor {0:?}: name the one to keep"
    )]
    ClashingAliases(String),
    /// A merge that changes more than fits one commit, or an entity that would consist of more entities than this number.
    #[error(
        "a merge changes at most {0} aliases, groups and entities at once: merge fewer entities"
    )]
    MergeTooLarge(u32),
    /// A field that is longer than it may be.
    #[error(transparent)]
    TooLong(#[from] FieldTooLong),
    /// A group with more members than it may have; holds that number.
    #[error("a group has at most {0} members: put some into a group below it")]
    TooManyMembers(u32),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
