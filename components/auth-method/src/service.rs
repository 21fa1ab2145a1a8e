//! The capability over its ports.

use std::sync::Arc;

use gatehouse_ports::{Cache, Clock, Entry, Http, Random, Store, StoreError};
use gatehouse_storage::{Attempt, Records, Transaction, TransactionError, commit_with_retries};
use zeroize::Zeroizing;

use crate::config::{Applied, ConfigRecord, CredentialsChange};
use crate::google::{
    ApiError, Deadline, Federation, Google, Memory, MountMemory, RetryBudget, Settings, Source,
};
use crate::pages::{LARGE_AT_ONCE, SMALL_AT_ONCE};
use crate::roles::{EditedList, RoleName};
use crate::{
    AuthMethod, CheckReport, ConfigChanges, ConfigError, ConfigView, ConfigWarning,
    CredentialsFailure, CredentialsReport, CredentialsSource, EditError, Identity,
    IdentityTokenError, IssuerError, ListEdit, LoginError, LoginRequest, Mount, Precondition,
    PublicKey, RenewalError, RenewalRequest, Renewed, Role, RoleChanges, RoleError, RoleNames,
    RoleWarning, RoleWritten, Rotated, RotationError, StorageError, config, record_keys,
};

/// Commits that one call makes to delete what is left of a mount.
const FORGETTING_COMMITS: u32 = 256;

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
        let memory = self.memory_under(mount, config)?;
        let role = Records::<S>::load(role)?.map(|loaded| loaded.record);
        Ok((memory, role))
    }

    /// The mount's configuration with what is remembered under it.
    pub(crate) fn mount_memory(&self, mount: &Mount) -> Result<Arc<MountMemory>, StorageError> {
        let [config] = self.records.entries([&record_keys::config(mount)])?;
        self.memory_under(mount, config)
    }

    fn memory_under(
        &self,
        mount: &Mount,
        config: Option<Entry>,
    ) -> Result<Arc<MountMemory>, StorageError> {
        let version = config.as_ref().map(|entry| entry.version);
        self.memory
            .of_mount(&mount.id, version, &self.settings, || {
                let loaded = Records::<S>::load::<ConfigRecord>(config)?;
                Ok(loaded.map(|loaded| loaded.record).unwrap_or_default())
            })
    }

    /// Drops what is remembered of the mount.
    pub(crate) fn forget_memory(&self, mount: &Mount) {
        self.memory.forget(&mount.id);
    }

    /// Runs `work` with Google as the mount sees it.
    pub(crate) fn with_google<T>(
        &self,
        mount: &Mount,
        memory: &MountMemory,
        deadline: Deadline,
        work: impl FnOnce(&Google<'_, H, C, R>) -> T,
    ) -> T {
        let credentials = || self.credentials_in_force(mount, &memory.config);
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

    /// Where the mount's access tokens come from (contract 2.6).
    fn credentials_in_force(
        &self,
        mount: &Mount,
        config: &ConfigRecord,
    ) -> Result<Source, ApiError> {
        match config.credentials_source() {
            CredentialsSource::Static => {
                let stored = self.records.get(&record_keys::credentials(mount));
                let stored = stored.map_err(|error| ApiError::Storage(error.into()))?;
                let stored = stored.ok_or(CredentialsFailure::NotFound)?;
                Ok(Source::Key(stored.record))
            }
            CredentialsSource::Federation => {
                let audience = config.identity_token_audience.clone();
                let lifetime = config.identity_token_lifetime();
                let identity_token = match self.identity_token(mount, &audience, lifetime) {
                    Ok(token) => token,
                    Err(IdentityTokenError::Storage(error)) => {
                        return Err(ApiError::Storage(error));
                    }
                    Err(_) => return Err(CredentialsFailure::NoIdentityToken.into()),
                };
                Ok(Source::Federation(Federation {
                    identity_token,
                    audience,
                    service_account_email: config.service_account_email.clone(),
                    lifetime,
                }))
            }
            CredentialsSource::ApplicationDefault => Ok(Source::ApplicationDefault),
        }
    }

    fn stored_config(&self, mount: &Mount) -> Result<ConfigRecord, StorageError> {
        let stored = self.records.get(&record_keys::config(mount))?;
        Ok(stored.map(|loaded| loaded.record).unwrap_or_default())
    }

    fn try_write_config(
        &self,
        mount: &Mount,
        changes: &ConfigChanges,
        can_federate: &mut bool,
    ) -> Result<Attempt<Vec<ConfigWarning>>, ConfigError> {
        let key = record_keys::config(mount);
        let stored = self.records.get::<ConfigRecord>(&key)?;
        let version = stored.as_ref().map(|loaded| loaded.version);
        let record = stored.map(|loaded| loaded.record).unwrap_or_default();
        let Applied {
            record,
            credentials,
            warnings,
        } = config::apply(record, changes, &self.settings, self.now())?;
        if config::sets_audience(changes) && !*can_federate {
            let lifetime = record.identity_token_lifetime();
            match self.identity_token(mount, &record.identity_token_audience, lifetime) {
                Ok(_) => {}
                Err(IdentityTokenError::Storage(error)) => return Err(error.into()),
                Err(error) => return Err(error.into()),
            }
            *can_federate = true;
        }
        let mut transaction = Transaction::new();
        transaction.require_unchanged(key.as_str(), version);
        transaction.put(key, &record)?;
        match credentials {
            CredentialsChange::Keep => {}
            CredentialsChange::Remove => {
                transaction.delete(record_keys::credentials(mount));
                transaction.delete(record_keys::rotation(mount));
            }
            CredentialsChange::Replace(secret) => {
                transaction.put(record_keys::credentials(mount), &secret)?;
                // What is left of a rotation was about another key.
                transaction.delete(record_keys::rotation(mount));
            }
        }
        Ok(Attempt::from_commit(
            self.records.commit(transaction),
            warnings,
        )?)
    }

    /// Deletes what is below `prefix`, `at_once` records in a commit, and fails when `commits` have been enough for one call.
    fn delete_below(
        &self,
        prefix: &str,
        at_once: u32,
        commits: &mut u32,
    ) -> Result<(), StorageError> {
        loop {
            let page = self.records.store().scan(prefix, None, at_once)?;
            if page.items.is_empty() {
                return Ok(());
            }
            if *commits >= FORGETTING_COMMITS {
                let why = "a mount that is gone had more records than one call deletes; the next call goes on";
                return Err(StoreError::Unavailable(why.to_owned()).into());
            }
            self.delete(page.items.into_iter().map(|item| item.key))?;
            *commits += 1;
            if !page.more {
                return Ok(());
            }
        }
    }

    pub(crate) fn delete(
        &self,
        keys: impl IntoIterator<Item = String>,
    ) -> Result<(), StorageError> {
        let mut transaction = Transaction::new();
        for key in keys {
            transaction.delete(key);
        }
        self.commit_unchecked(transaction)
    }

    /// Commits what depends on nothing that was read.
    pub(crate) fn commit_unchecked(&self, transaction: Transaction) -> Result<(), StorageError> {
        match self.records.commit(transaction) {
            Ok(()) => Ok(()),
            Err(TransactionError::Storage(error)) => Err(error.into()),
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
        let changes = Zeroizing::new(changes);
        let mut can_federate = false;
        let warnings = commit_with_retries(&self.clock, &self.random, || {
            self.try_write_config(mount, &changes, &mut can_federate)
        })?;
        self.memory.forget(&mount.id);
        Ok(warnings)
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        self.rotate(mount)
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        self.rotate_when_due(mount)
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        self.check_credentials(mount, projects)
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.delete([
            record_keys::config(mount),
            record_keys::credentials(mount),
            record_keys::rotation(mount),
        ])?;
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
        self.issuer_set()
    }

    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError> {
        self.set_issuer(issuer)
    }

    fn issuer(&self) -> Result<String, IdentityTokenError> {
        self.issuer_in_force()
    }

    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError> {
        self.listed_keys()
    }

    fn maintain_keys(&self) -> Result<(), IdentityTokenError> {
        self.keep_keys()
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        self.memory.forget(mount_id);
        // Uses of tokens and names of roles are many and small; what else there is may be large.
        let mut commits = 0;
        for small in [
            record_keys::used_tokens(mount_id),
            record_keys::role_names(mount_id),
        ] {
            self.delete_below(&small, SMALL_AT_ONCE, &mut commits)?;
        }
        let everything = record_keys::everything(mount_id);
        self.delete_below(&everything, LARGE_AT_ONCE, &mut commits)
    }
}
