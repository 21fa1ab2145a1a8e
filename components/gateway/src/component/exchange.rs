//! The export `gatehouse:gateway/exchange`.

use super::bindings::exports::gatehouse::gateway::exchange::{Guest, ResumeError};
use super::{Component, answer_to, rest_of};
use crate::Response;
use crate::parts::{self, Part};
use crate::received::Received;

impl Guest for Component {
    fn handle(request: Received) -> Response {
        answer_to(request)
    }

    fn resume(request: Received, continuation: Vec<u8>) -> Result<Part, ResumeError> {
        Ok(rest_of(request, &continuation)?)
    }
}

impl From<parts::ResumeError> for ResumeError {
    fn from(error: parts::ResumeError) -> Self {
        match error {
            parts::ResumeError::Foreign => Self::Foreign,
            parts::ResumeError::Refused => Self::Refused,
            parts::ResumeError::Failed => Self::Failed,
        }
    }
}
