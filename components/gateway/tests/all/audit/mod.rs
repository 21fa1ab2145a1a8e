//! The audit records of an exchange, and the refusal of requests where none can be written (contract 6.5, SEC-L1, SEC-L2, SEC-L4).

mod failures;
mod records;
mod sinks;

use gatehouse_gateway::host::Side;

use super::recorder::Record;
use super::server::Server;

/// The two records of the only exchange since the last call.
#[track_caller]
fn exchange(server: &Server) -> (Record, Record) {
    let [request, response]: [Record; 2] = server.audit.take().try_into().unwrap();
    assert_eq!(
        (request.side, response.side),
        (Side::Request, Side::Response)
    );
    assert_eq!(
        request.document["request"]["id"],
        response.document["request"]["id"]
    );
    (request, response)
}
