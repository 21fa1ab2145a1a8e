//! The export `gatehouse:gateway/exchange`.

use std::borrow::Cow;

use super::bindings::exports::gatehouse::gateway::exchange::{Guest, Response, ResumeError};
use super::{Component, answer_to, rest_of};
use crate::parts::{self, Part};
use crate::received::Received;

impl Guest for Component {
    fn handle(request: Received) -> Response {
        let response = answer_to(request);
        let field = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned());
        Response {
            status: response.status,
            headers: response.headers.into_iter().map(field).collect(),
            body: response.body,
            rest: response.rest,
            route: response.route,
        }
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
