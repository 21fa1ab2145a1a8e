//! What is answered as it is, without the envelope that surrounds everything else.

use gatehouse_access::{Access, Operation};

use super::call::Call;
use super::errors::Fault;
use super::openapi;
use crate::{Gateway, Response};

/// Prometheus's text format.
const EXPOSITION_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

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
            Operation::Read => metrics(gateway, call),
            _ => Err(Fault::unsupported_operation()),
        }),
        openapi::PATH => Some(openapi::response(gateway, call)),
        _ => None,
    }
}

fn is_document(path: &str) -> bool {
    matches!(path, "sys/metrics" | openapi::PATH)
}

/// `sys/metrics`: what the host counts, in the one format that watchers agree on, whether they ask for it by name or not.
fn metrics<A, C, O>(gateway: &Gateway<A, C, O>, call: &Call<'_>) -> Result<Response, Fault> {
    let format = call.query_fields()?.string("format")?.unwrap_or_default();
    if !matches!(format.as_str(), "" | "prometheus") {
        return Err(Fault::plain(
            400,
            "metrics are written in one format: leave format out, or ask for prometheus",
        ));
    }
    let body = gateway.host.metrics.exposition().into_bytes();
    Ok(Response::new(200, EXPOSITION_MEDIA_TYPE, body))
}
