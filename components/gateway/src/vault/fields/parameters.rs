//! The fields of a request as policies look at them: every one, `null` included, and none converted.

use gatehouse_access_api::{Operation, Parameter};
use serde::Serialize;

use super::input::{self, Content};
use crate::http::Request;
use crate::query;

/// The parameters of a request that does `operation`: those of the query for reads, those of the body for writes. A body that
/// cannot be read has none; it is refused once the caller is known to be allowed at all (contract 1.6).
pub(crate) fn parameters(request: &Request, operation: Operation) -> Vec<Parameter> {
    match operation {
        Operation::Read | Operation::List | Operation::Delete | Operation::Help => {
            query::gathered(&request.query)
                .into_iter()
                .filter(|(name, _)| !super::is_directive(name))
                .map(|(name, values)| match values.as_slice() {
                    [value] => parameter(&name, value),
                    values => parameter(&name, values),
                })
                .collect()
        }
        Operation::Update | Operation::CreateOrUpdate | Operation::Patch => {
            match input::content(request) {
                Ok(Content::Members(members)) => members
                    .into_iter()
                    .map(|(name, value)| parameter(&name, value))
                    .collect(),
                Ok(Content::Form(pairs)) => pairs
                    .into_iter()
                    .map(|(name, value)| parameter(&name, &value))
                    .collect(),
                Err(_) => Vec::new(),
            }
        }
    }
}

fn parameter(name: &str, value: &(impl Serialize + ?Sized)) -> Parameter {
    Parameter {
        name: name.to_owned(),
        // No text at all is no JSON, which no rule lets pass that looks at it.
        value: serde_json::to_string(value).unwrap_or_default(),
    }
}
