//! Roles in the store, and the functions of the interface `roles`. Each write is one commit, made again while others interfere (contract
//! 3.4, SEC-S6).

use gatehouse_ports::{Cache, Clock, Http, Random, Store, Version};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries};

use super::changes::{self, Written};
use super::edits::{self, EditedList};
use super::warnings;
use crate::config::ConfigRecord;
use crate::excerpt::excerpt;
use crate::service::AuthMethodService;
use crate::{
    EditError, ListEdit, Mount, Precondition, Role, RoleChanges, RoleError, RoleName, RoleNames,
    RoleWarning, RoleWritten, Roles, StorageError, record_keys,
};

/// Most of a role's name that an error repeats, in bytes.
const SHOWN_NAME_BYTES: usize = 256;

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> Roles for AuthMethodService<S, M, H, C, R> {
    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        let Some(name) = RoleName::new(name) else {
            return Ok(None);
        };
        let stored = self.records().get(&record_keys::role(mount, &name))?;
        Ok(stored.map(|loaded| loaded.record))
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        let name = RoleName::new(name).ok_or(RoleError::InvalidName)?;
        commit_with_retries(self.clock(), self.random(), || {
            let (config, stored) = self.config_and_role(mount, &name)?;
            match (precondition, stored.is_some()) {
                (Precondition::MustBeNew, true) => return Err(RoleError::Exists),
                (Precondition::MustExist, false) => return Err(RoleError::DoesNotExist),
                _ => {}
            }
            let version = stored.as_ref().map(|loaded| loaded.version);
            let created = version.is_none();
            let stored = stored.map(|loaded| loaded.record);
            let new_id = || self.new_role_id();
            let Written { role, warnings } =
                changes::apply(stored, &changes, mount, &config, new_id)?;
            let written = RoleWritten { created, warnings };
            Ok(self.replace_role(mount, &name, version, &role, written)?)
        })
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.edit_list(mount, name, EditedList::ServiceAccounts, edit)
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.edit_list(mount, name, EditedList::Labels, edit)
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        match RoleName::new(name) {
            Some(name) => self.delete([
                record_keys::role(mount, &name),
                record_keys::role_name(mount, &name),
            ]),
            None => Ok(()),
        }
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        Ok(self.role_names(mount, None, usize::MAX)?.names)
    }

    fn list_roles_after(
        &self,
        mount: &Mount,
        after: Option<&str>,
        limit: u32,
    ) -> Result<RoleNames, StorageError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.role_names(mount, after, limit.max(1))
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    fn edit_list(
        &self,
        mount: &Mount,
        name: &str,
        list: EditedList,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        if edits::is_empty(edit) {
            return Err(EditError::Empty);
        }
        let not_found = || EditError::RoleNotFound(excerpt(name, SHOWN_NAME_BYTES));
        let folded = RoleName::new(name).ok_or_else(not_found)?;
        commit_with_retries(self.clock(), self.random(), || {
            let (config, stored) = self.config_and_role(mount, &folded)?;
            let Loaded {
                record: mut role,
                version,
            } = stored.ok_or_else(not_found)?;
            edits::apply(&mut role, list, edit)?;
            let mut warnings = Vec::new();
            warnings::add_warnings(&role, mount, &config, &mut warnings);
            Ok(self.replace_role(mount, &folded, Some(version), &role, warnings)?)
        })
    }

    fn config_and_role(
        &self,
        mount: &Mount,
        name: &RoleName,
    ) -> Result<(ConfigRecord, Option<Loaded<Role>>), StorageError> {
        let (config_key, role_key) = (record_keys::config(mount), record_keys::role(mount, name));
        let [config, role] = self.records().entries([&config_key, &role_key])?;
        let config = Records::<S>::load::<ConfigRecord>(config)?;
        let config = config.map(|loaded| loaded.record).unwrap_or_default();
        Ok((config, Records::<S>::load(role)?))
    }

    /// Stores `role` if the stored one has not changed since it was read.
    fn replace_role<T>(
        &self,
        mount: &Mount,
        name: &RoleName,
        read: Option<Version>,
        role: &Role,
        outcome: T,
    ) -> Result<Attempt<T>, StorageError> {
        let key = record_keys::role(mount, name);
        let mut transaction = Transaction::new();
        transaction.require_unchanged(key.as_str(), read);
        transaction.put(key, role)?;
        self.stage_role_name(&mut transaction, mount, name, read.is_none())?;
        Ok(Attempt::from_commit(
            self.records().commit(transaction),
            outcome,
        )?)
    }

    fn new_role_id(&self) -> Result<String, RoleError> {
        let mut bytes = [0; 16];
        self.random().fill(&mut bytes)?;
        let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
        Ok(id.to_string())
    }
}
