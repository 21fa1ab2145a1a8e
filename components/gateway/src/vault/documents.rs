//! What is answered as it is, without the envelope that surrounds everything else.

use gatehouse_access_api::Operation;

use super::call::Call;
use super::errors::Fault;
use super::{facts, metrics, monitor, openapi};
use crate::Response;
use crate::vault::server::Server;

/// Answers an admitted request for one of the documents; `None` for every other path.
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>) -> Option<Result<Response, Fault>> {
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
            Operation::Read => metrics::read(server, call),
            _ => Err(Fault::unsupported_operation()),
        }),
        openapi::PATH => Some(openapi::response(server, call)),
        facts::IN_FLIGHT_PATH => Some(facts::in_flight(server, call)),
        monitor::PATH => Some(monitor::read(server, call)),
        _ => None,
    }
}

fn is_document(path: &str) -> bool {
    matches!(
        path,
        "sys/metrics" | openapi::PATH | facts::IN_FLIGHT_PATH | monitor::PATH
    )
}
