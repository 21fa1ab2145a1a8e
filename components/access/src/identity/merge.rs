//! Several entities that turn out to be one (contract 7.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Loaded, Transaction};

use super::checks::{MAXIMUM_INTERNAL_GROUPS, is_identifier};
use super::membership::stage_memberships;
use super::names::Named;
use super::records::{AliasReference, NameRecord, alias_id_key, member_key, merged_entity_key};
use crate::api::{IdentityError, MergeRequest, ServiceError};
use crate::records::{AliasRecord, EntityRecord, alias_key, alias_metadata_key, entity_key};
use crate::service::{AccessService, load_next};

/// Most aliases, memberships and entities that one merge touches: each changes three records at most, and a commit has room for 1,024.
/// Most entities, too, that one entity may have come from, so that its removal can clear them away in one commit.
const MAXIMUM_CHANGES: usize = 340;

const TOO_LARGE: IdentityError = IdentityError::MergeTooLarge(MAXIMUM_CHANGES as u32);

/// The entities that go into another one.
pub(super) fn merged_ids(request: &MergeRequest) -> Result<BTreeSet<&String>, IdentityError> {
    let ids: BTreeSet<&String> = request.from_entity_ids.iter().collect();
    if ids.contains(&request.to_entity_id) {
        return Err(IdentityError::MergedIntoItself);
    }
    if ids.len() > MAXIMUM_CHANGES {
        return Err(TOO_LARGE);
    }
    if !is_identifier(&request.to_entity_id) {
        return Err(IdentityError::UnknownEntity);
    }
    if !ids.iter().all(|id| is_identifier(id)) {
        return Err(IdentityError::UnknownMergedEntity);
    }
    Ok(ids)
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The commit that makes one entity of several. Every entity and every alias that changes is checked to be as it was read, so that
    /// no login and no other change is lost.
    pub(super) fn merging(
        &self,
        request: &MergeRequest,
        ids: &BTreeSet<&String>,
    ) -> Result<Transaction, IdentityError> {
        let all = std::iter::once(&request.to_entity_id).chain(ids.iter().copied());
        let keys: Vec<String> = all.map(|id| entity_key(id)).collect();
        let mut entries = self.read_all(keys.iter())?;
        let before = load_next::<S, EntityRecord>(&mut entries)?;
        let before = before.ok_or(IdentityError::UnknownEntity)?;
        let mut sources = Vec::with_capacity(ids.len());
        for _ in ids {
            let source = load_next::<S, EntityRecord>(&mut entries)?;
            sources.push(source.ok_or(IdentityError::UnknownMergedEntity)?);
        }
        require_few(&before.record, &sources)?;

        let mut transaction = Transaction::new();
        let mut entity = before.record.clone();
        entity.last_update_time = self.clock.now_seconds();
        let owners: Vec<&EntityRecord> = std::iter::once(&before.record)
            .chain(sources.iter().map(|source| &source.record))
            .collect();
        let kept = kept_aliases(&owners, &request.alias_ids_to_keep)?;
        self.stage_aliases(&mut transaction, &mut entity, &owners, &kept)?;

        for Loaded { record, version } in &sources {
            let key = entity_key(&record.id);
            transaction
                .require(key.as_str(), *version)
                .delete(key.as_str());
            self.stage_name_removal(&mut transaction, Named::Entity, &record.name, &record.id)?;
            if let Some(place) = &record.place {
                transaction.delete(place);
            }
            for group in record.group_ids() {
                transaction.delete(member_key(group, &record.id));
            }
            for id in record.merged.iter().chain([&record.id]) {
                if record.disabled {
                    // Its tokens were refused, and do not come back to life as those of another entity.
                    transaction.delete(merged_entity_key(id));
                } else {
                    let target = entity.id.clone();
                    transaction.put(merged_entity_key(id), &NameRecord { target })?;
                }
                entity.merged.push(id.clone());
            }
            entity
                .internal_groups
                .extend_from_slice(&record.internal_groups);
        }
        entity.internal_groups.sort_unstable();
        entity.internal_groups.dedup();
        if entity.internal_groups.len() > MAXIMUM_INTERNAL_GROUPS {
            return Err(IdentityError::TooManyGroups(MAXIMUM_INTERNAL_GROUPS as u32));
        }
        if entity.merged.len() > MAXIMUM_CHANGES {
            return Err(TOO_LARGE);
        }
        let (left, joined) = (before.record.group_ids(), entity.group_ids());
        stage_memberships(&mut transaction, &entity.id, &left, &joined)?;
        transaction
            .require(entity_key(&entity.id), before.version)
            .put(entity_key(&entity.id), &entity)?;
        Ok(transaction)
    }

    /// Brings the aliases in `kept`, with the memberships that logins by them brought, to `entity`, and removes the others.
    fn stage_aliases(
        &self,
        transaction: &mut Transaction,
        entity: &mut EntityRecord,
        owners: &[&EntityRecord],
        kept: &BTreeSet<String>,
    ) -> Result<(), IdentityError> {
        entity.aliases = Vec::new();
        entity.external_groups = BTreeMap::new();
        let owned = || {
            owners
                .iter()
                .flat_map(|it| it.aliases.iter().map(move |alias| (*it, alias)))
        };
        let keys: Vec<String> = owned().map(|(_, alias)| alias_key(&alias.hash)).collect();
        let mut entries = self.read_all(keys.iter())?;
        for ((owner, reference), key) in owned().zip(&keys) {
            let found = load_next::<S, AliasRecord>(&mut entries)?;
            let Some(Loaded {
                mut record,
                version,
            }) = found
            else {
                continue;
            };
            if !kept.contains(&reference.id) {
                transaction
                    .require(key.as_str(), version)
                    .delete(key.as_str())
                    .delete(alias_metadata_key(&reference.hash))
                    .delete(alias_id_key(&reference.id));
                continue;
            }
            if owner.id != entity.id {
                record.merged_from.push(owner.id.clone());
                record.entity_id.clone_from(&entity.id);
                transaction
                    .require(key.as_str(), version)
                    .put(key.as_str(), &record)?;
            }
            let accessor = &reference.mount_accessor;
            if let Some(memberships) = owner.external_groups.get(accessor) {
                let memberships = memberships.clone();
                entity.external_groups.insert(accessor.clone(), memberships);
            }
            entity.aliases.push(reference.clone());
        }
        Ok(())
    }

    /// The entity that the one with this identifier, which is gone, became part of.
    pub(crate) fn entity_merged_from(
        &self,
        id: &str,
    ) -> Result<Option<Loaded<Arc<EntityRecord>>>, ServiceError> {
        match self.target_of(&merged_entity_key(id))? {
            Some(id) => Ok(self.read_cached([entity_key(&id)])?.next_record()?),
            None => Ok(None),
        }
    }
}

/// Refuses a merge of more than fits one commit.
fn require_few(
    target: &EntityRecord,
    sources: &[Loaded<EntityRecord>],
) -> Result<(), IdentityError> {
    let of_sources = sources.iter().map(|source| {
        let source = &source.record;
        1 + source.aliases.len() + source.merged.len() + source.group_ids().len()
    });
    let changes = of_sources.sum::<usize>() + target.aliases.len() + target.group_ids().len();
    if changes > MAXIMUM_CHANGES {
        return Err(TOO_LARGE);
    }
    Ok(())
}

/// The identifiers of the aliases that stay: of each mount one.
fn kept_aliases(
    owners: &[&EntityRecord],
    wanted: &[String],
) -> Result<BTreeSet<String>, IdentityError> {
    let mut mounts: BTreeMap<&String, Vec<&AliasReference>> = BTreeMap::new();
    for alias in owners.iter().flat_map(|owner| &owner.aliases) {
        mounts.entry(&alias.mount_accessor).or_default().push(alias);
    }
    let mut kept = BTreeSet::new();
    for (accessor, mut aliases) in mounts {
        if aliases.len() > 1 {
            aliases.retain(|alias| wanted.contains(&alias.id));
        }
        match aliases.as_slice() {
            [alias] => kept.insert(alias.id.clone()),
            _ => return Err(IdentityError::ClashingAliases(accessor.clone())),
        };
    }
    Ok(kept)
}
