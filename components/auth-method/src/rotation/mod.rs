//! Replacing the stored key of a mount by a new one of the same service account (contract 2.6; register D22).
//!
//! A rotation goes through the stages of a record: a key is made at Google, once; it is proved to work; it replaces the old one in a
//! single commit; the old one is deleted at Google. An instance that finds the record halfway continues from there. An instance works
//! under a claim that expires, so that a crash holds up no other instance for long.

mod claim;
mod record;
mod schedule;

pub(crate) use schedule::Schedule;

use gatehouse_ports::{Cache, Clock, Http, Random, Store};
use gatehouse_storage::{Attempt, Records, Transaction, commit_with_retries};

use self::claim::{Claimed, holds};
use self::record::{Claim, NewKey, RotationRecord, Stage};
use crate::config::{ConfigRecord, CredentialsIdentity, read_key_file};
use crate::google::{ApiError, CallError, Deadline, Google, ProofError};
use crate::jwt::{Subject, is_project};
use crate::service::AuthMethodService;
use crate::{
    CredentialsError, Mount, Rotated, RotationError, RotationSettings, StorageError, record_keys,
};

/// Seconds after which a new key that Google still does not accept is given up.
const GIVEN_UP_AFTER: u64 = 3600;
/// Longest name of a key, in bytes.
const MAXIMUM_KEY_ID_BYTES: usize = 128;

/// Rotates now, or continues a rotation that was interrupted.
pub(crate) fn rotate_root<S: Store, M: Cache, H: Http, C: Clock, R: Random>(
    service: &AuthMethodService<S, M, H, C, R>,
    mount: &Mount,
) -> Result<Rotated, RotationError> {
    match service.claim_rotation(mount, |_, _| true)? {
        Claimed::Granted(claim) => service.rotate_under(mount, claim),
        Claimed::Busy => Err(RotationError::Busy),
        Claimed::NoCredentials | Claimed::NotDue => Err(RotationError::NoStoredCredentials),
    }
}

/// Rotates if a rotation is due, or continues one that was interrupted.
pub(crate) fn rotate_if_due<S: Store, M: Cache, H: Http, C: Clock, R: Random>(
    service: &AuthMethodService<S, M, H, C, R>,
    mount: &Mount,
) -> Result<Option<Rotated>, RotationError> {
    let now = service.now();
    match service.claim_rotation(mount, |config, rotation| is_due(config, rotation, now))? {
        Claimed::Granted(claim) => service.rotate_under(mount, claim).map(Some),
        Claimed::Busy | Claimed::NoCredentials | Claimed::NotDue => Ok(None),
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    fn rotate_under(&self, mount: &Mount, claim: Claim) -> Result<Rotated, RotationError> {
        let outcome = self.go_through_stages(mount, claim);
        if outcome.is_err() {
            let now = self.now();
            // The caller gets the failure itself; if the claim cannot be released, it expires.
            let _ = self.advance(mount, claim, |rotation| rotation.fail(now));
        }
        outcome
    }

    fn go_through_stages(&self, mount: &Mount, claim: Claim) -> Result<Rotated, RotationError> {
        let (config, rotation) = self.claimed_records(mount, claim)?;
        let in_use = config
            .credentials
            .ok_or(RotationError::NoStoredCredentials)?;
        let deadline = self.deadline();
        let replaced = match rotation.stage {
            Stage::Switched { replaced } => replaced,
            Stage::Made(new) if new.replaces == in_use.private_key_id => {
                self.use_key(mount, claim, &new, deadline)?
            }
            Stage::Made(_) | Stage::Idle => {
                let new = self.make_key(mount, claim, &in_use, deadline)?;
                self.use_key(mount, claim, &new, deadline)?
            }
        };
        self.retire_key(mount, claim, replaced)
    }

    /// Has Google make a key, and stores it before anything else happens.
    fn make_key(
        &self,
        mount: &Mount,
        claim: Claim,
        in_use: &CredentialsIdentity,
        deadline: Deadline,
    ) -> Result<NewKey, RotationError> {
        let email = &in_use.client_email;
        let is_email = Subject::new(email).is_some_and(|subject| subject.is_email());
        if !is_email {
            return Err(CredentialsError::Unusable.into());
        }
        self.with_mount(mount, deadline, |google| {
            let file = google.create_key(email)?;
            let file = std::str::from_utf8(&file).map_err(|_| RotationError::AnswerUnreadable)?;
            let (identity, secret) =
                read_key_file(file).map_err(|_| RotationError::AnswerUnreadable)?;
            let is_another = identity.private_key_id != in_use.private_key_id;
            if identity.client_email != *email
                || !is_another
                || !is_key_id(&identity.private_key_id)
            {
                return Err(RotationError::AnswerUnreadable);
            }
            let new = NewKey {
                replaces: in_use.private_key_id.clone(),
                made_at: google.now(),
                identity,
                secret,
            };
            let stored = self.advance(mount, claim, |rotation| {
                rotation.stage = Stage::Made(Box::new(new.clone()));
            });
            if stored.is_err() {
                self.discard(mount, &new, google);
            }
            stored.map(|()| new)
        })
    }

    /// Proves that a key works, and puts it in the place of the one in use, whose name it returns.
    fn use_key(
        &self,
        mount: &Mount,
        claim: Claim,
        new: &NewKey,
        deadline: Deadline,
    ) -> Result<String, RotationError> {
        self.with_mount(mount, deadline, |google| {
            let outcome = match google.prove_key(&new.secret) {
                Ok(()) => self.switch(mount, claim, new),
                Err(ProofError::Failed(error)) => Err(error.into()),
                Err(ProofError::NotYetAccepted) => {
                    let key_id = new.identity.private_key_id.clone();
                    if google.now().saturating_sub(new.made_at) >= GIVEN_UP_AFTER {
                        self.advance(mount, claim, |rotation| rotation.stage = Stage::Idle)?;
                    }
                    Err(RotationError::NotYetAccepted(key_id))
                }
            };
            if outcome.is_err() {
                self.discard(mount, new, google);
            }
            outcome
        })?;
        Ok(new.replaces.clone())
    }

    /// Deletes a new key at Google if it is abandoned. A failure is ignored, since nothing more can be done about it.
    fn discard(&self, mount: &Mount, new: &NewKey, google: &Google<'_, H, C, R>) {
        let key_id = &new.identity.private_key_id;
        if self.is_abandoned(mount, key_id).unwrap_or(false) {
            let _ = delete_key(google, &new.identity, key_id);
        }
    }

    /// True if a new key is neither in use nor waiting to be. An abandoned key stays abandoned.
    fn is_abandoned(&self, mount: &Mount, key_id: &str) -> Result<bool, StorageError> {
        let (config_key, rotation_key) = (record_keys::config(mount), record_keys::rotation(mount));
        let [config, rotation] = self.records().entries([&config_key, &rotation_key])?;
        let config = Records::<S>::load::<ConfigRecord>(config)?;
        let rotation = Records::<S>::load::<RotationRecord>(rotation)?;
        let in_use = config.and_then(|config| config.record.credentials);
        let is_in_use = in_use.is_some_and(|key| key.private_key_id == key_id);
        let is_made = rotation.is_some_and(|rotation| match rotation.record.stage {
            Stage::Made(new) => new.identity.private_key_id == key_id,
            Stage::Idle | Stage::Switched { .. } => false,
        });
        Ok(!is_in_use && !is_made)
    }

    /// Puts the new key in use: configuration, private key and stage change together, or not at all.
    fn switch(&self, mount: &Mount, claim: Claim, new: &NewKey) -> Result<(), RotationError> {
        let (config_key, rotation_key) = (record_keys::config(mount), record_keys::rotation(mount));
        commit_with_retries(self.clock(), self.random(), || {
            let [config, rotation] = self.records().entries([&config_key, &rotation_key])?;
            let config = Records::<S>::load::<ConfigRecord>(config)?;
            let rotation = Records::<S>::load::<RotationRecord>(rotation)?;
            let (Some(mut config), Some(mut rotation)) = (config, rotation) else {
                return Err(RotationError::ConfigurationChanged);
            };
            let in_use = config.record.credentials.take();
            let in_use = in_use.filter(|it| it.private_key_id == new.replaces);
            let in_use = in_use.ok_or(RotationError::ConfigurationChanged)?;
            if !holds(&rotation.record, claim) {
                return Err(RotationError::ConfigurationChanged);
            }
            config.record.credentials = Some(CredentialsIdentity {
                private_key_id: new.identity.private_key_id.clone(),
                since: self.now(),
                ..in_use
            });
            rotation.record.stage = Stage::Switched {
                replaced: new.replaces.clone(),
            };
            let mut transaction = Transaction::new();
            transaction.require(config_key.as_str(), config.version);
            transaction.require(rotation_key.as_str(), rotation.version);
            transaction.put(config_key.as_str(), &config.record)?;
            transaction.put(record_keys::credentials(mount), &new.secret)?;
            transaction.put(rotation_key.as_str(), &rotation.record)?;
            Ok(Attempt::from_commit(
                self.records().commit(transaction),
                (),
            )?)
        })?;
        self.forget_memory(&mount.id);
        Ok(())
    }

    /// Deletes the key that is not in use any more. One that Google keeps is reported, and the rotation has succeeded.
    fn retire_key(
        &self,
        mount: &Mount,
        claim: Claim,
        replaced: String,
    ) -> Result<Rotated, RotationError> {
        let (config, _) = self.claimed_records(mount, claim)?;
        let in_use = config
            .credentials
            .ok_or(RotationError::ConfigurationChanged)?;
        // The deletion has a deadline of its own: the wait for the new key may have used up that of the earlier steps.
        let deleted = self.with_mount(mount, self.deadline(), |google| {
            Ok(delete_key(google, &in_use, &replaced))
        })?;
        self.end(mount, claim)?;
        Ok(Rotated {
            private_key_id: in_use.private_key_id,
            key_left_behind: deleted.is_err().then_some(replaced),
        })
    }

    fn with_mount<T>(
        &self,
        mount: &Mount,
        deadline: Deadline,
        work: impl FnOnce(&Google<'_, H, C, R>) -> Result<T, RotationError>,
    ) -> Result<T, RotationError> {
        let memory = self.mount_memory(mount)?;
        self.with_google(mount, &memory, deadline, work)
    }
}

/// The time of the next rotation by the settings, in seconds since 1970; in the past where one is due. For a window it is the beginning, also
/// once the window has passed without a rotation.
pub(crate) fn due_at(config: &ConfigRecord) -> Option<u64> {
    let settings = &config.rotation;
    let since = counts_from(config, config.credentials.as_ref()?);
    match settings.period {
        _ if settings.disabled => None,
        0 => Schedule::parse(&settings.schedule).ok()?.first_after(since),
        period => Some(since.saturating_add(period)),
    }
}

/// The time from which schedule and period count, for this key.
fn counts_from(config: &ConfigRecord, key: &CredentialsIdentity) -> u64 {
    key.since.max(config.rotation_since)
}

/// True when the settings ask for a rotation at `now`, seconds since 1970, or one was left halfway, and no backoff is in force.
fn is_due(config: &ConfigRecord, rotation: &RotationRecord, now: u64) -> bool {
    if now < rotation.retry_at {
        return false;
    }
    if !matches!(rotation.stage, Stage::Idle) {
        return true;
    }
    let since = config
        .credentials
        .as_ref()
        .map_or(now, |key| counts_from(config, key));
    !config.rotation.disabled && is_time(&config.rotation, since, now)
}

/// True if the period or the schedule, counted from `since`, asks for a rotation at `now`.
fn is_time(settings: &RotationSettings, since: u64, now: u64) -> bool {
    if settings.period > 0 {
        return now >= since.saturating_add(settings.period);
    }
    let schedule = Schedule::parse(&settings.schedule).ok();
    schedule
        .and_then(|schedule| schedule.latest(now))
        .is_some_and(|scheduled| {
            let is_in_window =
                settings.window == 0 || now < scheduled.saturating_add(settings.window);
            scheduled > since && is_in_window
        })
}

fn delete_key<H: Http, C: Clock, R: Random>(
    google: &Google<'_, H, C, R>,
    account: &CredentialsIdentity,
    key_id: &str,
) -> Result<(), RotationError> {
    if !is_key_id(key_id) {
        return Err(RotationError::AnswerUnreadable);
    }
    let project = if is_project(&account.project_id) {
        &account.project_id
    } else {
        "-"
    };
    Ok(google.delete_key(project, &account.client_email, key_id)?)
}

/// True if a name can be a part of a URL. Google's are hexadecimal; a stored one may be an operator's.
fn is_key_id(key_id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=MAXIMUM_KEY_ID_BYTES).contains(&key_id.len()) && key_id.bytes().all(plain)
}

impl From<ApiError> for RotationError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused(refusal) => Self::Refused(refusal),
            ApiError::Credentials(failure) => Self::Credentials(failure),
            ApiError::Call(CallError::Denied(api)) => Self::EndpointDenied(api.name().into()),
            ApiError::Call(CallError::Unusable(_)) => Self::AnswerUnreadable,
            ApiError::Call(CallError::Unavailable(api)) => {
                Self::GoogleUnavailable(api.name().into())
            }
            ApiError::Storage(error) => Self::Storage(error),
        }
    }
}
