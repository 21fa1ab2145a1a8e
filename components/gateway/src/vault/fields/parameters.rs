//! The fields of a request as policies see them: all fields, including `null`, and unconverted.

use gatehouse_access_api::{Operation, Parameter};

use super::input::{self, Content};
use crate::admission::{parameter, parameters_of_query};
use crate::http::Request;

/// The parameters of a request that does `operation`: those of the query for reads, those of the body for writes. A body that cannot be read has no
/// parameters; it is refused once the caller is known to be allowed (contract 1.6).
pub(crate) fn parameters(request: &Request, operation: Operation) -> Vec<Parameter> {
    match operation {
        Operation::Read | Operation::List | Operation::Delete | Operation::Help => {
            parameters_of_query(&request.query)
                .filter(|parameter| !input::is_directive(&parameter.name))
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
