//! A backend behind the barrier: opening and sealing it, and the keyring that it is open by.

mod error;
mod records;

pub use error::UnsealError;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use gatehouse_barrier::{Address, Barrier, Keyring, RootKey, Sharing};
use gatehouse_ports::{
    Change, Check, CommitError, OsRandom, Put, Requirement, StoreError, Version,
};

use crate::backup::ensure_restored;
use crate::layout::{KEYRING_KEY, SEAL_KEY};
use crate::rules::SharedClock;
use crate::shares::SealRecord;
use crate::verified_versions::VerifiedVersions;
use crate::{Backend, Guard, Namespace, init_marker};

/// How often a change of the keyring is tried while other hosts change it too.
pub(crate) const KEYRING_ATTEMPTS: u32 = 8;

/// The state of the store that unsealing found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsealed {
    /// The store was empty; a new keyring was made and stored.
    Created,
    /// The keyring that was there opened.
    Opened,
}

/// An open store.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) barrier: Arc<Barrier>,
    /// The guard of all that is written: the mark while the first start is under way, and afterwards the keyring, where other hosts may
    /// change it.
    pub(crate) guard: Option<Guard>,
}

impl Opened {
    /// Tells whether other hosts may change the keyring.
    pub(crate) fn follows(&self) -> bool {
        let guard = self.guard.as_ref();
        guard.is_some_and(|guard| guard.key == KEYRING_KEY)
    }

    /// Tells whether this is the keyring that is stored at `version`.
    pub(crate) fn is_at(&self, version: Version) -> bool {
        let guard = self.guard.as_ref();
        guard.is_some_and(|guard| guard.version == version)
    }
}

/// The version of a keyring that was stored just now, until it is read: no entry has it.
pub(crate) const NOT_READ: Version = 0;

/// Seals what goes into a backend and opens what comes out (SEC-K1).
///
/// It starts sealed: every call is answered by [`StoreError::Sealed`] until [`Self::unseal`] succeeds. A record that does not
/// open is [`StoreError::Corrupt`] and fails the whole call, a scan's too. Expiry is enforced here a second time, from the sealed
/// copy of it, so that a backend that was tampered with cannot prolong a record's life.
///
/// A record that its reader holds is opened once for all readers, and then only compared: nothing of it is kept but that it opened.
///
/// While the store is open its root key is in memory beside the data keys, so that a data key can be added at any time; both are wiped
/// when it is sealed. Data keys that no record needs any more are dropped by [`Self::tend_keys`].
///
/// Several hosts may have one backend open that [is shared](Backend::is_shared). What one of them does to the keyring, the others take over
/// when they next write, or meet a record that needs it ([`Self::follow_others`]).
pub struct SealedBackend<B> {
    backend: B,
    pub(crate) clock: SharedClock,
    opened: RwLock<Option<Opened>>,
    /// The key that seals the keyring; there while the store is open. Changed only under the lock of `opened`, unless it is replaced by
    /// another.
    root_key: Mutex<Option<RootKey>>,
    /// Barriers that were replaced. What was sealed by one of them may still be on its way to the backend while it is in use.
    former: Mutex<Vec<Weak<Barrier>>>,
    /// How many records the active key has sealed since that was last stored.
    pub(crate) encryptions: AtomicU64,
    /// Held while the keyring, or what is stored about it, is changed.
    pub(crate) key_work: tokio::sync::Mutex<()>,
    /// Held while a keyring that another host has changed is taken over. Taken after `key_work` where both are.
    pub(crate) following: tokio::sync::Mutex<()>,
    verified: VerifiedVersions,
    /// How many orders to seal all hosts there were when the store began to be opened.
    pub(crate) opened_after: AtomicU64,
}

impl<B: Backend> SealedBackend<B> {
    /// `backend` behind a barrier that is still down. Records expire by `clock`.
    pub fn new(backend: B, clock: SharedClock) -> Self {
        Self {
            backend,
            clock,
            opened: RwLock::default(),
            root_key: Mutex::default(),
            former: Mutex::default(),
            encryptions: AtomicU64::default(),
            key_work: tokio::sync::Mutex::default(),
            following: tokio::sync::Mutex::default(),
            verified: VerifiedVersions::default(),
            opened_after: AtomicU64::default(),
        }
    }

    /// Tells whether the store is sealed.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.barrier().is_err()
    }

    /// Opens the keyring with `root_key`; in an empty store, makes one first (SEC-K2).
    ///
    /// # Errors
    ///
    /// When the keyring does not open, is missing, or opens with shares, or the backend fails. The store then is as sealed as before.
    pub async fn unseal(&self, root_key: &RootKey) -> Result<Unsealed, UnsealError> {
        init_marker::settle(&self.backend).await?;
        ensure_restored(&self.backend).await?;
        self.note_seal_orders().await?;
        let seal = self.backend.get(Namespace::Keyring, &[SEAL_KEY]).await?;
        if seal.into_iter().any(|entry| entry.is_some()) {
            return Err(UnsealError::SharesNeeded);
        }
        let mut unsealed = Unsealed::Opened;
        for _ in 0..KEYRING_ATTEMPTS {
            if let Some((keyring, version)) = self.load_keyring(root_key).await? {
                self.install(&keyring, root_key, version);
                return Ok(unsealed);
            }
            if !self.is_empty().await? {
                if self.has_keyring().await? {
                    // Another host has just made it.
                    continue;
                }
                return Err(UnsealError::KeyringMissing);
            }
            let keyring = Keyring::generate(&OsRandom)?;
            let beside = Beside {
                changes: vec![self.first_key_record(&keyring)?],
                ..Beside::default()
            };
            if self
                .store_keyring(&keyring, root_key, Requirement::Absent, beside)
                .await?
            {
                unsealed = Unsealed::Created;
            }
        }
        Err(UnsealError::Contended)
    }

    /// Opens the keyring that is there, and changes nothing in the backend: for who looks at a store that others use.
    ///
    /// # Errors
    ///
    /// When there is no keyring, `root_key` does not seal it, or the backend fails.
    pub async fn open_existing(&self, root_key: &RootKey) -> Result<(), UnsealError> {
        let stored = self.load_keyring(root_key).await?;
        let (keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
        self.install(&keyring, root_key, version);
        Ok(())
    }

    /// How the root key is split, by the word of the store, which is proven once it is open; `None` where it is not.
    ///
    /// # Errors
    ///
    /// When that word is of no known form, or the backend fails.
    pub async fn stored_sharing(&self) -> Result<Option<Sharing>, UnsealError> {
        let entries = self.backend.get(Namespace::Keyring, &[SEAL_KEY]).await?;
        let Some(entry) = entries.into_iter().next().flatten() else {
            return Ok(None);
        };
        let record = SealRecord::read(&entry.value);
        Ok(Some(record.ok_or(UnsealError::AlteredSeal)?.sharing))
    }

    /// Forgets all keys. Calls that are under way may still finish.
    pub fn seal(&self) {
        let mut installed = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        let former = installed.take();
        *self.root_key.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.note_former(former);
        drop(installed);
        self.verified.forget();
    }

    /// Seals the keyring by `replacement` from now on, instead of `current`.
    ///
    /// # Errors
    ///
    /// When `current` is not the key that seals the keyring, or the backend fails. Nothing has changed then.
    pub async fn change_root_key(
        &self,
        current: &RootKey,
        replacement: &RootKey,
    ) -> Result<(), UnsealError> {
        self.change_root_key_and(current, replacement, |_| Ok(Vec::new()))
            .await
    }

    /// The same, and stores what `beside` makes of the keyring in the same commit: both are there afterwards or neither.
    pub(crate) async fn change_root_key_and(
        &self,
        current: &RootKey,
        replacement: &RootKey,
        beside: impl Fn(&Keyring) -> Result<Vec<Change>, UnsealError>,
    ) -> Result<(), UnsealError> {
        let _working = self.key_work.lock().await;
        for _ in 0..KEYRING_ATTEMPTS {
            let stored = self.load_keyring(current).await?;
            let (keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
            let mut changes = beside(&keyring)?;
            if self.backend.is_shared() {
                changes.push(self.handover(&keyring, current, replacement)?);
            }
            let beside = Beside {
                changes,
                ..Beside::default()
            };
            let unchanged = Requirement::AtVersion(version);
            if self
                .store_keyring(&keyring, replacement, unchanged, beside)
                .await?
            {
                if self.hold(replacement) {
                    // One that fails is made up for by the next commit.
                    let _ = self.follow_others().await;
                }
                return Ok(());
            }
        }
        Err(UnsealError::Contended)
    }

    /// The backend below the barrier.
    pub(crate) const fn backend(&self) -> &B {
        &self.backend
    }

    pub(crate) async fn load_keyring(
        &self,
        root_key: &RootKey,
    ) -> Result<Option<(Keyring, Version)>, UnsealError> {
        let entries = self.backend.get(Namespace::Keyring, &[KEYRING_KEY]).await?;
        let Some(entry) = entries.into_iter().next().flatten() else {
            return Ok(None);
        };
        let keyring = Keyring::open(root_key, &entry.value)?;
        Ok(Some((keyring, entry.version)))
    }

    /// Stores the keyring and what belongs to it if `requirement` holds for the stored one, and the checks of `beside` do; says whether
    /// they did.
    pub(crate) async fn store_keyring(
        &self,
        keyring: &Keyring,
        root_key: &RootKey,
        requirement: Requirement,
        beside: Beside,
    ) -> Result<bool, UnsealError> {
        let key = KEYRING_KEY.to_owned();
        let Beside {
            mut checks,
            mut changes,
        } = beside;
        checks.push(Check { key, requirement });
        changes.push(Change::Put(Put {
            key: KEYRING_KEY.to_owned(),
            value: keyring.seal(root_key, &OsRandom)?,
            expires_at: None,
        }));
        let outcome = self
            .backend
            .commit(Namespace::Keyring, checks, changes)
            .await;
        match outcome {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Failed(error)) => Err(error.into()),
        }
    }

    pub(crate) async fn has_keyring(&self) -> Result<bool, StoreError> {
        Ok(self.keyring_version().await?.is_some())
    }

    /// The version of the stored keyring.
    pub(crate) async fn keyring_version(&self) -> Result<Option<Version>, StoreError> {
        let entries = self.backend.get(Namespace::Keyring, &[KEYRING_KEY]).await?;
        let keyring = entries.into_iter().next().flatten();
        Ok(keyring.map(|keyring| keyring.version))
    }

    /// Tells whether the backend holds nothing at all, so that neither a server has started over it nor a backup was restored into it.
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        for namespace in Namespace::ALL {
            let page = self.backend.scan(namespace, "", None, 1).await?;
            if !page.items.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the store by the keyring that is stored at `version`.
    pub(crate) fn install(&self, keyring: &Keyring, root_key: &RootKey, version: Version) {
        let guard = self.guard_at(version);
        self.install_under(guard, keyring, root_key);
    }

    /// Replaces the keyring of a store that was open as `seen` by the one that was stored just now. A store that was sealed meanwhile stays sealed.
    pub(crate) async fn replace_changed(
        &self,
        seen: &Opened,
        keyring: &Keyring,
        root_key: &RootKey,
    ) {
        self.replace(seen, keyring, root_key, NOT_READ);
        // One that fails is made up for by the next commit.
        let _ = self.follow_others().await;
    }

    /// Replaces the keyring of an open store by the one that is stored at `version`; says whether the store was still open with `seen`.
    pub(crate) fn replace(
        &self,
        seen: &Opened,
        keyring: &Keyring,
        root_key: &RootKey,
        version: Version,
    ) -> bool {
        let mut installed = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        match &*installed {
            Some(opened) if opened.guard == seen.guard => {}
            other => return other.is_some(),
        }
        self.hold(root_key);
        let next = Opened {
            barrier: Arc::new(Barrier::new(keyring)),
            guard: self.guard_at(version),
        };
        if next.barrier.active_term() != seen.barrier.active_term() {
            self.encryptions.store(0, Ordering::Relaxed);
        }
        let former = installed.replace(next);
        self.note_former(former);
        true
    }

    /// Holds another root key in place of the one that is held, if one is; says whether it is.
    fn hold(&self, root_key: &RootKey) -> bool {
        let mut held = self.root_key.lock().unwrap_or_else(PoisonError::into_inner);
        let is_held = held.is_some();
        if is_held {
            *held = Some(root_key.duplicate());
        }
        is_held
    }

    fn guard_at(&self, version: Version) -> Option<Guard> {
        self.backend.is_shared().then(|| Guard {
            key: KEYRING_KEY.to_owned(),
            version,
        })
    }

    /// Opens the store for as long as no other host takes its first start over.
    pub(crate) fn install_first(&self, keyring: &Keyring, root_key: &RootKey, guard: Guard) {
        self.install_under(Some(guard), keyring, root_key);
    }

    fn install_under(&self, guard: Option<Guard>, keyring: &Keyring, root_key: &RootKey) {
        let barrier = Arc::new(Barrier::new(keyring));
        let mut installed = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        *self.root_key.lock().unwrap_or_else(PoisonError::into_inner) = Some(root_key.duplicate());
        let former = installed.replace(Opened { barrier, guard });
        self.encryptions.store(0, Ordering::Relaxed);
        self.note_former(former);
    }

    fn note_former(&self, former: Option<Opened>) {
        let Some(former) = former else { return };
        let mut formers = self.former.lock().unwrap_or_else(PoisonError::into_inner);
        formers.retain(|former| former.strong_count() > 0);
        formers.push(Arc::downgrade(&former.barrier));
    }

    /// Takes what has been stored out of what is to be stored.
    pub(crate) fn forget_encryptions(&self, count: u64) {
        let rest = |uncounted: u64| Some(uncounted.saturating_sub(count));
        // Always succeeds: there is always a rest.
        let _ = self
            .encryptions
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
    }

    pub(crate) fn count_encryptions(&self, count: u64) {
        self.encryptions.fetch_add(count, Ordering::Relaxed);
    }

    /// Tells whether nothing sealed by a barrier that has been replaced since is on its way to the backend.
    pub(crate) fn former_barriers_are_gone(&self) -> bool {
        let formers = self.former.lock().unwrap_or_else(PoisonError::into_inner);
        formers.iter().all(|former| former.strong_count() == 0)
    }

    /// The key that seals the keyring of this open store.
    pub(crate) fn held_root_key(&self) -> Result<RootKey, StoreError> {
        let held = self.root_key.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref()
            .map(RootKey::duplicate)
            .ok_or(StoreError::Sealed)
    }

    pub(crate) fn barrier(&self) -> Result<Arc<Barrier>, StoreError> {
        self.opened().map(|opened| opened.barrier)
    }

    pub(crate) fn opened(&self) -> Result<Opened, StoreError> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        opened.clone().ok_or(StoreError::Sealed)
    }
}

/// The checks and changes that are committed together with a keyring.
#[derive(Default)]
pub(crate) struct Beside {
    pub(crate) checks: Vec<Check>,
    pub(crate) changes: Vec<Change>,
}

pub(crate) fn address(namespace: Namespace, key: &str) -> Address<'_> {
    let store = namespace.label();
    Address { store, key }
}

impl<B: fmt::Debug> fmt::Debug for SealedBackend<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SealedBackend")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
