//! Entities, groups and aliases of `access`.

use std::collections::BTreeMap;

use gatehouse_access::{
    AliasRequest, AliasView, AliasWritten, EntityChanges, EntityView, GroupChanges, GroupType,
    GroupView, IdentityError, IdentityReference, IdentityTarget, IdentityWritten, ListPage,
    MergeRequest,
};

use super::identity_wit as wit;

same_cases!(wit::GroupType, GroupType, Internal, External);
same_fields!(wit::IdentityWritten => IdentityWritten { id, name, created });
same_fields!(wit::AliasWritten => AliasWritten { id, canonical_id, changed });

fn map(pairs: Vec<(String, String)>) -> BTreeMap<String, String> {
    pairs.into_iter().collect()
}

fn pairs(map: Option<&BTreeMap<String, String>>) -> Option<Vec<(String, String)>> {
    let pair = |(name, value): (&String, &String)| (name.clone(), value.clone());
    map.map(|map| map.iter().map(pair).collect())
}

impl From<IdentityReference<'_>> for wit::IdentityReference {
    fn from(from: IdentityReference<'_>) -> Self {
        match from {
            IdentityReference::Id(id) => Self::Id(id.to_owned()),
            IdentityReference::Name(name) => Self::Name(name.to_owned()),
            IdentityReference::AliasId(id) => Self::AliasId(id.to_owned()),
            IdentityReference::Alias {
                mount_accessor,
                name,
            } => Self::Alias(wit::AliasPlace {
                mount_accessor: mount_accessor.to_owned(),
                name: name.to_owned(),
            }),
        }
    }
}

impl From<IdentityTarget<'_>> for wit::IdentityTarget {
    fn from(from: IdentityTarget<'_>) -> Self {
        match from {
            IdentityTarget::Id(id) => Self::Id(id.to_owned()),
            IdentityTarget::Name(name) => Self::Name(name.to_owned()),
            IdentityTarget::New => Self::New,
        }
    }
}

impl From<&EntityChanges> for wit::EntityChanges {
    fn from(from: &EntityChanges) -> Self {
        Self {
            name: from.name.clone(),
            disabled: from.disabled,
            policies: from.policies.clone(),
            metadata: pairs(from.metadata.as_ref()),
        }
    }
}

impl From<&GroupChanges> for wit::GroupChanges {
    fn from(from: &GroupChanges) -> Self {
        Self {
            name: from.name.clone(),
            group_type: from.group_type.map(Into::into),
            policies: from.policies.clone(),
            metadata: pairs(from.metadata.as_ref()),
            member_entity_ids: from.member_entity_ids.clone(),
            member_group_ids: from.member_group_ids.clone(),
        }
    }
}

impl From<&AliasRequest> for wit::AliasRequest {
    fn from(from: &AliasRequest) -> Self {
        Self {
            id: from.id.clone(),
            name: from.name.clone(),
            mount_accessor: from.mount_accessor.clone(),
            canonical_id: from.canonical_id.clone(),
            custom_metadata: pairs(from.custom_metadata.as_ref()),
        }
    }
}

impl From<&MergeRequest> for wit::MergeRequest {
    fn from(from: &MergeRequest) -> Self {
        Self {
            from_entity_ids: from.from_entity_ids.clone(),
            to_entity_id: from.to_entity_id.clone(),
            alias_ids_to_keep: from.alias_ids_to_keep.clone(),
        }
    }
}

impl From<wit::AliasView> for AliasView {
    fn from(from: wit::AliasView) -> Self {
        Self {
            id: from.id,
            canonical_id: from.canonical_id,
            name: from.name,
            mount_accessor: from.mount_accessor,
            mount_path: from.mount_path,
            mount_type: from.mount_type,
            metadata: map(from.metadata),
            custom_metadata: map(from.custom_metadata),
            merged_from_canonical_ids: from.merged_from_canonical_ids,
            creation_time: from.creation_time,
            last_update_time: from.last_update_time,
        }
    }
}

impl From<wit::EntityView> for EntityView {
    fn from(from: wit::EntityView) -> Self {
        Self {
            id: from.id,
            name: from.name,
            disabled: from.disabled,
            policies: from.policies,
            metadata: map(from.metadata),
            aliases: from.aliases.into_iter().map(Into::into).collect(),
            direct_group_ids: from.direct_group_ids,
            inherited_group_ids: from.inherited_group_ids,
            merged_entity_ids: from.merged_entity_ids,
            creation_time: from.creation_time,
            last_update_time: from.last_update_time,
        }
    }
}

impl From<wit::GroupView> for GroupView {
    fn from(from: wit::GroupView) -> Self {
        Self {
            id: from.id,
            name: from.name,
            group_type: from.group_type.into(),
            policies: from.policies,
            metadata: map(from.metadata),
            member_entity_ids: from.member_entity_ids,
            member_group_ids: from.member_group_ids,
            parent_group_ids: from.parent_group_ids,
            alias: from.alias.map(Into::into),
            modify_index: from.modify_index,
            creation_time: from.creation_time,
            last_update_time: from.last_update_time,
        }
    }
}

macro_rules! pages {
    ($($page:ident { $items:ident: $view:ty }),+) => {$(
        impl From<wit::$page> for ListPage<$view> {
            fn from(page: wit::$page) -> Self {
                Self {
                    items: page.$items.into_iter().map(Into::into).collect(),
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

same_errors!(wit::IdentityError => IdentityError {
    UnknownEntity, UnknownGroup, UnknownAlias, InvalidName, NameTaken, RootPolicy,
    InvalidMetadata, MissingAliasName, MissingMountAccessor, AliasTaken, AlreadyAliased,
    ExternalMembers, GroupTypeFixed, InternalAlias, CyclicGroups,
    UnknownMergedEntity, MergedIntoItself;
    TooManyPolicies, UnknownMountAccessor, UnknownMemberEntity, UnknownMemberGroup, TooDeep,
    TooManyChanges, TooManyGroups, ClashingAliases, MergeTooLarge, TooLong, TooManyMembers,
    Failure
});
