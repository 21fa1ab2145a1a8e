//! Why there is no key.

use serde::{Deserialize, Serialize};

use super::cached_answer::{Failure, Nature};
use super::call_error::CallError;
use crate::KeyLookupError;

/// Why there is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeyError {
    Call(CallError),
    Refused(KeyLookupError),
}

impl From<CallError> for KeyError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl Failure for KeyError {
    fn nature(&self) -> Nature {
        match self {
            Self::Call(CallError::Unavailable(_) | CallError::Unusable(_)) => Nature::Outage,
            Self::Call(CallError::Denied(_)) => Nature::Obstacle,
            // Anything but 404 may be a fault on the way to a document that is as good as before. Its keys end with its life, and the
            // account is asked about at every login beside them (SEC-G7).
            Self::Refused(KeyLookupError::DocumentUnreadable) => Nature::Reticence,
            // Google says that the account is gone.
            Self::Refused(_) => Nature::Absence,
        }
    }
}
