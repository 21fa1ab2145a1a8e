//! Token-store roles (contract 5.4): kept, changed, and asked what they make of a new token.

mod aliases;
mod changes;
mod pattern;
pub(crate) mod terms;

pub(crate) use aliases::asked_alias;

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{
    Attempt, Index, Record, Records, Transaction, commit_with_retries, encode, key_position,
    key_segment,
};
use serde::{Deserialize, Serialize};

use crate::api::{
    KeyPage, ServiceError, TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning,
    TokenRoles, WritePermission,
};
use crate::bounds::PAGE_ITEMS;
use crate::service::AccessService;

/// Longest name, in bytes.
const MAXIMUM_NAME_BYTES: usize = 128;
/// Most that a role holds, in bytes.
const MAXIMUM_ROLE_BYTES: usize = 256 * 1024;
/// Names read at a time.
const ROUND: u32 = 500;

/// The prefix of the keys of all roles.
const PREFIX: &str = "token-role/";
/// The prefix of the keys of all [`NameRecord`]s.
const NAME_PREFIX: &str = "token-role-name/";

/// The names of all roles, apart from the roles, which are too long to be read for a list.
pub(crate) const TOKEN_ROLE_NAMES: Index<'static> = Index {
    key: "index/token-role-names",
    prefix: PREFIX,
    at_once: 16,
    part: 16,
};

fn role_key(name: &str) -> String {
    format!("{PREFIX}{}", key_segment(name))
}

fn name_key(name: &str) -> String {
    format!("{NAME_PREFIX}{}", key_segment(name))
}

/// The name of a role, for lists. It leaves out the other fields of a [`TokenRole`], so it can be read from one as well.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NameRecord {
    name: String,
}

impl Record for NameRecord {
    const SCHEMA: u16 = TokenRole::SCHEMA;
}

/// Adds the name of a role to [`TOKEN_ROLE_NAMES`].
fn stage_name_of<S: Store>(transaction: &mut Transaction, item: &Item) -> Result<(), ServiceError> {
    let role = Records::<S>::load::<NameRecord>(Some(item.entry.clone()))?;
    if let Some(role) = role {
        transaction
            .require(item.key.as_str(), role.version)
            .put(name_key(&role.record.name), &role.record)?;
    }
    Ok(())
}

fn is_usable_name(name: &str) -> bool {
    (1..=MAXIMUM_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

impl<S: Store, C: Clock, R: Random> TokenRoles for AccessService<S, C, R> {
    fn list_token_roles(&self, after: Option<&str>, limit: u32) -> Result<KeyPage, ServiceError> {
        self.require_index(TOKEN_ROLE_NAMES, stage_name_of::<S>)?;
        let mut left = limit.clamp(1, PAGE_ITEMS);
        let mut position = after.map(|after| key_position(NAME_PREFIX, after));
        let mut keys = Vec::new();
        loop {
            let store = self.records.store();
            let page = store.scan(NAME_PREFIX, position.as_deref(), left.min(ROUND))?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                let role = Records::<S>::load::<NameRecord>(Some(item.entry))?;
                keys.extend(role.map(|role| role.record.name));
                left -= 1;
            }
            if left == 0 || !page.more {
                let next = keys.last().cloned().filter(|_| page.more);
                return Ok(KeyPage { keys, next });
            }
        }
    }

    fn read_token_role(&self, name: &str) -> Result<Option<TokenRole>, ServiceError> {
        if !is_usable_name(name) {
            return Ok(None);
        }
        let role = self.records.get::<TokenRole>(&role_key(name))?;
        Ok(role.map(|role| role.record))
    }

    fn write_token_role(
        &self,
        name: &str,
        changes: &TokenRoleChanges,
        permission: WritePermission,
    ) -> Result<Vec<TokenRoleWarning>, TokenRoleError> {
        if !is_usable_name(name) {
            return Err(TokenRoleError::InvalidName);
        }
        let key = role_key(name);
        let mount_max = self.token_mount()?.leases().max_ttl;
        commit_with_retries(&self.clock, &self.random, || {
            let found = self.records.get::<TokenRole>(&key)?;
            let permitted = match found {
                Some(_) => permission.update,
                None => permission.create,
            };
            if !permitted {
                return Err(TokenRoleError::Denied);
            }
            let version = found.as_ref().map(|found| found.version);
            let present = found.map_or_else(|| changes::new_role(name), |found| found.record);
            let role = changes::applied(present, changes)?;
            if encode(&role)?.len() > MAXIMUM_ROLE_BYTES {
                return Err(TokenRoleError::TooLarge(MAXIMUM_ROLE_BYTES as u32));
            }
            let mut transaction = Transaction::new();
            transaction
                .require_unchanged(key.as_str(), version)
                .put(key.as_str(), &role)?
                .put(
                    name_key(name),
                    &NameRecord {
                        name: name.to_owned(),
                    },
                )?;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                changes::warnings(&role, changes, mount_max),
            )?)
        })
    }

    fn delete_token_role(&self, name: &str) -> Result<(), ServiceError> {
        if !is_usable_name(name) {
            return Ok(());
        }
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            transaction.delete(role_key(name)).delete(name_key(name));
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Does a bounded part of the work on the index of names, where an earlier version left none.
    pub(crate) fn advance_token_role_names(&self) -> Result<bool, ServiceError> {
        self.advance_index(TOKEN_ROLE_NAMES, stage_name_of::<S>)
    }
}
