//! The keys of everything that belongs to an organization.
//!
//! Everything that an organization owns lies below `of/<external id>/<kind>/`, so that it stays through renames and is found when
//! the organization goes. What has an identifier of its own is also known under `whose/<identifier>`, which tells the
//! organization. Neither counts any more once `external/<external id>` is gone: what follows an identifier looks there.

use gatehouse_ports::{Clock, MAXIMUM_KEYS_PER_CALL, Random, Store};
use gatehouse_storage::{Cacheable, Loaded, Record, StorageError, Transaction};
use serde::{Deserialize, Serialize};

use crate::identifier::well_formed;
use crate::record::{ExternalIdRecord, external_id_key};
use crate::{Orgs, ServiceError};

/// Kinds of things that organizations own, as they are called in keys.
pub(crate) mod kind {
    /// By team id.
    pub const TEAM: &str = "team";
    /// By folded name; tells the id.
    pub const TEAM_NAME: &str = "team-name";
    /// By membership id.
    pub const MEMBERSHIP: &str = "membership";
    /// By user id; tells the id of the membership.
    pub const MEMBER: &str = "member";
    /// By the hash of an address that is invited; tells the id of the membership.
    pub const INVITED: &str = "invited";
    /// By project id; holds nothing else.
    pub const PROJECT: &str = "project";
    /// By subscription id; holds nothing else.
    pub const SUBSCRIPTION: &str = "subscription";
    /// By token id; tells the hash.
    pub const TOKEN: &str = "token";
    /// One record.
    pub const TOKEN_LIFETIMES: &str = "token-lifetimes";
    /// By pool id.
    pub const AGENT_POOL: &str = "agent-pool";
    /// By folded name; tells the id.
    pub const AGENT_POOL_NAME: &str = "agent-pool-name";
    /// One record: the active owners.
    pub const OWNERS: &str = "owners";
    /// By kind: how many there are of it.
    pub const COUNT: &str = "count";
    /// By what it shares; tells with whom.
    pub const CONSUMERS: &str = "consumers";
    /// By what is shared with it, and the external id of the organization that does; holds nothing else.
    pub const PRODUCER: &str = "producer";

    /// Kinds of entries that stand under names which people choose. Such a name may look like an identifier, and is none.
    pub const NAMED_BY_PEOPLE: [&str; 2] = [TEAM_NAME, AGENT_POOL_NAME];
}

/// The organization that something belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WhoseRecord {
    /// The external id.
    pub organization: String,
}

impl Record for WhoseRecord {
    const SCHEMA: u16 = 1;
}

/// An index entry that tells an identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PointerRecord {
    pub id: String,
}

impl Record for PointerRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for PointerRecord {}

impl PointerRecord {
    pub fn to(id: &str) -> Self {
        Self { id: id.to_owned() }
    }
}

/// Before everything of an organization.
pub(crate) fn prefix_of_all(external_id: &str) -> String {
    format!("of/{external_id}/")
}

/// Before everything of one kind.
pub(crate) fn prefix(external_id: &str, kind: &str) -> String {
    format!("of/{external_id}/{kind}/")
}

/// The key of one thing. The name must be safe in a key: an identifier, a folded name, or a segment that was made so.
pub(crate) fn key(external_id: &str, kind: &str, name: &str) -> String {
    format!("of/{external_id}/{kind}/{name}")
}

/// The key that tells whose something is. Of what cannot be an identifier it is the key of nothing.
pub(crate) fn whose_key(id: &str) -> String {
    format!("whose/{}", if well_formed(id) { id } else { "-" })
}

/// An organization that exists: its external id, and the folded name it has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Existing {
    pub external_id: String,
    pub name: String,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The organization that owns what has this id; `None` where there is no such thing, or no longer.
    pub(crate) fn owner_of(&self, id: &str) -> Result<Option<Existing>, ServiceError> {
        let Some(whose) = self.records.get::<WhoseRecord>(&whose_key(id))? else {
            return Ok(None);
        };
        self.existing(whose.record.organization)
    }

    /// Leads to the organization with this external id; `None` once it is gone.
    pub(crate) fn existing(&self, external_id: String) -> Result<Option<Existing>, ServiceError> {
        let key = external_id_key(&external_id);
        let found = self.records.get::<ExternalIdRecord>(&key)?;
        Ok(found.map(|found| Existing {
            external_id,
            name: found.record.name,
        }))
    }

    /// Adds to `transaction` the condition that the organization with this external id stays. False if it is gone already.
    ///
    /// Whatever adds something to an organization needs it: what is added after the organization was cleared away would stay for
    /// good.
    pub(crate) fn require_existing(
        &self,
        transaction: &mut Transaction,
        external_id: &str,
    ) -> Result<bool, ServiceError> {
        let key = external_id_key(external_id);
        let found = self.records.get::<ExternalIdRecord>(&key)?;
        if let Some(found) = &found {
            transaction.require(key, found.version);
        }
        Ok(found.is_some())
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The records under any number of keys, in their order.
    pub(crate) fn get_many<T: Record>(
        &self,
        keys: &[String],
    ) -> Result<Vec<Option<Loaded<T>>>, ServiceError> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MAXIMUM_KEYS_PER_CALL) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            found.extend(self.records.get_all(&keys)?);
        }
        Ok(found)
    }
}

/// Adds to `transaction` something new with an identifier of its own.
pub(crate) fn put_new<T: Record>(
    transaction: &mut Transaction,
    external_id: &str,
    kind: &str,
    id: &str,
    record: &T,
) -> Result<(), StorageError> {
    let organization = external_id.to_owned();
    transaction
        .require_absent(whose_key(id))
        .put(whose_key(id), &WhoseRecord { organization })?
        .put(key(external_id, kind, id), record)?;
    Ok(())
}

/// Adds to `transaction` the end of something with an identifier of its own.
pub(crate) fn delete(transaction: &mut Transaction, external_id: &str, kind: &str, id: &str) {
    transaction
        .delete(whose_key(id))
        .delete(key(external_id, kind, id));
}
