//! The ceremonies that are under way, and how each of them began.

use std::time::{Duration, Instant};

use gatehouse_barrier::{KeyringError, RootKey, Sharing, SplitError};
use gatehouse_ports::{OsRandom, Random as _, RandomError};
use zeroize::Zeroizing;

use crate::UnsealError;
use crate::shares::attempt::Attempt;
use crate::shares::protection::Protection;

/// The time after which a ceremony that has not come to an end is given up: shares must not stay in memory indefinitely.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// How far a ceremony is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ceremony {
    /// The name of the ceremony; `None` where none is under way.
    pub nonce: Option<String>,
    /// How many different shares have been given to it.
    pub given: usize,
    /// How many shares it takes.
    pub required: u8,
    /// Into how many shares the key will be split; `None` where it stays as it is.
    pub sharing: Option<Sharing>,
    /// True if the new shares have to be given before they count.
    pub verification: bool,
    /// The name of the verification; `None` before the new shares have been made.
    pub verification_nonce: Option<String>,
}

/// Why a ceremony did not continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CeremonyError {
    /// The store is closed.
    #[error("the store is sealed")]
    Sealed,
    /// There are no shares yet.
    #[error("the store is not initialized")]
    NotInitialized,
    /// A ceremony is under way.
    #[error("one is under way")]
    UnderWay,
    /// No ceremony is under way.
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
    pub(super) root_generation: Option<RootGeneration>,
    pub(super) of_root_generations: Protection,
    pub(super) rekey: Option<Rekey>,
    pub(super) of_rekeys: Protection,
}

impl Ceremonies {
    pub(super) fn forget_old(&mut self) {
        if matches!(&self.root_generation, Some(it) if it.begun.is_over()) {
            self.end_root_generation();
        }
        if matches!(&self.rekey, Some(it) if it.begun.is_over()) {
            self.end_rekey();
        }
    }
}

pub(super) struct RootGeneration {
    pub(super) begun: Begun,
    pub(super) one_time_password: Zeroizing<Vec<u8>>,
    pub(super) attempt: Attempt,
}

pub(super) struct Rekey {
    pub(super) begun: Begun,
    pub(super) sharing: Sharing,
    pub(super) verification: bool,
    pub(super) attempt: Attempt,
    pub(super) pending: Option<Pending>,
}

/// New shares that do not count yet.
pub(super) struct Pending {
    pub(super) current: RootKey,
    pub(super) replacement: RootKey,
    pub(super) nonce: String,
    pub(super) attempt: Attempt,
}

pub(super) struct Begun {
    pub(super) nonce: String,
    pub(super) origin: String,
    pub(super) at: Instant,
    /// For how long only the origin may cancel it.
    pub(super) protected: Duration,
}

impl Begun {
    pub(super) fn now(origin: &str, protection: &mut Protection) -> Result<Self, CeremonyError> {
        let nonce = fresh_nonce()?;
        let at = Instant::now();
        Ok(Self {
            nonce,
            origin: origin.to_owned(),
            at,
            protected: protection.take(origin, at),
        })
    }

    pub(super) fn end(self, protection: &mut Protection) {
        let unused = self.protected.saturating_sub(self.at.elapsed());
        protection.give_back(&self.origin, unused);
    }

    pub(super) fn check_nonce(&self, nonce: &str) -> Result<(), CeremonyError> {
        if self.nonce == nonce {
            return Ok(());
        }
        Err(CeremonyError::OtherNonce(self.nonce.clone()))
    }

    pub(super) fn is_over(&self) -> bool {
        self.at.elapsed() >= LIFETIME
    }

    pub(super) fn check_cancel(&self, origin: &str) -> Result<(), CeremonyError> {
        if self.origin == origin || self.at.elapsed() >= self.protected {
            return Ok(());
        }
        Err(CeremonyError::OthersOwn)
    }
}

pub(super) fn no_randomness(error: RandomError) -> UnsealError {
    KeyringError::from(error).into()
}

pub(super) fn fresh_nonce() -> Result<String, UnsealError> {
    let mut bytes = [0; 16];
    OsRandom.fill(&mut bytes).map_err(no_randomness)?;
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    Ok(id.hyphenated().to_string())
}
