//! The interface `identity`: its functions, its error texts, and how names are compared.

use gatehouse_storage::wraps_failure;

use crate::{
    AliasPage, AliasRequest, AliasView, AliasWritten, EntityChanges, EntityPage, EntityView,
    FieldTooLong, GroupChanges, GroupPage, GroupView, IdentityReference, IdentityTarget,
    IdentityWritten, KeyPage, MergeRequest, ServiceError,
};

/// The one spelling by which the name of an entity or a group is found.
#[must_use]
pub fn folded_identity_name(name: &str) -> String {
    // Letter by letter: the lower case of a letter must not depend on its place.
    name.chars().flat_map(char::to_lowercase).collect()
}

/// Entities. The WIT interface is the specification.
pub trait Entities {
    /// An entity.
    fn read_entity(
        &self,
        reference: &IdentityReference,
    ) -> Result<Option<EntityView>, ServiceError>;

    /// Entities, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, ServiceError>;

    /// Names of entities, at most `limit` of them, 1 to 10000, after the name `after`, which need not exist.
    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError>;

    /// Makes or changes an entity.
    fn write_entity(
        &self,
        target: &IdentityTarget,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError>;

    /// Removes an entity, its aliases and its memberships; its tokens are refused from then on.
    fn delete_entity(&self, reference: &IdentityReference) -> Result<bool, IdentityError>;

    /// Makes one entity of several, in one commit: their aliases and memberships go over, what else is said of those that cease to be is
    /// forgotten, and their tokens count as tokens of the entity that stays.
    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError>;
}

/// Aliases of entities. The WIT interface is the specification.
pub trait EntityAliases {
    /// The entity alias with this identifier.
    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError>;

    /// Entity aliases, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    fn list_entity_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError>;

    /// Makes or changes an entity alias.
    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError>;

    /// Removes an entity alias.
    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError>;
}

/// Groups of entities. The WIT interface is the specification.
pub trait Groups {
    /// A group with its members.
    fn read_group(&self, reference: &IdentityReference) -> Result<Option<GroupView>, ServiceError>;

    /// Groups, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    fn list_groups(&self, after: Option<&str>, limit: u32) -> Result<GroupPage, ServiceError>;

    /// Names of groups, at most `limit` of them, 1 to 10000, after the name `after`, which need not exist.
    fn list_group_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError>;

    /// Makes or changes a group.
    fn write_group(
        &self,
        target: &IdentityTarget,
        changes: &GroupChanges,
    ) -> Result<IdentityWritten, IdentityError>;

    /// Removes a group, its memberships and its alias.
    fn delete_group(&self, reference: &IdentityReference) -> Result<bool, IdentityError>;
}

/// Aliases of external groups. The WIT interface is the specification.
pub trait GroupAliases {
    /// The group alias with this identifier.
    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError>;

    /// Group aliases, at most `limit` of them, 1 to 10000, behind identifier `after`, which need not exist.
    fn list_group_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError>;

    /// Makes or changes the alias of an external group.
    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError>;

    /// Removes a group alias; who is in the group by it is out of it.
    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError>;
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
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: IdentityError);
