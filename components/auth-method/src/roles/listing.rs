//! The names of a mount's roles, apart from the roles, which are too large to be read for a list (contract 3.1, SEC-S14).

use gatehouse_ports::{Cache, Clock, Http, Item, Random, Store, StoreError};
use gatehouse_storage::{Index, Record, Transaction, key_position};
use serde::{Deserialize, Serialize};

use crate::pages::{LARGE_AT_ONCE, SMALL_AT_ONCE};
use crate::service::AuthMethodService;
use crate::{Mount, RoleName, RoleNames, StorageError, record_keys};

/// Roles whose names are added in one commit.
const PART: u32 = 512;

/// A name in the list. The key has the name, so there is nothing to say here.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NameRecord {}

impl Record for NameRecord {
    const SCHEMA: u16 = 1;
}

/// The keys that the index of one mount is made of.
struct NameIndex {
    /// Begins the keys of the roles.
    roles: String,
    /// Begins the keys of the names.
    names: String,
    /// Holds how far the index has come.
    progress: String,
}

impl NameIndex {
    fn new(mount: &Mount) -> Self {
        Self {
            roles: record_keys::roles(mount),
            names: record_keys::role_names(&mount.id),
            progress: record_keys::role_name_index(mount),
        }
    }

    fn index(&self) -> Index<'_> {
        Index {
            key: &self.progress,
            prefix: &self.roles,
            at_once: LARGE_AT_ONCE,
            part: PART,
        }
    }

    /// Adds the name of a role that an earlier release stored.
    fn stage_name_of_role(
        &self,
        transaction: &mut Transaction,
        role: &Item,
    ) -> Result<(), gatehouse_storage::StorageError> {
        // Names of roles need no escapes in keys, so what follows the prefix is the name.
        let name = role.key.strip_prefix(&self.roles).unwrap_or_default();
        transaction
            .require(role.key.as_str(), role.entry.version)
            .put(format!("{}{name}", self.names), &NameRecord {})?;
        Ok(())
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// Stages the name of a role that the same commit writes; `is_new` when there was no such role.
    pub(super) fn stage_role_name(
        &self,
        transaction: &mut Transaction,
        mount: &Mount,
        name: &RoleName,
        is_new: bool,
    ) -> Result<(), StorageError> {
        if is_new {
            let keys = NameIndex::new(mount);
            keys.index()
                .stage_complete_if_new(self.records(), transaction)?;
        }
        transaction.put(record_keys::role_name(mount, name), &NameRecord {})?;
        Ok(())
    }

    /// The names of at most `limit` roles that follow `after`.
    pub(super) fn role_names(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: usize,
    ) -> Result<RoleNames, StorageError> {
        let keys = NameIndex::new(mount);
        self.require_name_index(&keys)?;
        let mut position = after.map(|after| key_position(&keys.names, after));
        let mut names = Vec::new();
        loop {
            let left = u32::try_from(limit.saturating_sub(names.len())).unwrap_or(u32::MAX);
            let store = self.records().store();
            let page = store.scan(&keys.names, position.as_deref(), left.min(SMALL_AT_ONCE))?;
            position = page.items.last().map(|item| item.key.clone());
            let found = page.items.iter();
            let found = found.filter_map(|item| item.key.strip_prefix(&keys.names));
            names.extend(found.map(str::to_owned));
            if !page.more || names.len() >= limit {
                let next = names.last().filter(|_| page.more).cloned();
                return Ok(RoleNames { names, next });
            }
        }
    }

    /// Makes sure that the index has the names of the roles that an earlier release stored.
    fn require_name_index(&self, keys: &NameIndex) -> Result<(), StorageError> {
        let complete = keys.index().advance(
            self.records(),
            self.clock(),
            self.random(),
            |transaction, role| keys.stage_name_of_role(transaction, role),
        )?;
        if complete {
            return Ok(());
        }
        let why = "the list of roles is being made, which takes a while once: try again";
        Err(StoreError::Unavailable(why.to_owned()).into())
    }
}
