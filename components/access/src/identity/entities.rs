//! Entities as operators manage them (contract 7.2).

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::aliases::listed_alias;
use super::checks::{
    MAXIMUM_INTERNAL_GROUPS, checked_metadata, checked_name, checked_policies, wanted_name,
};
use super::lists::{CHUNK, loaded};
use super::merge::merged_ids;
use super::names::Named;
use super::records::{
    ENTITY_NAME_PREFIX, GroupRecord, OwnerRecord, alias_id_key, member_key, merged_entity_key,
};
use crate::api::{
    AliasView, Entities, EntityChanges, EntityPage, EntityView, IdentityError, IdentityReference,
    IdentityTarget, IdentityWritten, KeyPage, MergeRequest, Mounts as _, ServiceError,
};
use crate::records::{
    AliasRecord, ENTITY_PREFIX, EntityRecord, alias_key, alias_metadata_key, entity_key,
};
use crate::service::{AccessService, load_next};

impl<S: Store, C: Clock, R: Random> Entities for AccessService<S, C, R> {
    fn read_entity(
        &self,
        reference: &IdentityReference,
    ) -> Result<Option<EntityView>, ServiceError> {
        let Some(entity) = self.find_owner::<EntityRecord>(reference)? else {
            return Ok(None);
        };
        let entity = entity.record;
        let groups = self.groups_of(&entity)?;
        let ids = |groups: &[GroupRecord]| {
            let ids: BTreeSet<String> = groups.iter().map(|group| group.id.clone()).collect();
            ids.into_iter().collect::<Vec<String>>()
        };
        let aliases = self.alias_views(&entity.aliases)?;
        Ok(Some(EntityView {
            aliases,
            direct_group_ids: ids(&groups.direct),
            inherited_group_ids: ids(&groups.inherited),
            ..listed_entity(entity)
        }))
    }

    fn list_entities(&self, after: Option<&str>, limit: u32) -> Result<EntityPage, ServiceError> {
        let mounts = self.list_mounts()?;
        let position = after.map(entity_key);
        self.page(ENTITY_PREFIX, position, (limit, CHUNK), |items| {
            let entities = loaded::<S, EntityRecord>(items)?;
            let references = entities.iter().flat_map(|it| it.aliases.iter());
            let hashes: Vec<String> = references.map(|alias| alias.hash.clone()).collect();
            let mut aliases: BTreeMap<String, Vec<AliasView>> = BTreeMap::new();
            let listed_alias = |alias| listed_alias(alias, &mounts);
            for alias in self.indexed::<AliasRecord, _>(&hashes, listed_alias)? {
                let of_entity = aliases.entry(alias.canonical_id.clone()).or_default();
                of_entity.push(alias);
            }
            let shown = entities.into_iter().map(|entity| EntityView {
                aliases: aliases.remove(&entity.id).unwrap_or_default(),
                metadata: Vec::new(),
                ..listed_entity(entity)
            });
            Ok(shown.collect())
        })
        .map(|part| EntityPage {
            next: part.next(|entity| &entity.id),
            entities: part.items,
        })
    }

    fn list_entity_names(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        let position = self.name_position(Named::Entity, after)?;
        self.names_in(ENTITY_NAME_PREFIX, position, limit, |it: EntityRecord| {
            it.name
        })
    }

    fn write_entity(
        &self,
        target: &IdentityTarget,
        changes: &EntityChanges,
    ) -> Result<IdentityWritten, IdentityError> {
        let policies = changes.policies.as_deref().map(checked_policies);
        let policies = policies.transpose()?;
        checked_metadata(changes.metadata.as_deref())?;
        commit_with_retries(&self.clock, &self.random, || {
            let now = self.clock.now_seconds();
            let mut transaction = Transaction::new();
            let found = self.find_target::<EntityRecord>(target)?;
            let name = wanted_name(target, found.is_none(), changes.name.as_deref());
            let (mut entity, before) = match found {
                Some(found) => {
                    let mut entity = found.record.clone();
                    if let Some(name) = name.filter(|name| *name != entity.name) {
                        let (kind, old) = (Named::Entity, &entity.name);
                        entity.name =
                            self.stage_rename(&mut transaction, kind, (old, name), &entity.id)?;
                    }
                    (entity, Some(found))
                }
                None => (self.stage_wanted_entity(&mut transaction, name, now)?, None),
            };
            if let Some(disabled) = changes.disabled {
                entity.disabled = disabled;
            }
            if let Some(policies) = &policies {
                entity.policies.clone_from(policies);
            }
            if let Some(metadata) = &changes.metadata {
                entity.metadata = metadata.iter().cloned().collect();
            }
            let written = IdentityWritten {
                id: entity.id.clone(),
                name: entity.name.clone(),
                created: before.is_none(),
            };
            let key = entity_key(&entity.id);
            if let Some(before) = before {
                if entity == before.record {
                    return Ok(Attempt::Done(written));
                }
                entity.last_update_time = now;
                transaction.require(key.as_str(), before.version);
            }
            transaction.put(key.as_str(), &entity)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, written)?)
        })
    }

    fn delete_entity(&self, reference: &IdentityReference) -> Result<bool, IdentityError> {
        commit_with_retries(&self.clock, &self.random, || {
            let Some(entity) = self.find_owner::<EntityRecord>(reference)? else {
                return Ok(Attempt::Done(false));
            };
            let Loaded { record, version } = entity;
            let key = entity_key(&record.id);
            let mut transaction = Transaction::new();
            transaction
                .require(key.as_str(), version)
                .delete(key.as_str());
            self.stage_name_removal(&mut transaction, Named::Entity, &record.name, &record.id)?;
            if let Some(place) = &record.place {
                transaction.delete(place);
            }
            for alias in &record.aliases {
                transaction
                    .delete(alias_key(&alias.hash))
                    .delete(alias_metadata_key(&alias.hash))
                    .delete(alias_id_key(&alias.id));
            }
            for group in record.group_ids() {
                transaction.delete(member_key(group, &record.id));
            }
            for id in &record.merged {
                transaction.delete(merged_entity_key(id));
            }
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, true)?)
        })
    }

    fn merge_entities(&self, request: &MergeRequest) -> Result<(), IdentityError> {
        let ids = merged_ids(request)?;
        commit_with_retries(&self.clock, &self.random, || {
            let transaction = self.merging(request, &ids)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, ())?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    fn stage_wanted_entity(
        &self,
        transaction: &mut Transaction,
        name: Option<&str>,
        now: u64,
    ) -> Result<EntityRecord, IdentityError> {
        match name {
            Some(name) => {
                let name = checked_name(name)?;
                self.require_free_name(Named::Entity, &name)?;
                Ok(self.stage_entity(transaction, name, now)?)
            }
            None => Ok(self.stage_unnamed_entity(transaction, now)?),
        }
    }

    /// Notes in the entities `added` and `removed` that they are in the group or not, and in the group's index likewise.
    pub(super) fn stage_members(
        &self,
        transaction: &mut Transaction,
        group_id: &str,
        added: &[String],
        removed: &[String],
    ) -> Result<(), IdentityError> {
        let added_from = removed.len();
        let ids = removed.iter().chain(added);
        let keys: Vec<String> = ids.clone().map(|id| entity_key(id)).collect();
        let mut entries = self.read_all(keys.iter())?;
        for (at, id) in ids.enumerate() {
            let joins = at >= added_from;
            let entity = load_next::<S, EntityRecord>(&mut entries)?;
            let Some(Loaded {
                mut record,
                version,
            }) = entity
            else {
                if joins {
                    return Err(IdentityError::UnknownMemberEntity(id.clone()));
                }
                transaction.delete(member_key(group_id, id));
                continue;
            };
            record.internal_groups.retain(|group| group != group_id);
            if joins {
                if record.internal_groups.len() >= MAXIMUM_INTERNAL_GROUPS {
                    let most = MAXIMUM_INTERNAL_GROUPS as u32;
                    return Err(IdentityError::TooManyGroups(most));
                }
                record.internal_groups.push(group_id.to_owned());
                record.internal_groups.sort_unstable();
                let owner = OwnerRecord {
                    entity_id: id.clone(),
                };
                transaction.put(member_key(group_id, id), &owner)?;
            } else {
                transaction.delete(member_key(group_id, id));
            }
            transaction
                .require(entity_key(id), version)
                .put(entity_key(id), &record)?;
        }
        Ok(())
    }
}

/// The entity as a list shows it, without aliases and groups.
pub(super) fn listed_entity(entity: EntityRecord) -> EntityView {
    EntityView {
        id: entity.id,
        name: entity.name,
        disabled: entity.disabled,
        policies: entity.policies,
        metadata: entity.metadata.into_iter().collect(),
        aliases: Vec::new(),
        direct_group_ids: Vec::new(),
        inherited_group_ids: Vec::new(),
        merged_entity_ids: entity.merged,
        creation_time: entity.creation_time,
        last_update_time: entity.last_update_time.max(entity.creation_time),
    }
}
