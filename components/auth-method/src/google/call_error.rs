//! Why Google gave no answer to work with.

use serde::{Deserialize, Serialize};

use super::endpoints::Api;
use crate::GoogleCallError;

/// Why there is no answer to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallError {
    /// Google could not be reached in time, or answered 429 or 5xx.
    Unavailable(Api),
    /// The server's operator or its host does not allow the call.
    Denied(Api),
    /// The answer was not what the API promises: a redirect, too much of it, or something else than the JSON asked for.
    Unusable(Api),
}

impl From<CallError> for GoogleCallError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Denied(api) => Self::EndpointDenied(api.name().into()),
            CallError::Unusable(api) => Self::GoogleUnusable(api.name().into()),
            CallError::Unavailable(api) => Self::GoogleUnavailable(api.name().into()),
        }
    }
}
