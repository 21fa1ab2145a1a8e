//! The handler of WASI 0.3. Spin uses an instance again, also for requests whose clients are slow beside each other.

use std::time::Duration;

use gatehouse_gateway::{BODY_TIMEOUT, BodyError, MAXIMUM_BODY_BYTES, Part, Received, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use spin_sdk::http;
use spin_sdk::wasip3::exports::http::handler::Guest;
use spin_sdk::wasip3::http::service;
use spin_sdk::wasip3::http::types::{ErrorCode, Fields, Request, Response as WasiResponse, Scheme};
use spin_sdk::wasip3::http_compat::{BodyWriter, IncomingRequestBody};
use spin_sdk::wasip3::spawn;

use crate::client_address;
use crate::front::{self, Resumption};
use crate::turn::Turn;

/// How long a client may take to read a part of an answer. One that takes longer holds a place in an instance all the time, and is cut off.
const PART_TIMEOUT: Duration = Duration::from_secs(30);

struct Component;

service::export!(Component);

// The SDK's handler would convert head and target to types of the `http` crate, from which they would be converted again.
impl Guest for Component {
    async fn handle(request: Request) -> Result<WasiResponse, ErrorCode> {
        let mut turn = Turn::take();
        let (response, resumption) = match read(request, &mut turn).await {
            Ok(received) => front::answer(received),
            Err(refusal) => (refusal, None),
        };
        let (outgoing, writer) = begin(&response);
        spawn(async move {
            write(writer, response, resumption, &mut turn).await;
            front::run_background_now_and_then();
            drop(turn);
        });
        Ok(outgoing)
    }
}

async fn read(request: Request, turn: &mut Turn) -> Result<Received, Response> {
    let method = http::Method::try_from(request.get_method());
    let headers = request.get_headers().copy_all();
    let has = |name: &str| {
        headers
            .iter()
            .any(|(found, _)| found.eq_ignore_ascii_case(name))
    };
    // Each question is a call of the host, so the host is not asked for what a header says.
    let authority = (!has("host")).then(|| request.get_authority()).flatten();
    let is_https =
        !has(client_address::FULL_URL) && matches!(request.get_scheme(), Some(Scheme::Https));
    let mut received = Received {
        id: None,
        // One that is no method of HTTP has no name, and is served by none.
        method: method.map_or_else(|_| String::new(), |it| it.as_str().to_owned()),
        target: request.get_path_with_query().unwrap_or_default(),
        peer: None,
        is_https,
        authority,
        headers,
        body: Vec::new(),
    };
    if may_have_body(&received) {
        let body = whole_body(request, turn).await;
        received.body = body.map_err(|error| error.response(&received.target))?;
    }
    Ok(received)
}

async fn whole_body(request: Request, turn: &mut Turn) -> Result<Vec<u8>, BodyError> {
    let broken = |_| BodyError::Broken;
    let body = IncomingRequestBody::new(request).map_err(broken)?;
    let reading = turn.waiting_for(BODY_TIMEOUT, read_body(body)).await;
    reading.ok_or(BodyError::Late)?.map_err(broken)
}

/// False for a request that only reads and announces no length: reads use no body, and the end of one that is not there takes several
/// calls of the host to find.
fn may_have_body(received: &Received) -> bool {
    let only_reads = matches!(&*received.method, "GET" | "HEAD" | "LIST");
    let announces_length = |(name, value): &(String, Vec<u8>)| {
        name.eq_ignore_ascii_case("content-length") && value != b"0"
    };
    !only_reads || received.headers.iter().any(announces_length)
}

async fn read_body(mut body: IncomingRequestBody) -> Result<Vec<u8>, ErrorCode> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > MAXIMUM_BODY_BYTES {
            // Enough to see that it is too large; the gateway refuses it in the words of the protocol that was meant.
            break;
        }
    }
    Ok(bytes)
}

/// Sends the body of an answer; a part is made when the one before has been read. None has to be waited for: that happens only to the lines
/// of a host's log, which Spin does not lend. A body that is not sent whole ends with an error, so that it does not look complete; no other
/// part needs to know of it.
async fn write(
    mut writer: BodyWriter,
    response: Response,
    resumption: Option<Resumption>,
    turn: &mut Turn,
) {
    let mut part = Part {
        body: response.body,
        rest: response.rest,
    };
    loop {
        if !part.body.is_empty() {
            let sending = writer.send_frame(Frame::data(part.body));
            if !matches!(turn.waiting_for(PART_TIMEOUT, sending).await, Some(Ok(_))) {
                return;
            }
        }
        let Some(rest) = part.rest else {
            break;
        };
        let next = resumption.as_ref().map(|it| it.part(&rest.continuation));
        let Some(Ok(next)) = next else {
            return;
        };
        part = next;
    }
    drop(writer.stream_writer);
    // The host takes the end when it has taken the last part, for which it may wait as well.
    let ending = writer.result_writer.write(Ok(None));
    let _ = turn.waiting_for(PART_TIMEOUT, ending).await;
}

/// The answer without its body, and what the body is to be written to.
fn begin(response: &Response) -> (WasiResponse, BodyWriter) {
    // Names and values are our own, and well-formed.
    let headers = Fields::from_list(&response.fields()).unwrap_or_else(|_| Fields::new());
    let (writer, body, end) = BodyWriter::new();
    let (outgoing, _) = WasiResponse::new(headers, Some(body), end);
    let _ = outgoing.set_status_code(response.status);
    (outgoing, writer)
}
