//! The export `gatehouse:gateway/exchange`.

use std::borrow::Cow;

use super::bindings::exports::gatehouse::gateway::exchange::{Guest, Request, Response};
use super::{Component, answer_to};
use crate::http::Method;
use crate::received::Received;

impl Guest for Component {
    fn handle(request: Request) -> Response {
        let response = answer_to(Received {
            method: Method::named(&request.method),
            target: request.target,
            is_https: request.is_https,
            authority: request.authority,
            headers: request.headers,
            body: request.body,
        });
        let field = |(name, value): (&str, Cow<'_, str>)| (name.to_owned(), value.into_owned());
        Response {
            status: response.status,
            headers: response.headers.into_iter().map(field).collect(),
            body: response.body,
        }
    }
}
