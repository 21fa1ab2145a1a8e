//! New entities and new aliases of them, as parts of a commit.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{StorageError, Transaction};

use super::names::Named;
use super::records::{AliasReference, NameRecord, alias_id_key};
use crate::api::ServiceError;
use crate::random;
use crate::records::{AliasRecord, EntityRecord, alias_key};
use crate::service::AccessService;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// An entity with a made-up name, which is staged; its record is not, since more may come to stand in it.
    pub(crate) fn stage_unnamed_entity(
        &self,
        transaction: &mut Transaction,
        now: u64,
    ) -> Result<EntityRecord, ServiceError> {
        let name = format!("entity_{}", random::eight_digits(&self.random)?);
        self.stage_entity(transaction, name, now)
    }

    /// The same with a name that must not be taken.
    pub(crate) fn stage_entity(
        &self,
        transaction: &mut Transaction,
        name: String,
        now: u64,
    ) -> Result<EntityRecord, ServiceError> {
        let entity = EntityRecord {
            id: random::uuid(&self.random)?,
            name,
            disabled: false,
            policies: Vec::new(),
            creation_time: now,
            last_update_time: now,
            metadata: BTreeMap::new(),
            aliases: Vec::new(),
            internal_groups: Vec::new(),
            external_groups: BTreeMap::new(),
            merged: Vec::new(),
            place: None,
        };
        self.stage_name(transaction, Named::Entity, &entity.name, &entity.id)?;
        Ok(entity)
    }
}

/// Stages a new alias, which must not exist, and notes it in its entity, whose record the caller stores.
pub(crate) fn stage_alias(
    transaction: &mut Transaction,
    entity: &mut EntityRecord,
    hash: &str,
    alias: &AliasRecord,
) -> Result<(), StorageError> {
    let target = hash.to_owned();
    transaction
        .require_absent(alias_key(hash))
        .put(alias_key(hash), alias)?
        .put(alias_id_key(&alias.id), &NameRecord { target })?;
    entity
        .aliases
        .push(AliasReference::new(&alias.id, &alias.mount_accessor, hash));
    Ok(())
}
