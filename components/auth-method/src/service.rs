//! The capability over its ports.

use std::sync::Arc;

use gatehouse_ports::{Cache, Clock, Entry, Http, Random, Store};
use gatehouse_storage::{Records, Transaction, TransactionError};

use crate::config::ConfigRecord;
use crate::google::{
    ApiError, Deadline, Federation, Google, Memory, MountMemory, RetryBudget, Settings, Source,
};
use crate::{
    CredentialsError, CredentialsSource, IdentityTokenError, Mount, Role, RoleName, StorageError,
    record_keys,
};

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
    pub(crate) fn forget_memory(&self, mount_id: &str) {
        self.memory.forget(mount_id);
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
                let stored = stored.ok_or(CredentialsError::NotFound)?;
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
                    Err(_) => return Err(CredentialsError::NoIdentityToken.into()),
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
