//! The export `gatehouse:gateway/exchange`.

use std::borrow::Cow;

use super::bindings::exports::gatehouse::gateway::exchange::{
    Guest, Part, Request, Response, Rest, ResumeError,
};
use super::{Component, answer_to, rest_of};
use crate::http::Method;
use crate::parts;
use crate::received::Received;

impl Guest for Component {
    fn handle(request: Request) -> Response {
        let response = answer_to(request.into());
        let field = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned());
        Response {
            status: response.status,
            headers: response.headers.into_iter().map(field).collect(),
            body: response.body,
            rest: response.rest.map(Into::into),
            route: response.route,
        }
    }

    fn resume(request: Request, continuation: Vec<u8>) -> Result<Part, ResumeError> {
        let part = rest_of(request.into(), &continuation)?;
        Ok(Part {
            body: part.body,
            rest: part.rest.map(Into::into),
        })
    }
}

impl From<Request> for Received {
    fn from(request: Request) -> Self {
        Self {
            id: request.id,
            method: Method::named(&request.method),
            target: request.target,
            peer: request.peer,
            is_https: request.is_https,
            authority: request.authority,
            headers: request.headers,
            body: request.body,
        }
    }
}

impl From<parts::Rest> for Rest {
    fn from(rest: parts::Rest) -> Self {
        Self {
            continuation: rest.continuation,
            wait: rest.wait,
        }
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
