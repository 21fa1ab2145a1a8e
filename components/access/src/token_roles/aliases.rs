//! The entity of a token that is created under a role and an alias.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::Transaction;

use super::terms;
use crate::api::{CreateError, TokenRole};
use crate::quotas::{Quota, put_slot};
use crate::records::{AliasRecord, EntityRecord, alias_key, entity_key};
use crate::service::AccessService;

/// Longest name of an alias, in bytes.
const MAXIMUM_ALIAS_BYTES: usize = 512;

/// The alias that a creator asks for, in the one spelling that aliases of created tokens have; `None` for none.
pub(crate) fn asked_alias(
    role: Option<&TokenRole>,
    asked: Option<&str>,
) -> Result<Option<String>, CreateError> {
    let Some(name) = asked.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let role = role.ok_or(CreateError::EntityAliasWithoutRole)?;
    let name = name.to_lowercase();
    if name.len() > MAXIMUM_ALIAS_BYTES || !terms::allows_alias(role, &name) {
        return Err(CreateError::AliasNotAllowed);
    }
    Ok(Some(name))
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// The entity that the mount of tokens knows as `alias`. A new one is added to the transaction: of several first tokens one
    /// makes it, as with logins. The role that creates it has a quota of such entities: an alias that it allows by a pattern
    /// is one of any number, and the entity outlives the token.
    pub(crate) fn entity_behind(
        &self,
        transaction: &mut Transaction,
        (role, alias): (&str, &str),
        first_attempt: bool,
    ) -> Result<EntityRecord, CreateError> {
        let mount = self.token_mount()?;
        let hash = self.hasher()?.alias(&mount.id, alias);
        let Some(known) = self.records.get::<AliasRecord>(&alias_key(&hash))? else {
            let mut entity = self.new_entity(transaction, &hash, &mount, alias)?;
            if let Some(most) = self.settings.entities_per_token_role {
                let name = format!("entity/{}", self.hasher()?.role(&mount.id, role));
                let place = self.slot_in(&Quota::new(&name, most), first_attempt)?;
                let place = place.ok_or(CreateError::TooManyEntities(most.get()))?;
                transaction.require_absent(place.key.as_str());
                put_slot(transaction, &place.key, None)?;
                entity.place = Some(place.key);
            }
            transaction.put(entity_key(&entity.id), &entity)?;
            return Ok(entity);
        };
        let key = entity_key(&known.record.entity_id);
        self.records
            .get::<EntityRecord>(&key)?
            .map(|entity| entity.record)
            .filter(|entity| !entity.disabled)
            .ok_or(CreateError::AliasEntityUnusable)
    }
}
