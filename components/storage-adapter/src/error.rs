//! Faults below the tree, and the errors that a caller of the store gets for them.

use gatehouse_ports::{RandomError, StoreError};

use crate::node::DecodeError;

/// Why a page, or what it leads to, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// It is not there. That is well while a newer root counts, and means damage while none does.
    Missing,
    /// It was altered, cut, or moved.
    Damaged,
    /// The store fails as a whole.
    Store(StoreError),
}

impl PageError {
    /// A failure with this text, which is for the operator.
    pub fn unavailable(text: &str) -> Self {
        Self::Store(StoreError::Unavailable(text.to_owned()))
    }

    /// This fault, met on the way to `key`.
    pub fn on_the_way_to(self, key: &str) -> ReadError {
        let key = key.to_owned();
        ReadError { fault: self, key }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<RandomError> for PageError {
    fn from(error: RandomError) -> Self {
        Self::unavailable(&error.to_string())
    }
}

impl From<DecodeError> for PageError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Malformed => Self::Damaged,
            DecodeError::Newer { found } => Self::unavailable(&format!(
                "the store was written by a newer version of this software (layout {found}), and is left as it is: update"
            )),
        }
    }
}

/// A fault, and the key that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The fault.
    pub fault: PageError,
    /// On the way to which entry.
    pub key: String,
}

impl ReadError {
    /// The error for the caller, once it is clear that no newer root explains it.
    pub fn into_error(self) -> StoreError {
        match self.fault {
            PageError::Missing | PageError::Damaged => StoreError::Corrupt(self.key),
            PageError::Store(error) => error,
        }
    }
}
