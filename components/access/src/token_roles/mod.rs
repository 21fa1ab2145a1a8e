//! Token-store roles (contract 5.4): kept, changed, and asked what they make of a new token.

mod aliases;
mod changes;
mod pattern;
pub(crate) mod terms;

pub(crate) use aliases::asked_alias;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{
    Attempt, Records, Transaction, commit_with_retries, encode, key_position, key_segment,
};

use crate::api::{
    Failure, KeyPage, TokenRole, TokenRoleChanges, TokenRoleError, TokenRoleWarning,
    WritePermission,
};
use crate::service::AccessService;

/// Longest name, in bytes.
const MAXIMUM_NAME_BYTES: usize = 128;
/// Most that a role holds, in bytes.
const MAXIMUM_ROLE_BYTES: usize = 256 * 1024;
/// Most names in one answer.
const MAXIMUM_LIMIT: u32 = 10_000;
/// Roles read in one round of a list: each may be as long as [`MAXIMUM_ROLE_BYTES`].
const ROUND: u32 = 32;
/// Bytes of roles after which a list ends early; its next part begins there.
const MAXIMUM_LIST_BYTES: usize = 64 * 1024 * 1024;

/// What the keys of all roles begin with.
const PREFIX: &str = "token-role/";

fn role_key(name: &str) -> String {
    format!("{PREFIX}{}", key_segment(name))
}

fn is_usable_name(name: &str) -> bool {
    (1..=MAXIMUM_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// In the order of their names.
    pub(crate) fn token_role_names(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, Failure> {
        let mut left = limit.clamp(1, MAXIMUM_LIMIT);
        let mut position = after.map(|after| key_position(PREFIX, after));
        let mut keys = Vec::new();
        let mut bytes = 0;
        loop {
            let store = self.records.store();
            let page = store.scan(PREFIX, position.as_deref(), left.min(ROUND))?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                bytes += item.entry.value.len();
                let role = Records::<S>::load::<TokenRole>(Some(item.entry))?;
                keys.extend(role.map(|role| role.record.name));
                left -= 1;
            }
            if left == 0 || !page.more || bytes > MAXIMUM_LIST_BYTES {
                let next = keys.last().cloned().filter(|_| page.more);
                return Ok(KeyPage { keys, next });
            }
        }
    }

    pub(crate) fn token_role(&self, name: &str) -> Result<Option<TokenRole>, Failure> {
        if !is_usable_name(name) {
            return Ok(None);
        }
        let role = self.records.get::<TokenRole>(&role_key(name))?;
        Ok(role.map(|role| role.record))
    }

    pub(crate) fn put_token_role(
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
                .put(key.as_str(), &role)?;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                changes::warnings(&role, changes, mount_max),
            )?)
        })
    }

    pub(crate) fn remove_token_role(&self, name: &str) -> Result<(), Failure> {
        if !is_usable_name(name) {
            return Ok(());
        }
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            transaction.delete(role_key(name));
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }
}
