//! The joint actions of holders of shares on an open store: they prove that they are enough for a new root token,
//! and replace their shares.
//!
//! One of each kind is under way at most. Every caller may begin one; the shares alone give it force. So a caller that begins one cannot
//! be kept from it by others: for ten minutes of an hour only the origin that began it may cancel it, and nothing of it outlives an hour.

mod rekey;
mod root_generation;

use std::time::{Duration, Instant};

use gatehouse_barrier::{KeyShare, KeyringError, RootKey, Sharing, SplitError};
use gatehouse_ports::{OsRandom, Random as _, RandomError};
use tokio::sync::MutexGuard;
use zeroize::Zeroizing;

use super::attempt::Attempt;
use super::protection::Protection;
use super::{ShareSeal, State};
use crate::{Backend, UnsealError};

pub use rekey::{RekeyProgress, Verified};
pub use root_generation::Given;

use rekey::Rekey;
use root_generation::RootGeneration;

/// For how long a ceremony goes on without coming to an end: shares must not stay in memory for ever.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// How far a ceremony is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ceremony {
    /// Names it; `None` where none is under way.
    pub nonce: Option<String>,
    /// How many different shares have been given to it.
    pub given: usize,
    /// How many it takes.
    pub required: u8,
    /// Into how many shares the key will be split; `None` where it stays as it is.
    pub sharing: Option<Sharing>,
    /// True if the new shares have to be given before they count.
    pub verification: bool,
    /// Names the verification; `None` before the new shares have been made.
    pub verification_nonce: Option<String>,
}

/// Why a ceremony did not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CeremonyError {
    /// The store is closed.
    #[error("the store is sealed")]
    Sealed,
    /// There are no shares yet.
    #[error("the store is not initialized")]
    NotInitialized,
    /// There is one.
    #[error("one is under way")]
    UnderWay,
    /// There is none.
    #[error("none is under way")]
    NotUnderWay,
    /// The share is for another one. Names the one that is under way.
    #[error("another one is under way")]
    OtherNonce(String),
    /// The share was given before.
    #[error("the share was given before")]
    GivenBefore,
    /// It has another length than the shares that are asked for.
    #[error("a share has another length")]
    Malformed,
    /// One of the shares is wrong. All that were given to this ceremony were forgotten.
    #[error("the shares do not yield the key")]
    Wrong,
    /// Another origin began it, which is protected: at most for ten minutes of an hour.
    #[error("another one began it lately")]
    OthersOwn,
    /// The new shares have been made, and wait to be verified under this name.
    #[error("the new shares are to be verified")]
    VerificationDue(String),
    /// No new shares wait to be verified.
    #[error("nothing is to be verified")]
    NothingToVerify,
    /// No shares could be made.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The store failed.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
}

/// The ceremonies that are under way.
#[derive(Default)]
pub struct Ceremonies {
    root_generation: Option<RootGeneration>,
    of_root_generations: Protection,
    rekey: Option<Rekey>,
    of_rekeys: Protection,
}

struct Begun {
    nonce: String,
    origin: String,
    at: Instant,
    /// For how long only the origin may cancel it.
    protected: Duration,
}

impl Begun {
    fn now(origin: &str, protection: &mut Protection) -> Result<Self, CeremonyError> {
        let nonce = fresh_nonce()?;
        let at = Instant::now();
        Ok(Self {
            nonce,
            origin: origin.to_owned(),
            at,
            protected: protection.take(origin, at),
        })
    }

    fn end(self, protection: &mut Protection) {
        let unused = self.protected.saturating_sub(self.at.elapsed());
        protection.give_back(&self.origin, unused);
    }

    fn check_nonce(&self, nonce: &str) -> Result<(), CeremonyError> {
        if self.nonce == nonce {
            return Ok(());
        }
        Err(CeremonyError::OtherNonce(self.nonce.clone()))
    }

    fn is_over(&self) -> bool {
        self.at.elapsed() >= LIFETIME
    }

    fn check_cancel(&self, origin: &str) -> Result<(), CeremonyError> {
        if self.origin == origin || self.at.elapsed() >= self.protected {
            return Ok(());
        }
        Err(CeremonyError::OthersOwn)
    }
}

impl Ceremonies {
    fn forget_old(&mut self) {
        if matches!(&self.root_generation, Some(it) if it.begun.is_over()) {
            self.end_root_generation();
        }
        if matches!(&self.rekey, Some(it) if it.begun.is_over()) {
            self.end_rekey();
        }
    }
}

/// Adds a share to those that were given before. `None` while they are too few for `sharing`; then all of them, and the attempt is empty.
fn add(
    attempt: &mut Attempt,
    share: KeyShare,
    sharing: Sharing,
) -> Result<Option<Attempt>, CeremonyError> {
    let before = attempt.given();
    attempt.add(share).map_err(no_randomness)?;
    if attempt.given() == before {
        return Err(CeremonyError::GivenBefore);
    }
    let are_enough = attempt.given() >= usize::from(sharing.threshold());
    Ok(are_enough.then(|| std::mem::take(attempt)))
}

fn share_of(bytes: Zeroizing<Vec<u8>>, sharing: Sharing) -> Result<KeyShare, CeremonyError> {
    KeyShare::from_bytes(bytes, sharing).ok_or(CeremonyError::Malformed)
}

fn no_randomness(error: RandomError) -> UnsealError {
    KeyringError::from(error).into()
}

fn fresh_nonce() -> Result<String, UnsealError> {
    let mut bytes = [0; 16];
    OsRandom.fill(&mut bytes).map_err(no_randomness)?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.hyphenated().to_string())
}

impl<B: Backend> ShareSeal<B> {
    /// The sharing and the ceremonies of an open store.
    async fn open_ceremonies(
        &self,
    ) -> Result<(Sharing, MutexGuard<'_, Ceremonies>), CeremonyError> {
        let sharing = self.sharing_of(&*self.state.lock().await)?;
        let mut ceremonies = self.ceremonies.lock().await;
        ceremonies.forget_old();
        Ok((sharing, ceremonies))
    }

    fn sharing_of(&self, state: &State) -> Result<Sharing, CeremonyError> {
        match state {
            State::Initialized { .. } if self.store.is_sealed() => Err(CeremonyError::Sealed),
            State::Initialized { record, .. } => Ok(record.sharing),
            _ => Err(CeremonyError::NotInitialized),
        }
    }

    /// The key that these shares yield, if it is that of the store.
    async fn key_of(&self, attempt: &Attempt) -> Result<RootKey, CeremonyError> {
        let key = attempt.combined().ok_or(CeremonyError::Wrong)?;
        match self.store.load_keyring(&key).await {
            Ok(Some(_)) => Ok(key),
            Ok(None) => Err(UnsealError::KeyringMissing.into()),
            Err(UnsealError::Keyring(KeyringError::WrongRootKey)) => Err(CeremonyError::Wrong),
            Err(error) => Err(error.into()),
        }
    }
}
