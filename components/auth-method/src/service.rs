//! The capability over its ports.

use std::sync::Arc;

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{
    Attempt, Records, StorageError, Transaction, TransactionError, commit_with_retries,
};

use crate::config::{ConfigRecord, CredentialsChange};
use crate::google::{Deadline, Google, Memory, MountMemory, RetryBudget, Settings};
use crate::roles::{EditedList, RoleName};
use crate::{
    AuthMethod, CheckReport, ConfigChanges, ConfigError, ConfigView, ConfigWarning,
    CredentialsReport, EditError, Identity, IdentityTokenError, IssuerError, ListEdit, LoginError,
    LoginRequest, Mount, Precondition, PublicKey, RenewalError, RenewalRequest, Renewed, Role,
    RoleChanges, RoleError, RoleWarning, RoleWritten, Rotated, RotationError, config, record_keys,
};

/// How many records of a mount that is gone are deleted in one commit.
const FORGOTTEN_AT_ONCE: u32 = 500;

/// The Google Cloud auth method over a store, a cache, outgoing HTTP, a clock and a source of randomness.
///
/// It remembers what Google said, within limits; keep it between requests. It may be shared between threads when its ports may.
pub struct AuthMethodService<S, M, H, C, R> {
    records: Records<S>,
    cache: M,
    http: H,
    clock: C,
    random: R,
    settings: Settings,
    memory: Memory,
    retries: RetryBudget,
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// The capability with the settings of the server's operator.
    pub fn new(store: S, cache: M, http: H, clock: C, random: R, settings: Settings) -> Self {
        Self {
            records: Records::new(store),
            cache,
            http,
            clock,
            random,
            settings,
            memory: Memory::default(),
            retries: RetryBudget::default(),
        }
    }

    pub(crate) const fn records(&self) -> &Records<S> {
        &self.records
    }

    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    pub(crate) const fn random(&self) -> &R {
        &self.random
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now_seconds()
    }

    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::of_login(&self.clock)
    }

    /// The mount's configuration with what is remembered under it, and a role, in one read.
    pub(crate) fn mount_and_role(
        &self,
        mount: &Mount,
        name: &RoleName,
    ) -> Result<(Arc<MountMemory>, Option<Role>), StorageError> {
        let (config_key, role_key) = (record_keys::config(mount), record_keys::role(mount, name));
        let [config, role] = self.records.entries([&config_key, &role_key])?;
        let version = config.as_ref().map(|entry| entry.version);
        let memory = self
            .memory
            .of_mount(&mount.id, version, &self.settings, || {
                let loaded = Records::<S>::load::<ConfigRecord>(config)?;
                Ok::<_, StorageError>(loaded.map(|loaded| loaded.record).unwrap_or_default())
            })?;
        let role = Records::<S>::load(role)?.map(|loaded| loaded.record);
        Ok((memory, role))
    }

    /// Runs `work` with Google as the mount sees it.
    pub(crate) fn with_google<T>(
        &self,
        mount: &Mount,
        memory: &MountMemory,
        deadline: Deadline,
        work: impl FnOnce(&Google<'_, H, C, R>) -> T,
    ) -> T {
        let credentials = || {
            let stored = self.records.get(&record_keys::credentials(mount))?;
            Ok(stored.map(|loaded| loaded.record))
        };
        work(&Google {
            http: &self.http,
            clock: &self.clock,
            random: &self.random,
            settings: &self.settings,
            endpoints: &memory.endpoints,
            memory,
            cache: &self.cache,
            retries: &self.retries,
            credentials: &credentials,
            deadline,
        })
    }

    fn stored_config(&self, mount: &Mount) -> Result<ConfigRecord, StorageError> {
        let stored = self.records.get(&record_keys::config(mount))?;
        Ok(stored.map(|loaded| loaded.record).unwrap_or_default())
    }

    fn try_write_config(
        &self,
        mount: &Mount,
        changes: &ConfigChanges,
    ) -> Result<Attempt<()>, ConfigError> {
        let key = record_keys::config(mount);
        let stored = self.records.get::<ConfigRecord>(&key)?;
        let version = stored.as_ref().map(|loaded| loaded.version);
        let record = stored.map(|loaded| loaded.record).unwrap_or_default();
        let (record, credentials) = config::apply(record, changes, &self.settings)?;
        let mut transaction = Transaction::new();
        transaction.require_unchanged(key.as_str(), version);
        transaction.put(key, &record)?;
        match credentials {
            CredentialsChange::Keep => {}
            CredentialsChange::Remove => {
                transaction.delete(record_keys::credentials(mount));
            }
            CredentialsChange::Replace(secret) => {
                transaction.put(record_keys::credentials(mount), &secret)?;
            }
        }
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }

    fn delete(&self, keys: impl IntoIterator<Item = String>) -> Result<(), StorageError> {
        let mut transaction = Transaction::new();
        for key in keys {
            transaction.delete(key);
        }
        match self.records.commit(transaction) {
            Ok(()) => Ok(()),
            Err(TransactionError::Storage(error)) => Err(error),
            // A commit without checks does not conflict; a store that says so is contended.
            Err(TransactionError::Conflict(_)) => Err(StorageError::Contended(1)),
        }
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethod
    for AuthMethodService<S, M, H, C, R>
{
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        Ok(self.stored_config(mount)?.view())
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_write_config(mount, &changes)
        })?;
        self.memory.forget(&mount.id);
        Ok(Vec::new())
    }

    fn rotate_root(&self, _: &Mount) -> Result<Rotated, RotationError> {
        Err(RotationError::NoStoredCredentials)
    }

    fn rotate_if_due(&self, _: &Mount) -> Result<Option<Rotated>, RotationError> {
        Ok(None)
    }

    fn check_config(&self, mount: &Mount, _: &[String]) -> Result<CredentialsReport, StorageError> {
        Ok(CredentialsReport {
            source: self.stored_config(mount)?.credentials_source(),
            failure: None,
            projects: Vec::new(),
        })
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.delete([record_keys::config(mount), record_keys::credentials(mount)])?;
        self.memory.forget(&mount.id);
        Ok(())
    }

    fn read_role(&self, mount: &Mount, name: &str) -> Result<Option<Role>, StorageError> {
        let Some(name) = RoleName::new(name) else {
            return Ok(None);
        };
        let stored = self.records.get(&record_keys::role(mount, &name))?;
        Ok(stored.map(|loaded| loaded.record))
    }

    fn write_role(
        &self,
        mount: &Mount,
        name: &str,
        changes: RoleChanges,
        precondition: Precondition,
    ) -> Result<RoleWritten, RoleError> {
        self.change_role(mount, name, &changes, precondition)
    }

    fn edit_service_accounts(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.edit_role(mount, name, EditedList::ServiceAccounts, edit)
    }

    fn edit_labels(
        &self,
        mount: &Mount,
        name: &str,
        edit: &ListEdit,
    ) -> Result<Vec<RoleWarning>, EditError> {
        self.edit_role(mount, name, EditedList::Labels, edit)
    }

    fn delete_role(&self, mount: &Mount, name: &str) -> Result<(), StorageError> {
        match RoleName::new(name) {
            Some(name) => self.delete([record_keys::role(mount, &name)]),
            None => Ok(()),
        }
    }

    fn list_roles(&self, mount: &Mount) -> Result<Vec<String>, StorageError> {
        let prefix = record_keys::roles(mount);
        // Names of roles need no escapes in keys, so what follows the prefix is the name.
        Ok(self
            .records
            .scan_all(&prefix)?
            .iter()
            .filter_map(|item| item.key.strip_prefix(&prefix))
            .map(str::to_owned)
            .collect())
    }

    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        self.log_in(mount, request)
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        self.explain_login(mount, request)
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        self.renew(mount, request)
    }

    fn read_issuer(&self) -> Result<String, StorageError> {
        Ok(String::new())
    }

    fn write_issuer(&self, _: &str) -> Result<(), IssuerError> {
        Err(IssuerError::NotUrl)
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        Err(IdentityTokenError::NoIssuer)
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        Ok(Vec::new())
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        self.memory.forget(mount_id);
        let prefix = record_keys::everything(mount_id);
        loop {
            let page = self
                .records
                .store()
                .scan(&prefix, None, FORGOTTEN_AT_ONCE)?;
            let more = page.more;
            self.delete(page.items.into_iter().map(|item| item.key))?;
            if !more {
                return Ok(());
            }
        }
    }
}
