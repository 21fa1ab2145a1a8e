//! Entities, groups and aliases.

use std::collections::BTreeMap;

use super::{Component, access, identity_wit as wit, types_wit};
use crate::{
    Access, AliasRequest, AliasView, AliasWritten, EntityChanges, EntityView, GroupChanges,
    GroupType, GroupView, IdentityError, IdentityReference, IdentityTarget, IdentityWritten,
    ListPage, MergeRequest,
};

impl wit::Guest for Component {
    fn read_entity(
        reference: wit::IdentityReference,
    ) -> Result<Option<wit::EntityView>, types_wit::Failure> {
        Ok(access(|it| it.read_entity((&reference).into()))?.map(Into::into))
    }

    fn list_entities(
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::EntityPage, types_wit::Failure> {
        Ok(access(|it| it.list_entities(after.as_deref(), limit))?.into())
    }

    fn list_entity_names(
        after: Option<String>,
        limit: u32,
    ) -> Result<types_wit::KeyPage, types_wit::Failure> {
        Ok(access(|it| it.list_entity_names(after.as_deref(), limit))?.into())
    }

    fn write_entity(
        target: wit::IdentityTarget,
        changes: wit::EntityChanges,
    ) -> Result<wit::IdentityWritten, wit::IdentityError> {
        Ok(access(|it| it.write_entity((&target).into(), &changes.into()))?.into())
    }

    fn delete_entity(reference: wit::IdentityReference) -> Result<bool, wit::IdentityError> {
        Ok(access(|it| it.delete_entity((&reference).into()))?)
    }

    fn merge_entities(request: wit::MergeRequest) -> Result<(), wit::IdentityError> {
        let request = MergeRequest {
            from_entity_ids: request.from_entity_ids,
            to_entity_id: request.to_entity_id,
            alias_ids_to_keep: request.alias_ids_to_keep,
        };
        Ok(access(|it| it.merge_entities(&request))?)
    }

    fn read_entity_alias(id: String) -> Result<Option<wit::AliasView>, types_wit::Failure> {
        Ok(access(|it| it.read_entity_alias(&id))?.map(Into::into))
    }

    fn list_entity_aliases(
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::AliasPage, types_wit::Failure> {
        Ok(access(|it| it.list_entity_aliases(after.as_deref(), limit))?.into())
    }

    fn write_entity_alias(
        request: wit::AliasRequest,
    ) -> Result<wit::AliasWritten, wit::IdentityError> {
        Ok(access(|it| it.write_entity_alias(&request.into()))?.into())
    }

    fn delete_entity_alias(id: String) -> Result<bool, wit::IdentityError> {
        Ok(access(|it| it.delete_entity_alias(&id))?)
    }

    fn read_group(
        reference: wit::IdentityReference,
    ) -> Result<Option<wit::GroupView>, types_wit::Failure> {
        Ok(access(|it| it.read_group((&reference).into()))?.map(Into::into))
    }

    fn list_groups(
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::GroupPage, types_wit::Failure> {
        Ok(access(|it| it.list_groups(after.as_deref(), limit))?.into())
    }

    fn list_group_names(
        after: Option<String>,
        limit: u32,
    ) -> Result<types_wit::KeyPage, types_wit::Failure> {
        Ok(access(|it| it.list_group_names(after.as_deref(), limit))?.into())
    }

    fn write_group(
        target: wit::IdentityTarget,
        changes: wit::GroupChanges,
    ) -> Result<wit::IdentityWritten, wit::IdentityError> {
        Ok(access(|it| it.write_group((&target).into(), &changes.into()))?.into())
    }

    fn delete_group(reference: wit::IdentityReference) -> Result<bool, wit::IdentityError> {
        Ok(access(|it| it.delete_group((&reference).into()))?)
    }

    fn read_group_alias(id: String) -> Result<Option<wit::AliasView>, types_wit::Failure> {
        Ok(access(|it| it.read_group_alias(&id))?.map(Into::into))
    }

    fn list_group_aliases(
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::AliasPage, types_wit::Failure> {
        Ok(access(|it| it.list_group_aliases(after.as_deref(), limit))?.into())
    }

    fn write_group_alias(
        request: wit::AliasRequest,
    ) -> Result<wit::AliasWritten, wit::IdentityError> {
        Ok(access(|it| it.write_group_alias(&request.into()))?.into())
    }

    fn delete_group_alias(id: String) -> Result<bool, wit::IdentityError> {
        Ok(access(|it| it.delete_group_alias(&id))?)
    }
}

fn pairs(map: BTreeMap<String, String>) -> Vec<(String, String)> {
    map.into_iter().collect()
}

fn map(pairs: Option<Vec<(String, String)>>) -> Option<BTreeMap<String, String>> {
    pairs.map(|pairs| pairs.into_iter().collect())
}

impl<'a> From<&'a wit::IdentityReference> for IdentityReference<'a> {
    fn from(reference: &'a wit::IdentityReference) -> Self {
        match reference {
            wit::IdentityReference::Id(id) => Self::Id(id),
            wit::IdentityReference::Name(name) => Self::Name(name),
            wit::IdentityReference::AliasId(id) => Self::AliasId(id),
            wit::IdentityReference::Alias(place) => Self::Alias {
                mount_accessor: &place.mount_accessor,
                name: &place.name,
            },
        }
    }
}

impl<'a> From<&'a wit::IdentityTarget> for IdentityTarget<'a> {
    fn from(target: &'a wit::IdentityTarget) -> Self {
        match target {
            wit::IdentityTarget::Id(id) => Self::Id(id),
            wit::IdentityTarget::Name(name) => Self::Name(name),
            wit::IdentityTarget::New => Self::New,
        }
    }
}

impl From<wit::GroupType> for GroupType {
    fn from(group_type: wit::GroupType) -> Self {
        match group_type {
            wit::GroupType::Internal => Self::Internal,
            wit::GroupType::External => Self::External,
        }
    }
}

impl From<GroupType> for wit::GroupType {
    fn from(group_type: GroupType) -> Self {
        match group_type {
            GroupType::Internal => Self::Internal,
            GroupType::External => Self::External,
        }
    }
}

impl From<wit::EntityChanges> for EntityChanges {
    fn from(changes: wit::EntityChanges) -> Self {
        Self {
            name: changes.name,
            disabled: changes.disabled,
            policies: changes.policies,
            metadata: map(changes.metadata),
        }
    }
}

impl From<wit::GroupChanges> for GroupChanges {
    fn from(changes: wit::GroupChanges) -> Self {
        Self {
            name: changes.name,
            group_type: changes.group_type.map(Into::into),
            policies: changes.policies,
            metadata: map(changes.metadata),
            member_entity_ids: changes.member_entity_ids,
            member_group_ids: changes.member_group_ids,
        }
    }
}

impl From<wit::AliasRequest> for AliasRequest {
    fn from(request: wit::AliasRequest) -> Self {
        Self {
            id: request.id,
            name: request.name,
            mount_accessor: request.mount_accessor,
            canonical_id: request.canonical_id,
            custom_metadata: map(request.custom_metadata),
        }
    }
}

impl From<IdentityWritten> for wit::IdentityWritten {
    fn from(written: IdentityWritten) -> Self {
        Self {
            id: written.id,
            name: written.name,
            created: written.created,
        }
    }
}

impl From<AliasWritten> for wit::AliasWritten {
    fn from(written: AliasWritten) -> Self {
        Self {
            id: written.id,
            canonical_id: written.canonical_id,
            changed: written.changed,
        }
    }
}

impl From<AliasView> for wit::AliasView {
    fn from(alias: AliasView) -> Self {
        Self {
            id: alias.id,
            canonical_id: alias.canonical_id,
            name: alias.name,
            mount_accessor: alias.mount_accessor,
            mount_path: alias.mount_path,
            mount_type: alias.mount_type,
            metadata: pairs(alias.metadata),
            custom_metadata: pairs(alias.custom_metadata),
            merged_from_canonical_ids: alias.merged_from_canonical_ids,
            creation_time: alias.creation_time,
            last_update_time: alias.last_update_time,
        }
    }
}

macro_rules! pages {
    ($($page:ident { $items:ident: $view:ty }),+) => {$(
        impl From<ListPage<$view>> for wit::$page {
            fn from(page: ListPage<$view>) -> Self {
                Self {
                    $items: page.items.into_iter().map(Into::into).collect(),
                    next: page.next,
                }
            }
        }
    )+};
}

pages!(
    EntityPage {
        entities: EntityView
    },
    GroupPage { groups: GroupView },
    AliasPage { aliases: AliasView }
);

impl From<EntityView> for wit::EntityView {
    fn from(entity: EntityView) -> Self {
        Self {
            id: entity.id,
            name: entity.name,
            disabled: entity.disabled,
            policies: entity.policies,
            metadata: pairs(entity.metadata),
            aliases: entity.aliases.into_iter().map(Into::into).collect(),
            direct_group_ids: entity.direct_group_ids,
            inherited_group_ids: entity.inherited_group_ids,
            merged_entity_ids: entity.merged_entity_ids,
            creation_time: entity.creation_time,
            last_update_time: entity.last_update_time,
        }
    }
}

impl From<GroupView> for wit::GroupView {
    fn from(group: GroupView) -> Self {
        Self {
            id: group.id,
            name: group.name,
            group_type: group.group_type.into(),
            policies: group.policies,
            metadata: pairs(group.metadata),
            member_entity_ids: group.member_entity_ids,
            member_group_ids: group.member_group_ids,
            parent_group_ids: group.parent_group_ids,
            alias: group.alias.map(Into::into),
            modify_index: group.modify_index,
            creation_time: group.creation_time,
            last_update_time: group.last_update_time,
        }
    }
}

impl From<IdentityError> for wit::IdentityError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::UnknownEntity => Self::UnknownEntity,
            IdentityError::UnknownGroup => Self::UnknownGroup,
            IdentityError::UnknownAlias => Self::UnknownAlias,
            IdentityError::InvalidName => Self::InvalidName,
            IdentityError::NameTaken => Self::NameTaken,
            IdentityError::RootPolicy => Self::RootPolicy,
            IdentityError::TooManyPolicies(most) => Self::TooManyPolicies(most),
            IdentityError::InvalidMetadata => Self::InvalidMetadata,
            IdentityError::MissingAliasName => Self::MissingAliasName,
            IdentityError::MissingMountAccessor => Self::MissingMountAccessor,
            IdentityError::UnknownMountAccessor(it) => Self::UnknownMountAccessor(it),
            IdentityError::AliasTaken => Self::AliasTaken,
            IdentityError::AlreadyAliased => Self::AlreadyAliased,
            IdentityError::UnknownMemberEntity(id) => Self::UnknownMemberEntity(id),
            IdentityError::UnknownMemberGroup(id) => Self::UnknownMemberGroup(id),
            IdentityError::ExternalMembers => Self::ExternalMembers,
            IdentityError::GroupTypeFixed => Self::GroupTypeFixed,
            IdentityError::InternalAlias => Self::InternalAlias,
            IdentityError::CyclicGroups => Self::CyclicGroups,
            IdentityError::TooDeep(most) => Self::TooDeep(most),
            IdentityError::TooManyChanges(most) => Self::TooManyChanges(most),
            IdentityError::TooManyGroups(most) => Self::TooManyGroups(most),
            IdentityError::UnknownMergedEntity => Self::UnknownMergedEntity,
            IdentityError::MergedIntoItself => Self::MergedIntoItself,
            IdentityError::ClashingAliases(accessor) => Self::ClashingAliases(accessor),
            IdentityError::MergeTooLarge(most) => Self::MergeTooLarge(most),
            IdentityError::TooLong(error) => Self::TooLong(error.into()),
            IdentityError::TooManyMembers(most) => Self::TooManyMembers(most),
            IdentityError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
