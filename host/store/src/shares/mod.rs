//! The seal whose key people hold in shares (SEC-K2, A8).

mod attempt;
mod ceremonies;
mod protection;
mod record;
mod renewal;
mod root_key;

use std::sync::Arc;
use std::time::Duration;

use gatehouse_barrier::{KeyShare, Keyring, KeyringError, RootKey, Sharing, SplitError};
use gatehouse_ports::{Change, Check, CommitError, OsRandom, RandomError, Requirement, StoreError};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use crate::backup::ensure_restored;
use crate::init_marker::{LEASE, LOOKED_AT_EVERY, Owner, Standing, Watch};
use crate::layout::{KEYRING_KEY, SEAL_KEY, put};
use crate::{Backend, Guard, Namespace, SealedBackend, UnsealError, init_marker};
use attempt::Attempt;
use ceremonies::Ceremonies;
use renewal::Renewal;

pub use ceremonies::{Ceremony, CeremonyError, Given, RekeyProgress, Verified};
pub(crate) use record::SealRecord;

/// How far the seal has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Into how many shares the key is split; `None` before it exists.
    pub sharing: Option<Sharing>,
    /// True if the store is closed, which it also is before its key exists.
    pub sealed: bool,
    /// How many different shares have been given since the store was sealed.
    pub given: usize,
    /// Names the attempt that they belong to; empty while none was given.
    pub nonce: String,
}

/// Why a first start was not begun.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// The store has a key, or is being given one at this moment.
    #[error("the store is initialized, or being initialized")]
    AlreadyInitialized,
    /// No shares could be made.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The keyring could not be made or stored.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
}

/// Why a share was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// There are no shares yet.
    #[error("the store is not initialized")]
    NotInitialized,
    /// It has another length than the shares of this store.
    #[error("a share of this store has another length")]
    Malformed,
    /// One of the shares that were given is wrong. They are kept until three more than it takes have been given in vain: then all are
    /// forgotten.
    #[error("the shares do not yield the key of the store")]
    Wrong,
    /// The store could not be opened, for another reason. After one that passes, the last share may be given again.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
}

/// The operations, one after another, on a [`SealedBackend`] whose root key is split.
///
/// The first start has two halves. [`Self::begin`] makes and stores the keyring and opens the store, so that its first records can be
/// written; [`Self::finish`] makes it count and closes the store. Between them a mark is stored: a host that finds it given up empties the
/// store. So after a crash at any moment the store is either empty or one whose shares were complete. A first start that another host has
/// stored meanwhile is neither finished nor emptied, and in a store that several hosts share, one that is under way is waited for.
///
/// Changes by other hosts to a shared store show at the next call: that it is initialized now, and that its shares were replaced.
///
/// The root key and the data keys are in memory while the store is open. Shares are wiped as soon as they are of no more use. The ceremonies
/// that holders perform together on an open store begin with [`Self::begin_root_generation`] and [`Self::begin_rekey`].
pub struct ShareSeal<B> {
    store: Arc<SealedBackend<B>>,
    patience: Duration,
    state: Mutex<State>,
    /// Taken after `state` where both are.
    ceremonies: Mutex<Ceremonies>,
}

/// How often a store that has records and no keyring is looked at, before it is said to have lost its keyring.
const LOADS: u32 = 2;

enum State {
    /// The store is empty.
    Empty,
    /// A first start is under way.
    Begun {
        sealed_keyring: Vec<u8>,
        record: SealRecord,
        at: Instant,
        guard: Guard,
        /// Ends with the first start.
        _renewal: Renewal,
    },
    /// A first start has failed or was cut off, and it is not known what is stored of it.
    Unclear { sealed_keyring: Vec<u8> },
    /// There is a keyring.
    Initialized {
        record: SealRecord,
        attempt: Attempt,
    },
}

impl<B: Backend> ShareSeal<B> {
    /// Looks at what is below `store`. Wipes the rest of a first start that was given up, and waits for a first start that is under way
    /// at another host.
    ///
    /// `patience` is the time after which a first start that is under way is taken for given up: longer than a request can take.
    ///
    /// # Errors
    ///
    /// When the store has another kind of seal, something is missing, or the backend fails.
    pub async fn open(
        store: Arc<SealedBackend<B>>,
        patience: Duration,
    ) -> Result<Self, UnsealError> {
        init_marker::settle(store.backend()).await?;
        ensure_restored(store.backend()).await?;
        let state = Mutex::new(State::load(&store).await?);
        Ok(Self {
            store,
            patience,
            state,
            ceremonies: Mutex::default(),
        })
    }

    /// How far the seal is.
    pub async fn progress(&self) -> Progress {
        let mut state = self.state.lock().await;
        if self.store.is_sealed() {
            self.refresh(&mut state).await;
        }
        self.progress_of(&state)
    }

    /// Begins the first start: makes the key and its shares, stores what they open, and opens the store. Of several callers one
    /// succeeds. Where another host's is under way, this waits for its end, or until it is given up, for a few seconds.
    ///
    /// # Errors
    ///
    /// When the store has a key or is being given one, and when that fails; nothing has changed then.
    pub async fn begin(&self, sharing: Sharing) -> Result<Vec<KeyShare>, BeginError> {
        let deadline = Instant::now() + 2 * LEASE;
        let mut watch = Watch::default();
        loop {
            {
                let mut state = self.state.lock().await;
                match self.begin_alone(&mut state, sharing).await {
                    Err(BeginError::AlreadyInitialized) if matches!(*state, State::Empty) => {}
                    outcome => return outcome,
                }
                let backend = self.store.backend();
                if watch.look(backend).await.map_err(UnsealError::from)? == Standing::Unmarked
                    && Instant::now() < deadline
                {
                    continue;
                }
            }
            if Instant::now() >= deadline {
                return Err(BeginError::AlreadyInitialized);
            }
            sleep(LOOKED_AT_EVERY).await;
        }
    }

    /// Begins the first start unless one has been begun, which leaves the state as it is stored.
    async fn begin_alone(
        &self,
        state: &mut MutexGuard<'_, State>,
        sharing: Sharing,
    ) -> Result<Vec<KeyShare>, BeginError> {
        if matches!(&**state, State::Begun { at, .. } if at.elapsed() < self.patience) {
            return Err(BeginError::AlreadyInitialized);
        }
        self.discard(state).await?;
        self.refresh(state).await;
        if !matches!(**state, State::Empty) {
            return Err(BeginError::AlreadyInitialized);
        }
        let root_key = RootKey::generate(&OsRandom).map_err(SplitError::from)?;
        let shares = root_key.split(sharing, &OsRandom)?;
        let keyring = Keyring::generate(&OsRandom).map_err(UnsealError::from)?;
        let record = SealRecord::new(&keyring, sharing)
            .map_err(|error| UnsealError::Store(StoreError::Unavailable(error.to_string())))?;
        let sealed_keyring = keyring
            .seal(&root_key, &OsRandom)
            .map_err(UnsealError::from)?;
        let owner = Owner::generate().map_err(SplitError::from)?;
        let about_key = self.store.first_key_record(&keyring)?;
        // The state until the answer arrives, before which this call may be dropped.
        **state = State::Unclear {
            sealed_keyring: sealed_keyring.clone(),
        };
        if !self
            .store_first(&sealed_keyring, &record, &owner, about_key)
            .await?
        {
            **state = State::Empty;
            **state = State::load(&self.store).await?;
            return Err(BeginError::AlreadyInitialized);
        }
        let guard = owner.guard(self.store.backend()).await;
        let Some(guard) = guard.map_err(UnsealError::from)? else {
            return Err(UnsealError::Contended.into());
        };
        let until = Instant::now() + self.patience;
        let renewal = Renewal::start(&self.store, guard.clone(), until);
        self.store.install_first(&keyring, &root_key, guard.clone());
        **state = State::Begun {
            sealed_keyring,
            record,
            at: Instant::now(),
            guard,
            _renewal: renewal,
        };
        Ok(shares)
    }

    /// Makes the first start count, durably, and closes the store. Without one under way it does nothing.
    ///
    /// # Errors
    ///
    /// When that cannot be stored, or another host has emptied the store meanwhile: no caller may be given the shares, and
    /// [`Self::abandon`] is to follow.
    pub async fn finish(&self) -> Result<(), UnsealError> {
        let mut state = self.state.lock().await;
        let State::Begun {
            sealed_keyring,
            guard,
            ..
        } = &*state
        else {
            return Ok(());
        };
        let backend = self.store.backend();
        let cleared = init_marker::clear_mark(backend, sealed_keyring, guard).await;
        if cleared != Ok(true)
            // It may have been stored nevertheless, and then it counts.
            && init_marker::counts(backend, sealed_keyring).await != Ok(true)
        {
            return Err(cleared.err().map_or(UnsealError::Contended, Into::into));
        }
        self.store.seal();
        if let State::Begun { record, .. } = std::mem::replace(&mut *state, State::Empty) {
            let attempt = Attempt::default();
            *state = State::Initialized { record, attempt };
        }
        Ok(())
    }

    /// Gives up the first start that is under way: the store is closed and empty again. Without one it does nothing.
    ///
    /// # Errors
    ///
    /// When the store could not be emptied. The next first start, or the next start of the server, tries again.
    pub async fn abandon(&self) -> Result<(), UnsealError> {
        self.discard(&mut *self.state.lock().await).await
    }

    /// Takes one share. The one that completes the threshold opens the store; on an open store, and with a share that was given
    /// before, nothing changes.
    ///
    /// # Errors
    ///
    /// When there are no shares yet, it is none, or those that were given do not open the store.
    pub async fn unseal(&self, share: Zeroizing<Vec<u8>>) -> Result<Progress, ShareError> {
        let mut state = self.state.lock().await;
        self.refresh(&mut state).await;
        let State::Initialized { record, attempt } = &mut *state else {
            return Err(ShareError::NotInitialized);
        };
        let share = KeyShare::from_bytes(share, record.sharing).ok_or(ShareError::Malformed)?;
        let needed = usize::from(record.sharing.threshold());
        let is_new = !attempt.holds(&share);
        if self.store.is_sealed() && (is_new || attempt.is_untried()) {
            if is_new && attempt.is_full(needed) {
                *attempt = Attempt::default();
            }
            let keys = attempt.keys_with(&share, record.sharing);
            attempt.add(share).map_err(no_randomness)?;
            if attempt.given() >= needed {
                let opened = self.open_with(&keys).await;
                // Those shares may be right where only the store is out of order, or where a stranger gave one of them.
                let is_untried = matches!(opened, Err(ShareError::Unseal(UnsealError::Store(_))));
                let is_wrong = matches!(opened, Err(ShareError::Wrong));
                attempt.leave_untried(is_untried);
                let is_kept = is_untried || is_wrong && !attempt.is_full(needed);
                if !is_kept {
                    *attempt = Attempt::default();
                }
                opened?;
            }
        }
        Ok(self.progress_of(&state))
    }

    /// Forgets the shares that were given.
    pub async fn reset(&self) -> Progress {
        let mut state = self.state.lock().await;
        if let State::Initialized { attempt, .. } = &mut *state {
            *attempt = Attempt::default();
        }
        self.progress_of(&state)
    }

    /// Forgets the keys: every call is refused from now on, and those under way when they next ask for something.
    pub async fn seal(&self) {
        // One that is unsealing has finished by then, and does not open the store again afterwards.
        let _state = self.state.lock().await;
        self.store.seal();
        *self.ceremonies.lock().await = Ceremonies::default();
    }

    /// Opens the store with the one of these keys that is right.
    async fn open_with(&self, keys: &[RootKey]) -> Result<(), ShareError> {
        let noted = self.store.note_seal_orders().await;
        noted.map_err(UnsealError::from)?;
        for root_key in keys {
            let (keyring, version) = match self.store.load_keyring(root_key).await {
                Ok(Some(found)) => found,
                Ok(None) => return Err(UnsealError::KeyringMissing.into()),
                Err(UnsealError::Keyring(KeyringError::WrongRootKey)) => continue,
                Err(error) => return Err(error.into()),
            };
            // As it is stored now: a rotation has sealed it anew.
            let stored = State::load(&self.store).await?;
            if !matches!(&stored, State::Initialized { record, .. } if record.is_of(&keyring)) {
                return Err(UnsealError::AlteredSeal.into());
            }
            self.store.install(&keyring, root_key, version);
            return Ok(());
        }
        Err(ShareError::Wrong)
    }

    /// Stores keyring, seal and mark in a store that has none of them; says whether it had none.
    async fn store_first(
        &self,
        sealed_keyring: &[u8],
        record: &SealRecord,
        owner: &Owner,
        about_key: Change,
    ) -> Result<bool, UnsealError> {
        let mut changes = vec![
            put(KEYRING_KEY, sealed_keyring.to_vec()),
            put(SEAL_KEY, record.write()),
            about_key,
        ];
        changes.extend(owner.set_mark());
        let absent = |key: &str| Check {
            key: key.to_owned(),
            requirement: Requirement::Absent,
        };
        let checks = changes.iter().map(|change| absent(change.key())).collect();
        let backend = self.store.backend();
        match backend.commit(Namespace::Keyring, checks, changes).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Failed(error)) => Err(error.into()),
        }
    }

    /// Undoes the first start that this host began and did not finish, if there is one, and no other.
    async fn discard(&self, state: &mut State) -> Result<(), UnsealError> {
        let (State::Begun { sealed_keyring, .. } | State::Unclear { sealed_keyring }) = &*state
        else {
            return Ok(());
        };
        let sealed_keyring = sealed_keyring.clone();
        self.store.seal();
        *state = State::Unclear {
            sealed_keyring: sealed_keyring.clone(),
        };
        let is_empty = init_marker::discard(self.store.backend(), &sealed_keyring).await?;
        *state = State::Empty;
        if !is_empty {
            *state = State::load(&self.store).await?;
        }
        Ok(())
    }

    /// Takes over the changes that other hosts have made to the seal of a shared store. If the store does not answer, the known state stays.
    async fn refresh(&self, state: &mut State) {
        if !self.store.backend().is_shared() {
            return;
        }
        match state {
            State::Begun { .. } | State::Unclear { .. } => {}
            State::Empty => {
                if let Ok(stored) = State::load(&self.store).await {
                    *state = stored;
                }
            }
            State::Initialized { record, attempt } => {
                if let Ok(State::Initialized { record: stored, .. }) =
                    State::load(&self.store).await
                {
                    if stored.sharing != record.sharing {
                        *attempt = Attempt::default();
                    }
                    *record = stored;
                }
            }
        }
    }

    fn progress_of(&self, state: &State) -> Progress {
        match state {
            State::Empty | State::Begun { .. } | State::Unclear { .. } => Progress {
                sharing: None,
                sealed: true,
                given: 0,
                nonce: String::new(),
            },
            State::Initialized { record, attempt } => Progress {
                sharing: Some(record.sharing),
                sealed: self.store.is_sealed(),
                given: attempt.promising(record.sharing.threshold().into()),
                nonce: attempt.nonce(),
            },
        }
    }
}

fn no_randomness(error: RandomError) -> UnsealError {
    KeyringError::from(error).into()
}

impl State {
    async fn load<B: Backend>(store: &SealedBackend<B>) -> Result<Self, UnsealError> {
        let is_shared = store.backend().is_shared();
        for _ in 0..LOADS {
            let mark = init_marker::mark_key();
            let keys = [KEYRING_KEY, SEAL_KEY, &mark];
            let entries = store.backend().get(Namespace::Keyring, &keys).await?;
            match entries.as_slice() {
                // Another host's first start counts for nothing yet.
                [_, _, Some(_)] if is_shared => return Ok(Self::Empty),
                [Some(_), Some(seal), _] => {
                    return Ok(Self::Initialized {
                        record: SealRecord::read(&seal.value).ok_or(UnsealError::AlteredSeal)?,
                        attempt: Attempt::default(),
                    });
                }
                [Some(_), None, _] => return Err(UnsealError::KeyFileNeeded),
                _ if store.is_empty().await? => return Ok(Self::Empty),
                // Another host may have begun in between.
                _ => {}
            }
        }
        Err(UnsealError::KeyringMissing)
    }
}
