//! Why an API gave no answer to work with.

use serde::{Deserialize, Serialize};

use super::cached_answer::{Failure, Nature};
use super::call_error::CallError;
use crate::{ApiRefusal, CredentialsError, StorageError};

/// Why there is no answer to work with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ApiError {
    /// Google refused: 4xx, of which 404 and 403 concern the object that was asked for.
    Refused(ApiRefusal),
    Credentials(CredentialsError),
    Call(CallError),
    /// Concerns the login that met it alone.
    #[serde(skip)]
    Storage(StorageError),
}

impl Failure for ApiError {
    fn nature(&self) -> Nature {
        match self {
            Self::Refused(refusal) if refusal.status == 404 => Nature::Absence,
            Self::Refused(_) => Nature::Refusal,
            Self::Credentials(_) | Self::Call(CallError::Denied(_)) => Nature::Obstacle,
            Self::Call(CallError::Unavailable(_) | CallError::Unusable(_)) => Nature::Outage,
            Self::Storage(_) => Nature::OwnTrouble,
        }
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<CredentialsError> for ApiError {
    fn from(failure: CredentialsError) -> Self {
        Self::Credentials(failure)
    }
}
