//! The seal: who holds the key of everything that is stored.

use zeroize::Zeroizing;

pub use super::bindings::gatehouse::host::seal::Progress as SealProgress;

/// A failure beside those that a function names itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The stores cannot be reached or hold what they should not. The text is for the log, without secrets.
    #[error("the seal is unavailable: {0}")]
    Unavailable(String),
    /// There are no shares.
    #[error("the server unseals itself: restart it")]
    Automatic,
}

/// Why no shares were made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InitializeSealError {
    /// They exist, or another caller is making them at this moment.
    #[error("the server is already initialized")]
    AlreadyInitialized,
    /// Numbers that no shares can have.
    #[error("there are 1 to 255 shares, of which 2 to all unseal, or 1 of 1")]
    InvalidNumbers,
    /// The seal does not work, or has no shares.
    #[error(transparent)]
    Failure(#[from] SealError),
}

/// Why a share was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// No shares have been made yet.
    #[error("the server is not initialized: initialize it first")]
    NotInitialized,
    /// It is not a share, by its length.
    #[error("this is not a share of the key")]
    Malformed,
    /// One of the shares at least is wrong. The others are kept, unless too many are.
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
    /// How far the seal of shares is; `None` where the seal is automatic.
    fn status(&self) -> Result<Option<SealProgress>, SealError>;

    /// Makes the key and its shares and opens the stores.
    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError>;

    /// Ends what [`Self::begin_initialization`] began.
    fn finish_initialization(&self) -> Result<(), SealError>;

    /// Gives up what [`Self::begin_initialization`] began: the server is empty again.
    fn abandon_initialization(&self) -> Result<(), SealError>;

    /// Gives one share.
    fn unseal(&self, share: &[u8]) -> Result<SealProgress, UnsealError>;

    /// Forgets the shares that were given so far.
    fn reset_unseal(&self) -> Result<SealProgress, SealError>;

    /// Forgets the key: the stores are closed from now on.
    fn seal(&self) -> Result<(), SealError>;

    /// Makes all servers that share the stores forget the key, this one at once.
    fn seal_all(&self) -> Result<(), SealError>;
}

/// An automatic seal, for which an operator needs to do nothing and can do nothing.
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
