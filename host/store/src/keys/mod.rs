//! The data keys of an open store: what they have sealed, when a new one is due, and sealing anew what an earlier one has sealed (SEC-K4).
//!
//! **How many records one key may seal**: nonces are random and have 192 bits, of which half derives a key of its own for each message,
//! so one key is good for 2^80 messages. All the same it is replaced after [`MOST_OPERATIONS`] records, fewer than the
//! 2^32 that a key with random 96-bit nonces may seal: a bound that holds for either, and that the clients of the protocol know. The count
//! is stored at every call of [`SealedBackend::tend_keys`]; a crash loses what was sealed since.
//!
//! **When a key is dropped**: once a whole pass over the store found nothing that it has sealed. The pass begins only when no commit is on
//! its way any more that was sealed before the rotation. A record that does not open stops the pass: no key is dropped then. A commit of
//! another host that was sealed before is refused, since the keyring is another one by then; the host follows and seals it anew. Hosts may
//! work on one pass at the same time: each continues where the stored record says.

mod record;
mod reencryption;
mod rotation_policy;

pub use rotation_policy::RotationPolicy;

use std::sync::atomic::Ordering;

use gatehouse_barrier::{Barrier, Keyring, RootKey, Term};
use gatehouse_ports::{Change, Check, CommitError, OsRandom, Requirement, StoreError, Version};

use crate::generation::GenerationRecord;
use crate::layout::{GENERATION_KEY, KEYS_KEY, SEAL_KEY, put, unsealable};
use crate::sealed::{Beside, KEYRING_ATTEMPTS, Opened};
use crate::shares::SealRecord;
use crate::{Backend, Guard, Namespace, SealedBackend, UnsealError};
use record::{KeyRecord, Pass};

/// The key that seals what is written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyStatus {
    /// Its number.
    pub term: Term,
    /// Milliseconds since 1970 at which it was made; of a store that is older than this record, at which it was first looked at.
    pub installed_at: u64,
    /// How many records it has sealed, as far as that was counted.
    pub encryptions: u64,
}

/// The result of a call of [`SealedBackend::tend_keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tended {
    /// The key that was added because one was due.
    pub rotated: Option<Term>,
    /// How many records were sealed anew.
    pub resealed: u32,
    /// True if the keys of earlier terms were dropped.
    pub retired: bool,
    /// A record does not open, so that the keys of earlier terms stay.
    pub blocked: bool,
    /// There is more to be sealed anew.
    pub more: bool,
}

impl<B: Backend> SealedBackend<B> {
    /// The key that seals what is written now.
    ///
    /// # Errors
    ///
    /// When the store is sealed or does not answer.
    pub async fn key_status(&self) -> Result<KeyStatus, UnsealError> {
        let (opened, record, _) = self.current_record().await?;
        let uncounted = self.encryptions.load(Ordering::Relaxed);
        Ok(KeyStatus {
            term: opened.barrier.active_term(),
            installed_at: record.installed_at,
            encryptions: record.encryptions.saturating_add(uncounted),
        })
    }

    /// When a key is replaced without a request for it.
    ///
    /// # Errors
    ///
    /// When the store is sealed or does not answer.
    pub async fn rotation_policy(&self) -> Result<RotationPolicy, UnsealError> {
        let (_, record, _) = self.current_record().await?;
        Ok(record.policy)
    }

    /// Stores another policy. One that is not [usable](RotationPolicy::is_usable) is refused, and nothing is stored.
    ///
    /// # Errors
    ///
    /// When the store is sealed or does not answer, and for a policy that is not usable.
    pub async fn set_rotation_policy(&self, policy: RotationPolicy) -> Result<(), UnsealError> {
        if !policy.is_usable() {
            let text = "the rotation policy is out of its bounds".to_owned();
            return Err(StoreError::Invalid(text).into());
        }
        let _working = self.key_work.lock().await;
        let (opened, mut record, version) = self.current_record().await?;
        record.policy = policy;
        self.store_key_record(&opened, &record, version).await
    }

    /// Adds a data key to an open store, which seals every record written from now on; older records stay readable (SEC-K4). Other calls continue
    /// meanwhile. A store that is sealed meanwhile stays sealed, and has the key once it is opened again.
    ///
    /// # Errors
    ///
    /// When the store is sealed, the keyring holds too many earlier keys, or the backend fails. Nothing has changed then.
    pub async fn rotate_key(&self) -> Result<Term, UnsealError> {
        let _working = self.key_work.lock().await;
        let opened = self.current().await?;
        let root_key = self.held_root_key()?;
        self.rotate_alone(&opened, &root_key, None).await
    }

    /// Does the work on the keys that is due: stores how many records the active key has sealed, adds a key if the policy says so, and seals
    /// anew a bounded number of records that an earlier key has sealed. To be called every minute or so, and again soon while there is more.
    /// Continues after a restart where it was. On a sealed store nothing is due.
    ///
    /// # Errors
    ///
    /// When the backend fails. The next call does what was due. A conflict with another host is no error: [`Tended::more`] is true then.
    pub async fn tend_keys(&self) -> Result<Tended, UnsealError> {
        let _working = self.key_work.lock().await;
        if self.is_sealed() {
            return Ok(Tended::default());
        }
        let opened = self.current().await?;
        let tended = self.tend_alone(&opened).await;
        let is_behind = match &tended {
            Err(UnsealError::Contended) => true,
            Err(_) => self.follow(&opened).await?,
            Ok(_) => false,
        };
        if is_behind && opened.follows() {
            return Ok(Tended {
                more: true,
                ..Tended::default()
            });
        }
        tended
    }

    async fn tend_alone(&self, opened: &Opened) -> Result<Tended, UnsealError> {
        let barrier = &opened.barrier;
        let root_key = self.held_root_key()?;
        let (mut record, version) = self.key_record(barrier).await?;
        let before = record.clone();
        let sealed = self.encryptions.load(Ordering::Relaxed);
        record.encryptions = record.encryptions.saturating_add(sealed);
        if record.is_rotation_due(self.clock.now_milliseconds()) {
            let after = Some(barrier.active_term());
            return Ok(Tended {
                rotated: Some(self.rotate_alone(opened, &root_key, after).await?),
                more: true,
                ..Tended::default()
            });
        }
        let mut tended = Tended::default();
        if barrier.has_earlier_terms() && record.pass != Pass::Blocked {
            self.reseal_some(opened, &mut record, &mut tended).await?;
            if record.pass == Pass::Ended {
                record.pass = Pass::Idle;
                self.retire_earlier(opened, &root_key, &record).await?;
                self.forget_encryptions(sealed);
                tended.retired = true;
                return Ok(tended);
            }
        }
        if version.is_none() || record != before {
            self.store_key_record(opened, &record, version).await?;
            self.forget_encryptions(sealed);
        }
        Ok(tended)
    }

    /// The change that stores the key record beside a new keyring.
    pub(crate) fn first_key_record(&self, keyring: &Keyring) -> Result<Change, UnsealError> {
        let record = KeyRecord::new(self.clock.now_milliseconds());
        record.sealed(&Barrier::new(keyring)).map_err(Into::into)
    }

    /// The open store, as other hosts have left its keyring.
    pub(crate) async fn current(&self) -> Result<Opened, StoreError> {
        self.follow_others().await?;
        self.opened()
    }

    /// The open store and the record of its active key, as other hosts have left them.
    async fn current_record(&self) -> Result<(Opened, KeyRecord, Option<Version>), StoreError> {
        let mut attempts = 1..KEYRING_ATTEMPTS;
        loop {
            let opened = self.current().await?;
            match self.key_record(&opened.barrier).await {
                Ok((record, version)) => return Ok((opened, record, version)),
                Err(_) if attempts.next().is_some() && self.follow(&opened).await? => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds a data key to the store that is open as `opened`; if `after` is given, only to a keyring whose active key is still that one.
    async fn rotate_alone(
        &self,
        opened: &Opened,
        root_key: &RootKey,
        after: Option<Term>,
    ) -> Result<Term, UnsealError> {
        for _ in 0..KEYRING_ATTEMPTS {
            let stored = self.load_keyring(root_key).await?;
            let (mut keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
            if after.is_some_and(|after| after != keyring.active_term()) {
                return Err(UnsealError::Contended);
            }
            let (term, beside) = match self.next_term(&mut keyring).await {
                Ok(made) => made,
                // The entries beside the keyring belong to another keyring by now.
                Err(_) if self.keyring_version().await? != Some(version) => continue,
                Err(error) => return Err(error),
            };
            let unchanged = Requirement::AtVersion(version);
            // Durable first: a record sealed by a key that a crash takes away would be lost.
            if self
                .store_keyring(&keyring, root_key, unchanged, beside)
                .await?
            {
                self.replace_changed(opened, &keyring, root_key).await;
                return Ok(term);
            }
        }
        Err(UnsealError::Contended)
    }

    /// Adds a data key to `keyring`, and answers what is to be stored beside it.
    async fn next_term(&self, keyring: &mut Keyring) -> Result<(Term, Beside), UnsealError> {
        let (mut record, _) = self.key_record(&Barrier::new(keyring)).await?;
        let term = keyring.rotate(&OsRandom)?;
        record.begin_term(self.clock.now_milliseconds());
        let beside = self.beside(keyring, &record).await?;
        Ok((term, beside))
    }

    /// Drops all keys but the active one of `opened`, by which all records are sealed.
    async fn retire_earlier(
        &self,
        opened: &Opened,
        root_key: &RootKey,
        record: &KeyRecord,
    ) -> Result<(), UnsealError> {
        let stored = self.load_keyring(root_key).await?;
        let (mut keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
        // The pass was for this key: another host may have added one since, and this one may know it already.
        if keyring.active_term() != opened.barrier.active_term() {
            return Err(UnsealError::Contended);
        }
        // Read with all keys, sealed by the active one.
        let beside = self.beside(&keyring, record).await?;
        keyring.retire_earlier();
        let unchanged = Requirement::AtVersion(version);
        if !self
            .store_keyring(&keyring, root_key, unchanged, beside)
            .await?
        {
            return Err(UnsealError::Contended);
        }
        self.replace_changed(opened, &keyring, root_key).await;
        Ok(())
    }

    /// The records beside the keyring, sealed by its active key.
    async fn beside(&self, keyring: &Keyring, record: &KeyRecord) -> Result<Beside, UnsealError> {
        let barrier = Barrier::new(keyring);
        let mut beside = Beside {
            checks: Vec::new(),
            changes: vec![record.sealed(&barrier)?],
        };
        let keys = [SEAL_KEY, GENERATION_KEY];
        let entries = self.backend().get(Namespace::Keyring, &keys).await?;
        for (key, entry) in keys.into_iter().zip(entries) {
            let Some(entry) = entry else { continue };
            let value = if key == SEAL_KEY {
                let record = SealRecord::read(&entry.value);
                let record = record.filter(|record| record.is_of(keyring));
                let sharing = record.ok_or(UnsealError::AlteredSeal)?.sharing;
                let record = SealRecord::new(keyring, sharing).map_err(unsealable)?;
                record.write()
            } else {
                let record = GenerationRecord::read(&entry.value);
                let record = record.filter(|record| record.is_of(&barrier));
                let generation = record.ok_or(UnsealError::AlteredSeal)?.generation;
                GenerationRecord::seal(&barrier, generation)?.write()
            };
            beside.checks.push(Check {
                key: key.to_owned(),
                requirement: Requirement::AtVersion(entry.version),
            });
            beside.changes.push(put(key, value));
        }
        Ok(beside)
    }

    /// The record of the active key, with the version of its entry; a store made before the record was kept has none.
    async fn key_record(
        &self,
        barrier: &Barrier,
    ) -> Result<(KeyRecord, Option<Version>), StoreError> {
        let entries = self.backend().get(Namespace::Keyring, &[KEYS_KEY]).await?;
        match entries.into_iter().next().flatten() {
            Some(entry) => {
                let record = KeyRecord::open(barrier, entry.value);
                let record = record.ok_or_else(|| StoreError::Corrupt(KEYS_KEY.to_owned()))?;
                Ok((record, Some(entry.version)))
            }
            None => Ok((KeyRecord::new(self.clock.now_milliseconds()), None)),
        }
    }

    async fn store_key_record(
        &self,
        opened: &Opened,
        record: &KeyRecord,
        version: Option<Version>,
    ) -> Result<(), UnsealError> {
        let check = Check {
            key: KEYS_KEY.to_owned(),
            requirement: version.map_or(Requirement::Absent, Requirement::AtVersion),
        };
        let change = record.sealed(&opened.barrier)?;
        let mut checks = vec![check];
        checks.extend(opened.guard.as_ref().map(Guard::check));
        let commit = self
            .backend()
            .commit(Namespace::Keyring, checks, vec![change]);
        match commit.await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(_)) => Err(UnsealError::Contended),
            Err(CommitError::Failed(error)) => Err(error.into()),
        }
    }
}
