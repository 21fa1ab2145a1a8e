//! The configuration of mounts in the store, and the functions of the interface `config` (contract 2).

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};
use zeroize::Zeroizing;

use super::changes::{Applied, CredentialsChange, apply, sets_audience};
use super::{ConfigRecord, check};
use crate::service::AuthMethodService;
use crate::{
    Config, ConfigChanges, ConfigError, ConfigView, ConfigWarning, CredentialsReport,
    IdentityTokenError, Mount, Rotated, RotationError, StorageError, forgetting, record_keys,
    rotation,
};

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> Config for AuthMethodService<S, M, H, C, R> {
    fn read_config(&self, mount: &Mount) -> Result<ConfigView, StorageError> {
        let key = record_keys::config(mount);
        let stored = self.records().get::<ConfigRecord>(&key)?;
        Ok(stored
            .map(|loaded| loaded.record)
            .unwrap_or_default()
            .view())
    }

    fn write_config(
        &self,
        mount: &Mount,
        changes: ConfigChanges,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        let changes = Zeroizing::new(changes);
        let mut can_federate = false;
        let warnings = commit_with_retries(self.clock(), self.random(), || {
            self.try_write_config(mount, &changes, &mut can_federate)
        })?;
        self.forget_memory(&mount.id);
        Ok(warnings)
    }

    fn delete_config(&self, mount: &Mount) -> Result<(), StorageError> {
        self.delete([
            record_keys::config(mount),
            record_keys::credentials(mount),
            record_keys::rotation(mount),
        ])?;
        self.forget_memory(&mount.id);
        Ok(())
    }

    fn rotate_root(&self, mount: &Mount) -> Result<Rotated, RotationError> {
        rotation::rotate_root(self, mount)
    }

    fn rotate_if_due(&self, mount: &Mount) -> Result<Option<Rotated>, RotationError> {
        rotation::rotate_if_due(self, mount)
    }

    fn next_rotation(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        let config = self.records().get(&record_keys::config(mount))?;
        Ok(config.and_then(|config| rotation::due_at(&config.record)))
    }

    fn check_config(
        &self,
        mount: &Mount,
        projects: &[String],
    ) -> Result<CredentialsReport, StorageError> {
        check::check_config(self, mount, projects)
    }

    fn google_keys_fetched_at(&self, mount: &Mount) -> Result<Option<u64>, StorageError> {
        let memory = self.mount_memory(mount)?;
        let deadline = self.deadline();
        Ok(self.with_google(mount, &memory, deadline, |google| google.keys_fetched_at()))
    }

    fn forget_mount(&self, mount_id: &str) -> Result<(), StorageError> {
        forgetting::forget_mount(self, mount_id)
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    fn try_write_config(
        &self,
        mount: &Mount,
        changes: &ConfigChanges,
        can_federate: &mut bool,
    ) -> Result<Attempt<Vec<ConfigWarning>>, ConfigError> {
        let key = record_keys::config(mount);
        let stored = self.records().get::<ConfigRecord>(&key)?;
        let version = stored.as_ref().map(|loaded| loaded.version);
        let record = stored.map(|loaded| loaded.record).unwrap_or_default();
        let Applied {
            record,
            credentials,
            warnings,
        } = apply(record, changes, self.settings(), self.now())?;
        if sets_audience(changes) && !*can_federate {
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
                // A rotation that is left halfway was about another key.
                transaction.delete(record_keys::rotation(mount));
            }
        }
        Ok(Attempt::from_commit(
            self.records().commit(transaction),
            warnings,
        )?)
    }
}
