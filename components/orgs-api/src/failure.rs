//! The failure of every call.

use gatehouse_ports::{RandomError, StoreError};
use gatehouse_storage::StorageError;

/// Why there is no answer. None of these says anything about the organizations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No operator has unsealed the store yet.
    #[error("the store of organizations is sealed: unseal the server first")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the log, without secrets.
    #[error("the store of organizations is unavailable: {0}")]
    Unavailable(String),
    /// Other writers kept changing the same records; worth trying again.
    #[error("too many writers change the same organizations: try again")]
    Contended,
    /// A stored record cannot be read; trying again does not help. The text is for the log, without secrets.
    #[error("a stored organization cannot be used: {0}")]
    Damaged(String),
    /// The host's source of randomness failed, so nothing was made.
    #[error("the host's source of randomness failed")]
    NoRandomness,
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Store(StoreError::Sealed) => Self::Sealed,
            StorageError::Store(StoreError::Unavailable(why)) => Self::Unavailable(why),
            StorageError::Contended(_) => Self::Contended,
            error => Self::Damaged(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        StorageError::from(error).into()
    }
}

impl From<RandomError> for Failure {
    fn from(_: RandomError) -> Self {
        Self::NoRandomness
    }
}

/// Lets `?` carry what the store fails with into the errors that wrap a [`Failure`].
macro_rules! wraps_failure {
    ($($error:ty),* $(,)?) => {$(
        impl From<gatehouse_storage::StorageError> for $error {
            fn from(error: gatehouse_storage::StorageError) -> Self {
                Self::Failed(error.into())
            }
        }
    )*};
}

pub(crate) use wraps_failure;
