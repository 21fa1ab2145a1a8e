//! Aliases of entities as operators manage them (contract 7.2).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::checks::{check_alias_name, checked_metadata};
use super::creation::stage_alias;
use super::records::{ALIAS_ID_PREFIX, AliasReference, NameRecord, alias_id_key};
use crate::api::{
    AliasPage, AliasRequest, AliasView, AliasWritten, EntityAliases, IdentityError, MountView,
    Mounts as _, ServiceError,
};
use crate::random;
use crate::records::{
    AliasMetadataRecord, AliasRecord, EntityRecord, alias_key, alias_metadata_key, entity_key,
};
use crate::service::{AccessService, load_next};

/// The name and the mount that a request settles on.
pub(super) struct AliasTarget {
    pub(super) name: String,
    pub(super) mount_accessor: String,
}

impl AliasTarget {
    /// The values of `request`, and of `present` where it gives none.
    pub(super) fn new(
        request: &AliasRequest,
        present: Option<(&str, &str)>,
    ) -> Result<Self, IdentityError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let name = given(&request.name).or(present.map(|(name, _)| name.to_owned()));
        let accessor = given(&request.mount_accessor);
        let accessor = accessor.or(present.map(|(_, accessor)| accessor.to_owned()));
        let name = name.ok_or(IdentityError::MissingAliasName)?;
        check_alias_name(&name)?;
        Ok(Self {
            name,
            mount_accessor: accessor.ok_or(IdentityError::MissingMountAccessor)?,
        })
    }
}

impl<S: Store, C: Clock, R: Random> EntityAliases for AccessService<S, C, R> {
    fn read_entity_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError> {
        let Some((hash, alias)) = self.find_alias::<AliasRecord>(id)? else {
            return Ok(None);
        };
        let alias = alias.record;
        let reference = AliasReference::new(&alias.id, &alias.mount_accessor, &hash);
        Ok(self.alias_views(&[reference])?.pop())
    }

    fn list_entity_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError> {
        self.aliases_in(ALIAS_ID_PREFIX, after.map(alias_id_key), limit, alias_view)
    }

    fn write_entity_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        checked_metadata(request.custom_metadata.as_deref())?;
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            let written = match &request.id {
                Some(id) => {
                    let (hash, alias) = self
                        .find_alias::<AliasRecord>(id)?
                        .ok_or(IdentityError::UnknownAlias)?;
                    let present = (
                        alias.record.name.as_str(),
                        alias.record.mount_accessor.as_str(),
                    );
                    let target = AliasTarget::new(request, Some(present))?;
                    let moved = (target.name.as_str(), target.mount_accessor.as_str()) != present;
                    let new_hash = if moved {
                        self.hash_at(&target)?
                    } else {
                        hash.clone()
                    };
                    let new = (new_hash.as_str(), target);
                    self.stage_changed_alias(&mut transaction, (&hash, &alias), new, request)?
                }
                None => {
                    let target = AliasTarget::new(request, None)?;
                    let hash = self.hash_at(&target)?;
                    match self.records.get::<AliasRecord>(&alias_key(&hash))? {
                        Some(alias) => self.stage_changed_alias(
                            &mut transaction,
                            (&hash, &alias),
                            (&hash, target),
                            request,
                        )?,
                        None => self.stage_made_alias(&mut transaction, &hash, target, request)?,
                    }
                }
            };
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, written)?)
        })
    }

    fn delete_entity_alias(&self, id: &str) -> Result<bool, IdentityError> {
        commit_with_retries(&self.clock, &self.random, || {
            let Some((hash, alias)) = self.find_alias::<AliasRecord>(id)? else {
                return Ok(Attempt::Done(false));
            };
            let mut transaction = Transaction::new();
            transaction
                .require(alias_key(&hash), alias.version)
                .delete(alias_key(&hash))
                .delete(alias_metadata_key(&hash))
                .delete(alias_id_key(&alias.record.id));
            let entity = self.find_owner_with_id::<EntityRecord>(&alias.record.entity_id)?;
            if let Some(Loaded {
                mut record,
                version,
            }) = entity
            {
                record.aliases.retain(|it| it.id != alias.record.id);
                record.leave_mount(&mut transaction, &alias.record.mount_accessor);
                transaction
                    .require(entity_key(&record.id), version)
                    .put(entity_key(&record.id), &record)?;
            }
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, true)?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// These aliases with what their last logins said.
    pub(super) fn alias_views(
        &self,
        references: &[AliasReference],
    ) -> Result<Vec<AliasView>, ServiceError> {
        if references.is_empty() {
            return Ok(Vec::new());
        }
        let mounts = self.list_mounts()?;
        let keys: Vec<String> = references
            .iter()
            .flat_map(|it| [alias_key(&it.hash), alias_metadata_key(&it.hash)])
            .collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut views = Vec::new();
        for _ in references {
            let alias = load_next::<S, AliasRecord>(&mut entries)?;
            let metadata = load_next::<S, AliasMetadataRecord>(&mut entries)?;
            let Some(alias) = alias else { continue };
            let mut view = alias_view(alias.record, &mounts);
            if let Some(metadata) = metadata.map(|it| it.record) {
                view.last_update_time = view.last_update_time.max(metadata.last_update_time);
                view.metadata = metadata.metadata.into_iter().collect();
            }
            views.push(view);
        }
        Ok(views)
    }

    /// The hash of the alias at `target`.
    pub(super) fn hash_at(&self, target: &AliasTarget) -> Result<String, IdentityError> {
        let accessor = &target.mount_accessor;
        self.alias_hash(accessor, &target.name)?
            .ok_or_else(|| IdentityError::UnknownMountAccessor(accessor.clone()))
    }

    fn stage_made_alias(
        &self,
        transaction: &mut Transaction,
        hash: &str,
        target: AliasTarget,
        request: &AliasRequest,
    ) -> Result<AliasWritten, IdentityError> {
        let now = self.clock.now_seconds();
        let mut entity = match non_empty(request.canonical_id.as_deref()) {
            Some(id) => self.entity_without_alias(transaction, id, &target.mount_accessor)?,
            None => self.stage_unnamed_entity(transaction, now)?,
        };
        let alias = AliasRecord {
            id: random::uuid(&self.random)?,
            entity_id: entity.id.clone(),
            name: target.name,
            mount_accessor: target.mount_accessor,
            creation_time: now,
            last_update_time: now,
            custom_metadata: request.custom_metadata.iter().flatten().cloned().collect(),
            merged_from: Vec::new(),
        };
        stage_alias(transaction, &mut entity, hash, &alias)?;
        transaction.put(entity_key(&entity.id), &entity)?;
        Ok(AliasWritten {
            id: alias.id,
            canonical_id: entity.id,
            changed: true,
        })
    }

    /// Stages what changes about an alias: its target, its entity, or what an operator says about it.
    fn stage_changed_alias(
        &self,
        transaction: &mut Transaction,
        (old_hash, alias): (&str, &Loaded<AliasRecord>),
        (hash, target): (&str, AliasTarget),
        request: &AliasRequest,
    ) -> Result<AliasWritten, IdentityError> {
        let before = &alias.record;
        let entity_id = non_empty(request.canonical_id.as_deref()).unwrap_or(&before.entity_id);
        let mut record = AliasRecord {
            entity_id: entity_id.to_owned(),
            name: target.name,
            mount_accessor: target.mount_accessor,
            ..before.clone()
        };
        if let Some(metadata) = &request.custom_metadata {
            record.custom_metadata = metadata.iter().cloned().collect();
        }
        let written = AliasWritten {
            id: record.id.clone(),
            canonical_id: record.entity_id.clone(),
            changed: record != *before,
        };
        if !written.changed {
            return Ok(written);
        }
        record.last_update_time = self.clock.now_seconds();
        transaction.require(alias_key(old_hash), alias.version);
        if hash != old_hash {
            if self.records.get::<AliasRecord>(&alias_key(hash))?.is_some() {
                return Err(IdentityError::AliasTaken);
            }
            let target = hash.to_owned();
            transaction
                .require_absent(alias_key(hash))
                .delete(alias_key(old_hash))
                .delete(alias_metadata_key(old_hash))
                .put(alias_id_key(&record.id), &NameRecord { target })?;
        }
        if hash != old_hash || record.entity_id != before.entity_id {
            self.stage_moved_reference(transaction, before, &record, hash)?;
        }
        transaction.put(alias_key(hash), &record)?;
        Ok(written)
    }

    /// Notes the alias, as it is to be, in its entity, and takes it out of the one it belonged to.
    fn stage_moved_reference(
        &self,
        transaction: &mut Transaction,
        before: &AliasRecord,
        alias: &AliasRecord,
        hash: &str,
    ) -> Result<(), IdentityError> {
        let left = self.find_owner_with_id::<EntityRecord>(&before.entity_id)?;
        if let Some(Loaded {
            mut record,
            version,
        }) = left
        {
            record.aliases.retain(|it| it.id != alias.id);
            record.leave_mount(transaction, &before.mount_accessor);
            if before.entity_id == alias.entity_id {
                require_unaliased(&record, &alias.mount_accessor)?;
                record
                    .aliases
                    .push(AliasReference::new(&alias.id, &alias.mount_accessor, hash));
            }
            transaction
                .require(entity_key(&record.id), version)
                .put(entity_key(&record.id), &record)?;
        }
        if before.entity_id != alias.entity_id {
            let accessor = &alias.mount_accessor;
            let mut entity = self.entity_without_alias(transaction, &alias.entity_id, accessor)?;
            entity
                .aliases
                .push(AliasReference::new(&alias.id, &alias.mount_accessor, hash));
            transaction.put(entity_key(&entity.id), &entity)?;
        }
        Ok(())
    }

    /// An entity that is to get an alias of a mount, checked to stay as it is.
    fn entity_without_alias(
        &self,
        transaction: &mut Transaction,
        id: &str,
        mount_accessor: &str,
    ) -> Result<EntityRecord, IdentityError> {
        let entity = self.find_owner_with_id::<EntityRecord>(id)?;
        let entity = entity.ok_or(IdentityError::UnknownEntity)?;
        require_unaliased(&entity.record, mount_accessor)?;
        transaction.require(entity_key(id), entity.version);
        Ok(entity.record)
    }
}

/// A text that says something.
pub(super) fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn require_unaliased(entity: &EntityRecord, mount_accessor: &str) -> Result<(), IdentityError> {
    let mut aliases = entity.aliases.iter();
    if aliases.any(|alias| alias.mount_accessor == mount_accessor) {
        return Err(IdentityError::AlreadyAliased);
    }
    Ok(())
}

pub(super) fn alias_view(alias: AliasRecord, mounts: &[MountView]) -> AliasView {
    let (mount_path, mount_type) = mount_of(&alias.mount_accessor, mounts);
    AliasView {
        id: alias.id,
        canonical_id: alias.entity_id,
        name: alias.name,
        mount_accessor: alias.mount_accessor,
        mount_path,
        mount_type,
        metadata: Vec::new(),
        custom_metadata: alias.custom_metadata.into_iter().collect(),
        merged_from_canonical_ids: alias.merged_from,
        creation_time: alias.creation_time,
        last_update_time: alias.last_update_time.max(alias.creation_time),
    }
}

/// The alias as a list of entities shows it, without what was said about it.
pub(super) fn listed_alias(alias: AliasRecord, mounts: &[MountView]) -> AliasView {
    AliasView {
        custom_metadata: Vec::new(),
        ..alias_view(alias, mounts)
    }
}

/// Path and type of the mount with this accessor; empty where it is gone.
pub(super) fn mount_of(accessor: &str, mounts: &[MountView]) -> (String, String) {
    mounts
        .iter()
        .find(|mount| mount.accessor == accessor)
        .map(|mount| (format!("auth/{}", mount.path), mount.mount_type.clone()))
        .unwrap_or_default()
}
