//! Claims on a rotation, and changes of its record by the holder of the claim alone.

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{Attempt, Records, Transaction, commit_with_retries};

use super::record::{Claim, RotationRecord};
use crate::config::ConfigRecord;
use crate::service::AuthMethodService;
use crate::{Mount, RotationError, record_keys};

/// Milliseconds that a claim lasts: longer than the time limits of all steps together, with something to spare.
const CLAIM_DURATION: u64 = 60_000;

/// The outcome of an attempt to claim a rotation.
pub(super) enum Claimed {
    Granted(Claim),
    Busy,
    NoCredentials,
    NotDue,
}

/// True if a record is still under this claim.
pub(super) fn holds(rotation: &RotationRecord, claim: Claim) -> bool {
    rotation.claim.is_some_and(|it| it.number == claim.number)
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// Claims the rotation, if `wanted` says that there is something to do.
    pub(super) fn claim_rotation(
        &self,
        mount: &Mount,
        wanted: impl Fn(&ConfigRecord, &RotationRecord) -> bool,
    ) -> Result<Claimed, RotationError> {
        let (config_key, rotation_key) = (record_keys::config(mount), record_keys::rotation(mount));
        commit_with_retries(self.clock(), self.random(), || {
            let [config, rotation] = self.records().entries([&config_key, &rotation_key])?;
            let config = Records::<S>::load::<ConfigRecord>(config)?;
            let Some(config) = config.filter(|config| config.record.credentials.is_some()) else {
                return Ok(Attempt::Done(Claimed::NoCredentials));
            };
            let rotation = Records::<S>::load::<RotationRecord>(rotation)?;
            let version = rotation.as_ref().map(|loaded| loaded.version);
            let mut rotation = rotation.map(|loaded| loaded.record).unwrap_or_default();
            let now = self.clock().now_milliseconds();
            if rotation.is_claimed(now) {
                return Ok(Attempt::Done(Claimed::Busy));
            }
            if !wanted(&config.record, &rotation) {
                return Ok(Attempt::Done(Claimed::NotDue));
            }
            let claim = rotation.claim(now, CLAIM_DURATION);
            let mut transaction = Transaction::new();
            transaction.require(config_key.as_str(), config.version);
            transaction.require_unchanged(rotation_key.as_str(), version);
            transaction.put(rotation_key.as_str(), &rotation)?;
            Ok(Attempt::from_commit(
                self.records().commit(transaction),
                Claimed::Granted(claim),
            )?)
        })
    }

    /// Configuration and rotation as they are now, if the claim still holds.
    pub(super) fn claimed_records(
        &self,
        mount: &Mount,
        claim: Claim,
    ) -> Result<(ConfigRecord, RotationRecord), RotationError> {
        let (config_key, rotation_key) = (record_keys::config(mount), record_keys::rotation(mount));
        let [config, rotation] = self.records().entries([&config_key, &rotation_key])?;
        let config = Records::<S>::load::<ConfigRecord>(config)?;
        let rotation = Records::<S>::load::<RotationRecord>(rotation)?;
        match (config, rotation) {
            (Some(config), Some(rotation)) if holds(&rotation.record, claim) => {
                Ok((config.record, rotation.record))
            }
            _ => Err(RotationError::ConfigurationChanged),
        }
    }

    /// Changes the record of a rotation, if the claim still holds.
    pub(super) fn advance(
        &self,
        mount: &Mount,
        claim: Claim,
        change: impl Fn(&mut RotationRecord),
    ) -> Result<(), RotationError> {
        self.replace(mount, claim, |mut rotation| {
            change(&mut rotation);
            Some(rotation)
        })
    }

    /// Deletes the record of a rotation that has nothing left to do.
    pub(super) fn end(&self, mount: &Mount, claim: Claim) -> Result<(), RotationError> {
        self.replace(mount, claim, |_| None)
    }

    fn replace(
        &self,
        mount: &Mount,
        claim: Claim,
        change: impl Fn(RotationRecord) -> Option<RotationRecord>,
    ) -> Result<(), RotationError> {
        let key = record_keys::rotation(mount);
        commit_with_retries(self.clock(), self.random(), || {
            let stored = self.records().get::<RotationRecord>(&key)?;
            let stored = stored.filter(|stored| holds(&stored.record, claim));
            let stored = stored.ok_or(RotationError::ConfigurationChanged)?;
            let mut transaction = Transaction::new();
            transaction.require(key.as_str(), stored.version);
            match change(stored.record) {
                Some(record) => {
                    transaction.put(key.as_str(), &record)?;
                }
                None => {
                    transaction.delete(key.as_str());
                }
            }
            Ok(Attempt::from_commit(
                self.records().commit(transaction),
                (),
            )?)
        })
    }
}
