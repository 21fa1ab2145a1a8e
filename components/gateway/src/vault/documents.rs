//! What is answered as it is, without the envelope that surrounds everything else.

use gatehouse_access_api::{Access, Operation};

use super::call::Call;
use super::errors::Fault;
use super::{facts, metrics, monitor, openapi};
use crate::{Gateway, Response};

/// Answers an admitted request for one of the documents; `None` for every other path.
pub(super) fn handle<A, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    call: &Call<'_>,
) -> Option<Result<Response, Fault>> {
    if call.operation != Operation::Help && is_document(call.path) && call.wrap_ttl.is_some() {
        // A policy may let pass only who asks for a wrapped answer; it would get one that is not.
        let text = "documents cannot be wrapped: ask without X-Vault-Wrap-TTL";
        return Some(Err(Fault::plain(400, text)));
    }
    if call.operation == Operation::Help {
        return Some(openapi::help(call));
    }
    match call.path {
        "sys/metrics" => Some(match call.operation {
            Operation::Read => metrics::read(gateway, call),
            _ => Err(Fault::unsupported_operation()),
        }),
        openapi::PATH => Some(openapi::response(gateway, call)),
        facts::IN_FLIGHT_PATH => Some(facts::in_flight(gateway, call)),
        monitor::PATH => Some(monitor::read(gateway, call)),
        _ => None,
    }
}

fn is_document(path: &str) -> bool {
    matches!(
        path,
        "sys/metrics" | openapi::PATH | facts::IN_FLIGHT_PATH | monitor::PATH
    )
}
