//! Aliases of external groups as operators manage them (contract 7.2).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::aliases::{AliasTarget, mount_of, non_empty};
use super::records::{
    AliasReference, GROUP_ALIAS_ID_PREFIX, GroupAliasRecord, GroupRecord, NameRecord,
    group_alias_id_key, group_alias_key, group_key,
};
use crate::api::{
    AliasPage, AliasRequest, AliasView, AliasWritten, GroupAliases, GroupType, IdentityError,
    MountView, Mounts as _, ServiceError,
};
use crate::random;
use crate::service::AccessService;

impl<S: Store, C: Clock, R: Random> GroupAliases for AccessService<S, C, R> {
    fn read_group_alias(&self, id: &str) -> Result<Option<AliasView>, ServiceError> {
        match self.find_alias::<GroupAliasRecord>(id)? {
            Some((_, alias)) => Ok(Some(group_alias_view(alias.record, &self.list_mounts()?))),
            None => Ok(None),
        }
    }

    fn list_group_aliases(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AliasPage, ServiceError> {
        let position = after.map(group_alias_id_key);
        self.aliases_in(GROUP_ALIAS_ID_PREFIX, position, limit, group_alias_view)
    }

    fn write_group_alias(&self, request: &AliasRequest) -> Result<AliasWritten, IdentityError> {
        commit_with_retries(&self.clock, &self.random, || {
            let found = match &request.id {
                Some(id) => {
                    let found = self.find_alias::<GroupAliasRecord>(id)?;
                    Some(found.ok_or(IdentityError::UnknownAlias)?)
                }
                None => None,
            };
            let present = found.as_ref().map(|(_, alias)| {
                let alias = &alias.record;
                (alias.name.as_str(), alias.mount_accessor.as_str())
            });
            let target = AliasTarget::new(request, present)?;
            let hash = self.hash_at(&target)?;
            let there = self
                .records
                .get::<GroupAliasRecord>(&group_alias_key(&hash))?;
            let found = match (found, there) {
                (Some((old_hash, alias)), there) => {
                    if old_hash != hash && there.is_some() {
                        return Err(IdentityError::AliasTaken);
                    }
                    Some((old_hash, alias))
                }
                (None, there) => there.map(|alias| (hash.clone(), alias)),
            };
            let mut transaction = Transaction::new();
            let written = match found {
                Some(found) => {
                    self.stage_changed_group_alias(&mut transaction, found, &hash, target, request)?
                }
                None => self.stage_made_group_alias(&mut transaction, &hash, target, request)?,
            };
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, written)?)
        })
    }

    fn delete_group_alias(&self, id: &str) -> Result<bool, IdentityError> {
        commit_with_retries(&self.clock, &self.random, || {
            let Some((hash, alias)) = self.find_alias::<GroupAliasRecord>(id)? else {
                return Ok(Attempt::Done(false));
            };
            let mut transaction = Transaction::new();
            transaction
                .require(group_alias_key(&hash), alias.version)
                .delete(group_alias_key(&hash))
                .delete(group_alias_id_key(&alias.record.id));
            self.stage_aliasless_group(&mut transaction, &alias.record.group_id, None)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, true)?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    pub(super) fn group_alias_with_hash(
        &self,
        hash: &str,
    ) -> Result<Option<AliasView>, ServiceError> {
        let key = group_alias_key(hash);
        match self.records.get::<GroupAliasRecord>(&key)? {
            Some(alias) => Ok(Some(group_alias_view(alias.record, &self.list_mounts()?))),
            None => Ok(None),
        }
    }

    fn stage_made_group_alias(
        &self,
        transaction: &mut Transaction,
        hash: &str,
        target: AliasTarget,
        request: &AliasRequest,
    ) -> Result<AliasWritten, IdentityError> {
        let now = self.clock.now_seconds();
        let group = match non_empty(request.canonical_id.as_deref()) {
            Some(id) => self.group_without_alias(transaction, id)?,
            None => self.stage_group(transaction, None, GroupType::External, now)?,
        };
        let alias = GroupAliasRecord {
            id: random::uuid(&self.random)?,
            group_id: group.id.clone(),
            name: target.name,
            mount_accessor: target.mount_accessor,
            creation_time: now,
            last_update_time: now,
        };
        let target = hash.to_owned();
        transaction
            .require_absent(group_alias_key(hash))
            .put(group_alias_key(hash), &alias)?
            .put(group_alias_id_key(&alias.id), &NameRecord { target })?;
        stage_group_with(
            transaction,
            group,
            Some(AliasReference::new(&alias.id, &alias.mount_accessor, hash)),
            now,
        )?;
        Ok(AliasWritten {
            id: alias.id,
            canonical_id: alias.group_id,
            changed: true,
        })
    }

    fn stage_changed_group_alias(
        &self,
        transaction: &mut Transaction,
        (old_hash, alias): (String, Loaded<GroupAliasRecord>),
        hash: &str,
        target: AliasTarget,
        request: &AliasRequest,
    ) -> Result<AliasWritten, IdentityError> {
        let Loaded {
            record: before,
            version,
        } = alias;
        let group_id = non_empty(request.canonical_id.as_deref()).unwrap_or(&before.group_id);
        let now = self.clock.now_seconds();
        let record = GroupAliasRecord {
            id: before.id.clone(),
            group_id: group_id.to_owned(),
            name: target.name,
            mount_accessor: target.mount_accessor,
            creation_time: before.creation_time,
            last_update_time: now,
        };
        let moved = record.group_id != before.group_id;
        let written = AliasWritten {
            id: record.id.clone(),
            canonical_id: record.group_id.clone(),
            changed: moved || hash != old_hash,
        };
        if !written.changed {
            return Ok(written);
        }
        transaction.require(group_alias_key(&old_hash), version);
        if hash != old_hash {
            let target = hash.to_owned();
            transaction
                .require_absent(group_alias_key(hash))
                .delete(group_alias_key(&old_hash))
                .put(group_alias_id_key(&record.id), &NameRecord { target })?;
        }
        transaction.put(group_alias_key(hash), &record)?;
        let alias = Some(AliasReference::new(
            &record.id,
            &record.mount_accessor,
            hash,
        ));
        if moved {
            let group = self.group_without_alias(transaction, &record.group_id)?;
            stage_group_with(transaction, group, alias, now)?;
            self.stage_aliasless_group(transaction, &before.group_id, None)?;
        } else {
            self.stage_aliasless_group(transaction, &before.group_id, alias)?;
        }
        Ok(written)
    }

    /// A group that is to get an alias, checked to stay as it is.
    fn group_without_alias(
        &self,
        transaction: &mut Transaction,
        id: &str,
    ) -> Result<GroupRecord, IdentityError> {
        let group = self.find_owner_with_id::<GroupRecord>(id)?;
        let group = group.ok_or(IdentityError::UnknownGroup)?;
        if group.record.group_type == GroupType::Internal {
            return Err(IdentityError::InternalAlias);
        }
        if group.record.alias.is_some() {
            return Err(IdentityError::AlreadyAliased);
        }
        transaction.require(group_key(id), group.version);
        Ok(group.record)
    }

    /// Stages another alias, or none, for the group that has one.
    fn stage_aliasless_group(
        &self,
        transaction: &mut Transaction,
        id: &str,
        alias: Option<AliasReference>,
    ) -> Result<(), IdentityError> {
        if let Some(group) = self.find_owner_with_id::<GroupRecord>(id)? {
            transaction.require(group_key(id), group.version);
            stage_group_with(transaction, group.record, alias, self.clock.now_seconds())?;
        }
        Ok(())
    }
}

fn stage_group_with(
    transaction: &mut Transaction,
    mut group: GroupRecord,
    alias: Option<AliasReference>,
    now: u64,
) -> Result<(), IdentityError> {
    group.alias = alias;
    group.touch(now);
    transaction.put(group_key(&group.id), &group)?;
    Ok(())
}

pub(super) fn group_alias_view(alias: GroupAliasRecord, mounts: &[MountView]) -> AliasView {
    let (mount_path, mount_type) = mount_of(&alias.mount_accessor, mounts);
    AliasView {
        id: alias.id,
        canonical_id: alias.group_id,
        name: alias.name,
        mount_accessor: alias.mount_accessor,
        mount_path,
        mount_type,
        metadata: Vec::new(),
        custom_metadata: Vec::new(),
        merged_from_canonical_ids: Vec::new(),
        creation_time: alias.creation_time,
        last_update_time: alias.last_update_time,
    }
}
