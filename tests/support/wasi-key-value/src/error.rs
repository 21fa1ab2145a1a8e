//! Errors that a store answers instead of a record.

use crate::Cas;

/// The errors of `wasi:keyvalue/store`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The label is declared and no store stands behind it.
    #[error("no such store")]
    NoSuchStore,
    /// The label is not declared for this component.
    #[error("access denied")]
    AccessDenied,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// An error that only has a text.
    #[must_use]
    pub fn other(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

/// The errors of `wasi:keyvalue/atomics` `swap`.
#[derive(Debug)]
pub enum SwapError {
    /// The store failed.
    Store(Error),
    /// The record is not what it was; the new handle has already read what it is now.
    Failed(Cas),
}
