//! Following what other hosts do to the keyring of a store that they share (SEC-K4).
//!
//! **When a host notices**: all that it writes is committed under the guard of the keyring that it knows. Once another host has changed the
//! keyring, such a commit is refused, however long it was on its way; the host takes over the keyring that is stored now, seals anew what
//! it wanted to write, and commits that. So nothing is ever stored under a key that another host may drop. A record that needs a key which
//! the host does not know is read again once the keyring was taken over. [`SealedBackend::follow_others`] does it for a host at rest.
//!
//! **By which key**: by the root key, which is in memory while the store is open. So no data key is stored under an earlier one, and who
//! has an earlier data key learns no later one from the store. Where the root key was replaced, it is handed over: the new one lies beside
//! the keyring for [`HANDOVER_LIFE`], sealed by the former root key, and that again by the active data key. Who opens it had both, which
//! is what an open host has. A host that comes too late for it closes its store: it cannot follow any more.

use std::time::Duration;

use gatehouse_barrier::{Barrier, Keyring, KeyringError, RootKey};
use gatehouse_ports::rules::has_expired;
use gatehouse_ports::{Change, Entry, OsRandom, Put, StoreError};

use crate::layout::{HANDOVER_KEY, KEYRING_KEY, unsealable};
use crate::sealed::{Opened, address};
use crate::{Backend, Namespace, SealedBackend, UnsealError};

/// For how long a new root key is handed over: longer than a database takes to fail over.
const HANDOVER_LIFE: Duration = Duration::from_secs(5 * 60);

impl<B: Backend> SealedBackend<B> {
    /// Takes over what other hosts have done to the keyring; says whether that was anything. Nothing is done where the store is sealed, or
    /// no other host can have it. To be called every second or so: a root key is handed over for five minutes.
    ///
    /// # Errors
    ///
    /// When the backend does not answer, or the keyring was altered; and [`StoreError::Sealed`] when another host has replaced the root
    /// key and this one came too late for the new one. The store is sealed then, and opens with the new root key.
    pub async fn follow_others(&self) -> Result<bool, StoreError> {
        match self.opened() {
            Ok(opened) => self.follow(&opened).await,
            Err(_) => Ok(false),
        }
    }

    /// Takes over the stored keyring if it is another one than `seen`; says whether it is, or was taken over meanwhile.
    pub(crate) async fn follow(&self, seen: &Opened) -> Result<bool, StoreError> {
        if !seen.follows() {
            return Ok(false);
        }
        let _following = self.following.lock().await;
        let opened = self.opened()?;
        if opened.guard != seen.guard {
            return Ok(true);
        }
        let held = self.held_root_key()?;
        let keys = [KEYRING_KEY, HANDOVER_KEY];
        let mut entries = self
            .backend()
            .get(Namespace::Keyring, &keys)
            .await?
            .into_iter();
        let (keyring, handover) = (entries.next().flatten(), entries.next().flatten());
        let altered = || StoreError::Corrupt(KEYRING_KEY.to_owned());
        let Entry { value, version } = keyring.ok_or_else(altered)?;
        if opened.is_at(version) {
            return Ok(false);
        }
        let (keyring, root_key) = match Keyring::open(&held, &value) {
            Ok(keyring) => (keyring, held),
            Err(KeyringError::WrongRootKey) => {
                let next =
                    handover.and_then(|entry| self.handed_over(&opened.barrier, &held, entry));
                let found = next.and_then(|next| {
                    let keyring = Keyring::open(&next, &value).ok()?;
                    Some((keyring, next))
                });
                let Some(found) = found else {
                    self.seal();
                    return Err(StoreError::Sealed);
                };
                found
            }
            Err(_) => return Err(altered()),
        };
        // An old keyring that was put back would have this host seal by a key that others may have dropped.
        if keyring.active_term() < opened.barrier.active_term() {
            return Err(altered());
        }
        if self.replace(&opened, &keyring, &root_key, version) {
            return Ok(true);
        }
        Err(StoreError::Sealed)
    }

    /// The change that hands `replacement` over to the hosts that have `current` and the active key of `keyring`.
    pub(crate) fn handover(
        &self,
        keyring: &Keyring,
        current: &RootKey,
        replacement: &RootKey,
    ) -> Result<Change, UnsealError> {
        let sealed = replacement
            .seal_for(current, &OsRandom)
            .map_err(KeyringError::from)?;
        let life = u64::try_from(HANDOVER_LIFE.as_millis()).unwrap_or(u64::MAX);
        let expires_at = Some(self.clock.now_milliseconds().saturating_add(life));
        let place = address(Namespace::Keyring, HANDOVER_KEY);
        let value = Barrier::new(keyring).seal(place, &sealed, expires_at, &OsRandom);
        Ok(Change::Put(Put {
            key: HANDOVER_KEY.to_owned(),
            value: value.map_err(unsealable)?,
            expires_at,
        }))
    }

    /// The root key that was handed over to a host that has `barrier` and `held`.
    fn handed_over(&self, barrier: &Barrier, held: &RootKey, entry: Entry) -> Option<RootKey> {
        let place = address(Namespace::Keyring, HANDOVER_KEY);
        let record = barrier.open(place, entry.value).ok()?;
        if has_expired(record.expires_at, self.clock.now_milliseconds()) {
            return None;
        }
        RootKey::open_for(held, &record.value)
    }
}
