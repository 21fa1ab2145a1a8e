//! A backend behind the barrier.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use gatehouse_barrier::{Address, Barrier, Keyring, KeyringError, RootKey, Term};
use gatehouse_ports::rules::has_expired;
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Item, OsRandom, Page, Requirement,
    StoreError, Version,
};

use crate::opened::Opened;
use crate::rules::SharedClock;
use crate::shares::SEAL_KEY;
use crate::{Answer, Backend, Namespace, unfinished};

pub(crate) const KEYRING_KEY: &str = "keyring";

/// How often a change of the keyring is tried while other hosts change it too.
const KEYRING_ATTEMPTS: u32 = 8;

/// What unsealing found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsealed {
    /// The store was empty; a new keyring was made and stored.
    Created,
    /// The keyring that was there opened.
    Opened,
}

/// Why the store stays sealed, or why its keyring was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// The keyring does not open, or no key could be made.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// There are records and nothing that opens them; a new keyring would only hide that.
    #[error(
        "the store holds records and no keyring; restore the keyring, or start with an empty store"
    )]
    KeyringMissing,
    /// There is no keyring to be changed: the store was never unsealed.
    #[error("the store has no keyring yet")]
    NoKeyring,
    /// The key of the store is not in a file.
    #[error("the key of this store is split into shares; unseal it with those")]
    SharesNeeded,
    /// The key of the store was never split.
    #[error(
        "the key of this store is in a key file, and it has no shares; unseal it with that file"
    )]
    KeyFileNeeded,
    /// What the store says about its shares is not what was stored with the keyring.
    #[error("what the store says about its seal was altered, or is of a newer version")]
    AlteredSeal,
    /// Other hosts kept changing the keyring.
    #[error("the keyring was changed by others at the same time; try again")]
    Contended,
    /// The backend did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Seals what goes into a backend and opens what comes out (SEC-K1).
///
/// It starts sealed: every call is answered by [`StoreError::Sealed`] until [`Self::unseal`] succeeds. A record that does not
/// open is [`StoreError::Corrupt`] and fails the whole call, a scan's too. Expiry is enforced here a second time, from the sealed
/// copy of it, so that a backend that was tampered with cannot prolong a record's life.
///
/// A record that its reader holds is opened once for all readers, and then only compared: nothing of it is kept but that it opened.
pub struct SealedBackend<B> {
    backend: B,
    clock: SharedClock,
    barrier: RwLock<Option<Arc<Barrier>>>,
    opened: Opened,
}

impl<B: Backend> SealedBackend<B> {
    /// `backend` behind a barrier that is still down. Records expire by `clock`.
    pub fn new(backend: B, clock: SharedClock) -> Self {
        Self {
            backend,
            clock,
            barrier: RwLock::default(),
            opened: Opened::default(),
        }
    }

    /// Whether the store is sealed.
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
        unfinished::discard_if_marked(&self.backend).await?;
        let seal = self.backend.get(Namespace::Keyring, &[SEAL_KEY]).await?;
        if seal.into_iter().any(|entry| entry.is_some()) {
            return Err(UnsealError::SharesNeeded);
        }
        for _ in 0..KEYRING_ATTEMPTS {
            if let Some((keyring, _)) = self.load_keyring(root_key).await? {
                self.install(&keyring);
                return Ok(Unsealed::Opened);
            }
            if !self.is_empty().await? {
                return Err(UnsealError::KeyringMissing);
            }
            let keyring = Keyring::generate(&OsRandom)?;
            if self
                .store_keyring(&keyring, root_key, Requirement::Absent)
                .await?
            {
                self.install(&keyring);
                return Ok(Unsealed::Created);
            }
        }
        Err(UnsealError::Contended)
    }

    /// Forgets all keys. Calls that are under way may still finish.
    pub fn seal(&self) {
        *self.barrier.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.opened.forget();
    }

    /// Adds a data key, which seals every record written from now on; older records stay readable (SEC-K4). Calls go on
    /// meanwhile. A sealed store is unsealed by this.
    ///
    /// # Errors
    ///
    /// When `root_key` is not the one that seals the keyring, or the backend fails. Nothing has changed then.
    pub async fn rotate(&self, root_key: &RootKey) -> Result<Term, UnsealError> {
        for _ in 0..KEYRING_ATTEMPTS {
            let stored = self.load_keyring(root_key).await?;
            let (mut keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
            let term = keyring.rotate(&OsRandom)?;
            let unchanged = Requirement::AtVersion(version);
            // Durable first: a record sealed by a key that a crash takes away would be lost.
            if self.store_keyring(&keyring, root_key, unchanged).await? {
                self.install(&keyring);
                return Ok(term);
            }
        }
        Err(UnsealError::Contended)
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
        for _ in 0..KEYRING_ATTEMPTS {
            let stored = self.load_keyring(current).await?;
            let (keyring, version) = stored.ok_or(UnsealError::NoKeyring)?;
            let unchanged = Requirement::AtVersion(version);
            if self.store_keyring(&keyring, replacement, unchanged).await? {
                return Ok(());
            }
        }
        Err(UnsealError::Contended)
    }

    /// What is below the barrier.
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

    /// Stores the keyring if `requirement` holds for the stored one; says whether it did.
    async fn store_keyring(
        &self,
        keyring: &Keyring,
        root_key: &RootKey,
        requirement: Requirement,
    ) -> Result<bool, UnsealError> {
        let key = KEYRING_KEY.to_owned();
        let check = Check { key, requirement };
        let put = Change::Put {
            key: KEYRING_KEY.to_owned(),
            value: keyring.seal(root_key, &OsRandom)?,
            expires_at: None,
        };
        let outcome = self
            .backend
            .commit(Namespace::Keyring, vec![check], vec![put])
            .await;
        match outcome {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Failed(error)) => Err(error.into()),
        }
    }

    pub(crate) async fn is_empty(&self) -> Result<bool, StoreError> {
        for namespace in Namespace::ALL {
            let page = self.backend.scan(namespace, "", None, 1).await?;
            if !page.items.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens what the backend answered about a key, and notes it down where the reader will ask again.
    fn difference(
        &self,
        barrier: &Barrier,
        namespace: Namespace,
        held: &HeldKey<'_>,
        found: Difference,
        now: u64,
    ) -> Result<Difference, StoreError> {
        let Difference::Changed(entry) = found else {
            return Ok(found);
        };
        let (entry, expires_at) = open(barrier, namespace, held.key, entry)?;
        if has_expired(expires_at, now) {
            return Ok(Difference::Absent);
        }
        if held.version.is_some() {
            self.opened
                .note(namespace, held.key, entry.version, expires_at);
        }
        Ok(Difference::between(held.version, Some(entry)))
    }

    pub(crate) fn install(&self, keyring: &Keyring) {
        let barrier = Arc::new(Barrier::new(keyring));
        *self.barrier.write().unwrap_or_else(PoisonError::into_inner) = Some(barrier);
    }

    fn barrier(&self) -> Result<Arc<Barrier>, StoreError> {
        let barrier = self.barrier.read().unwrap_or_else(PoisonError::into_inner);
        barrier.clone().ok_or(StoreError::Sealed)
    }

    /// Refuses what no component may ask, and everything while sealed.
    fn admit(&self, namespace: Namespace) -> Result<(), StoreError> {
        if namespace == Namespace::Keyring {
            let message = "the keyring belongs to the barrier alone";
            return Err(StoreError::Invalid(message.to_owned()));
        }
        self.barrier().map(|_| ())
    }

    fn seal_changes(
        &self,
        namespace: Namespace,
        mut changes: Vec<Change>,
    ) -> Result<Vec<Change>, StoreError> {
        let barrier = self.barrier()?;
        for change in &mut changes {
            if let Change::Put {
                key,
                value,
                expires_at,
            } = change
            {
                let address = address(namespace, key);
                *value = barrier
                    .seal(address, value, *expires_at, &OsRandom)
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?;
            }
        }
        Ok(changes)
    }
}

fn address(namespace: Namespace, key: &str) -> Address<'_> {
    let store = namespace.label();
    Address { store, key }
}

/// Opens what a backend answered, and tells from when on it reads as absent.
fn open(
    barrier: &Barrier,
    namespace: Namespace,
    key: &str,
    entry: Entry,
) -> Result<(Entry, Option<u64>), StoreError> {
    let record = barrier
        .open(address(namespace, key), entry.value)
        .map_err(|_| StoreError::Corrupt(key.to_owned()))?;
    let opened = Entry {
        value: record.value,
        version: entry.version,
    };
    Ok((opened, record.expires_at))
}

impl<B: Backend> Backend for SealedBackend<B> {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey<'a>],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            self.admit(namespace)?;
            let now = self.clock.now_milliseconds();
            let if_opened = |held: &HeldKey<'a>| HeldKey {
                key: held.key,
                version: held
                    .version
                    .filter(|version| self.opened.contains(namespace, held.key, *version, now)),
            };
            let asked: Vec<HeldKey<'_>> = keys.iter().map(if_opened).collect();
            let found = self.backend.get_changed(namespace, &asked).await?;
            // Only now: a record may have been sealed by a key that was added while the backend was asked.
            let barrier = self.barrier()?;
            let now = self.clock.now_milliseconds();
            keys.iter()
                .zip(found)
                .map(|(held, found)| self.difference(&barrier, namespace, held, found, now))
                .collect()
        })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            self.admit(namespace)?;
            let page = self.backend.scan(namespace, prefix, after, limit).await?;
            let barrier = self.barrier()?;
            let now = self.clock.now_milliseconds();
            let mut items = Vec::with_capacity(page.items.len());
            for Item { key, entry } in page.items {
                let (entry, expires_at) = open(&barrier, namespace, &key, entry)?;
                if !has_expired(expires_at, now) {
                    items.push(Item { key, entry });
                }
            }
            let more = page.more;
            Ok(Page { items, more })
        })
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            self.admit(namespace)?;
            let changes = self.seal_changes(namespace, changes)?;
            self.backend.commit(namespace, checks, changes).await
        })
    }
}

impl<B: fmt::Debug> fmt::Debug for SealedBackend<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SealedBackend")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
