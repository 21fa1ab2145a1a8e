//! The seal: the holder of the key of all stored data.

use zeroize::Zeroizing;

pub use super::bindings::gatehouse::host::seal::Progress as SealProgress;

/// A failure that is common to all functions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The stores cannot be reached, or hold unexpected data. The text is for the log, without secrets.
    #[error("the seal is unavailable: {0}")]
    Unavailable(String),
    /// There are no shares.
    #[error("the server unseals itself: restart it")]
    Automatic,
}

/// The reason why no shares were made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InitializeSealError {
    /// Shares exist already, or another caller is making them right now.
    #[error("the server is already initialized")]
    AlreadyInitialized,
    /// The numbers of shares are invalid.
    #[error("there are 1 to 255 shares, of which 2 to all unseal, or 1 of 1")]
    InvalidNumbers,
    /// The seal does not work, or has no shares.
    #[error(transparent)]
    Failure(#[from] SealError),
}

/// The reason why a share was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// No shares have been made yet.
    #[error("the server is not initialized: initialize it first")]
    NotInitialized,
    /// A text of this length is not a share.
    #[error("this is not a share of the key")]
    Malformed,
    /// At least one of the shares is wrong. The others are kept, unless too many are wrong.
    #[error(
        "the shares do not yield the key: one of them at least is wrong; give those that are missing"
    )]
    WrongShares,
    /// The seal does not work, or has no shares.
    #[error(transparent)]
    Failure(#[from] SealError),
}

/// The seal of the stores. The WIT interface is the specification.
pub trait Seal {
    /// The progress of the unsealing by shares; `None` where the seal is automatic.
    fn status(&self) -> Result<Option<SealProgress>, SealError>;

    /// Creates the key and its shares, and opens the stores.
    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError>;

    /// Completes the initialization that [`Self::begin_initialization`] began.
    fn finish_initialization(&self) -> Result<(), SealError>;

    /// Undoes the initialization that [`Self::begin_initialization`] began: the server is empty again.
    fn abandon_initialization(&self) -> Result<(), SealError>;

    /// Gives one share.
    fn unseal(&self, share: &[u8]) -> Result<SealProgress, UnsealError>;

    /// Discards the shares that were given so far.
    fn reset_unseal(&self) -> Result<SealProgress, SealError>;

    /// Forgets the key, which closes the stores.
    fn seal(&self) -> Result<(), SealError>;

    /// Makes all servers that share the stores forget the key. This server forgets it at once.
    fn seal_all(&self) -> Result<(), SealError>;
}

/// An automatic seal, which needs and allows no action of an operator.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutomaticSeal;

impl Seal for AutomaticSeal {
    fn status(&self) -> Result<Option<SealProgress>, SealError> {
        Ok(None)
    }

    fn begin_initialization(
        &self,
        shares: u32,
        _: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError> {
        if shares > 1 {
            return Err(SealError::Automatic.into());
        }
        Ok(Vec::new())
    }

    fn finish_initialization(&self) -> Result<(), SealError> {
        Ok(())
    }

    fn abandon_initialization(&self) -> Result<(), SealError> {
        Ok(())
    }

    fn unseal(&self, _: &[u8]) -> Result<SealProgress, UnsealError> {
        Err(SealError::Automatic.into())
    }

    fn reset_unseal(&self) -> Result<SealProgress, SealError> {
        Err(SealError::Automatic)
    }

    fn seal(&self) -> Result<(), SealError> {
        Err(SealError::Automatic)
    }

    fn seal_all(&self) -> Result<(), SealError> {
        Err(SealError::Automatic)
    }
}
