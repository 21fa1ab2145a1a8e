//! Entities, groups and aliases.

use super::{Component, access, identity_wit as wit};
use crate::{
    AliasPage, AliasRequest, AliasView, AliasWritten, Entities as _, EntityAliases as _,
    EntityChanges, EntityPage, EntityView, GroupAliases as _, GroupChanges, GroupPage, GroupView,
    Groups as _, IdentityError, IdentityReference, IdentityTarget, IdentityWritten, KeyPage,
    MergeRequest, ServiceError,
};

impl wit::Guest for Component {
    fn read_entity(reference: IdentityReference) -> Result<Option<EntityView>, ServiceError> {
        access(|it| it.read_entity(&reference))
    }

    fn list_entities(after: Option<String>, limit: u32) -> Result<EntityPage, ServiceError> {
        access(|it| it.list_entities(after.as_deref(), limit))
    }

    fn list_entity_names(after: Option<String>, limit: u32) -> Result<KeyPage, ServiceError> {
        access(|it| it.list_entity_names(after.as_deref(), limit))
    }

    fn write_entity(
        target: IdentityTarget,
        changes: EntityChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        access(|it| it.write_entity(&target, &changes))
    }

    fn delete_entity(reference: IdentityReference) -> Result<bool, IdentityError> {
        access(|it| it.delete_entity(&reference))
    }

    fn merge_entities(request: MergeRequest) -> Result<(), IdentityError> {
        access(|it| it.merge_entities(&request))
    }

    fn read_entity_alias(id: String) -> Result<Option<AliasView>, ServiceError> {
        access(|it| it.read_entity_alias(&id))
    }

    fn list_entity_aliases(after: Option<String>, limit: u32) -> Result<AliasPage, ServiceError> {
        access(|it| it.list_entity_aliases(after.as_deref(), limit))
    }

    fn write_entity_alias(request: AliasRequest) -> Result<AliasWritten, IdentityError> {
        access(|it| it.write_entity_alias(&request))
    }

    fn delete_entity_alias(id: String) -> Result<bool, IdentityError> {
        access(|it| it.delete_entity_alias(&id))
    }

    fn read_group(reference: IdentityReference) -> Result<Option<GroupView>, ServiceError> {
        access(|it| it.read_group(&reference))
    }

    fn list_groups(after: Option<String>, limit: u32) -> Result<GroupPage, ServiceError> {
        access(|it| it.list_groups(after.as_deref(), limit))
    }

    fn list_group_names(after: Option<String>, limit: u32) -> Result<KeyPage, ServiceError> {
        access(|it| it.list_group_names(after.as_deref(), limit))
    }

    fn write_group(
        target: IdentityTarget,
        changes: GroupChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        access(|it| it.write_group(&target, &changes))
    }

    fn delete_group(reference: IdentityReference) -> Result<bool, IdentityError> {
        access(|it| it.delete_group(&reference))
    }

    fn read_group_alias(id: String) -> Result<Option<AliasView>, ServiceError> {
        access(|it| it.read_group_alias(&id))
    }

    fn list_group_aliases(after: Option<String>, limit: u32) -> Result<AliasPage, ServiceError> {
        access(|it| it.list_group_aliases(after.as_deref(), limit))
    }

    fn write_group_alias(request: AliasRequest) -> Result<AliasWritten, IdentityError> {
        access(|it| it.write_group_alias(&request))
    }

    fn delete_group_alias(id: String) -> Result<bool, IdentityError> {
        access(|it| it.delete_group_alias(&id))
    }
}
