//! The failures that every call shares.

use gatehouse_ports::{RandomError, StoreError};
use gatehouse_storage::StorageError;

/// A call was not decided: not a refusal of the request, but a server that cannot answer now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No operator has initialized the server yet.
    #[error("the server is not initialized: initialize it first")]
    NotInitialized,
    /// No operator has unsealed the store yet.
    #[error("the store is sealed: unseal the server first")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the log, without secrets.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Other writers kept changing the same records; worth trying again.
    #[error("too many writers change the same records: try again")]
    Contended,
    /// A stored record cannot be read; trying again does not help. The text is for the log, without secrets.
    #[error("a stored record cannot be used: {0}")]
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

/// Lets `?` carry what the store and the generator of randomness fail with into the errors that wrap a [`Failure`].
macro_rules! wraps_failure {
    ($($error:ty),* $(,)?) => {$(
        impl From<gatehouse_storage::StorageError> for $error {
            fn from(error: gatehouse_storage::StorageError) -> Self {
                $crate::Failure::from(error).into()
            }
        }

        impl From<gatehouse_ports::RandomError> for $error {
            fn from(error: gatehouse_ports::RandomError) -> Self {
                $crate::Failure::from(error).into()
            }
        }
    )*};
}

pub(crate) use wraps_failure;
