//! The handler of WASI 0.3. Spin uses an instance again, also for requests whose clients are slow beside each other.

use std::time::Duration;

use gatehouse_gateway::{
    BODY_TIMEOUT, MAXIMUM_BODY_BYTES, Method, Part, Received, Response, vault,
};
use http_body::Frame;
use http_body_util::BodyExt;
use spin_sdk::http::Request;
use spin_sdk::wasip3::http::types::{Fields, Response as WasiResponse};
use spin_sdk::wasip3::http_compat::{BodyWriter, IncomingRequestBody};

use crate::front::{self, Resumption};
use crate::turn::Turn;

/// How long a client may take to read a part of an answer. One that takes longer holds a place in an instance all the time, and is cut off.
const PART_TIMEOUT: Duration = Duration::from_secs(30);

#[spin_sdk::http_service]
async fn serve(request: Request) -> WasiResponse {
    let mut turn = Turn::take();
    let (response, resumption) = match read(request, &mut turn).await {
        Ok(received) => front::answer(received),
        Err(refusal) => (refusal, None),
    };
    let (outgoing, writer) = begin(&response);
    spin_sdk::wasip3::spawn(async move {
        write(writer, response, resumption, &mut turn).await;
        front::run_background_now_and_then();
        drop(turn);
    });
    outgoing
}

async fn read(request: Request, turn: &mut Turn) -> Result<Received, Response> {
    let (head, body) = request.into_parts();
    let target = head.uri.path_and_query();
    let mut received = Received {
        id: None,
        method: Method::named(head.method.as_str()),
        target: target.map(ToString::to_string).unwrap_or_default(),
        is_https: head.uri.scheme_str() == Some("https"),
        authority: head.uri.authority().map(ToString::to_string),
        headers: Vec::with_capacity(head.headers.len()),
        body: Vec::new(),
    };
    for (name, value) in &head.headers {
        let field = (name.as_str().to_owned(), value.as_bytes().to_vec());
        received.headers.push(field);
    }
    if may_have_body(&received) {
        let reading = turn.waiting_for(BODY_TIMEOUT, read_body(body));
        let late = || vault::error_response(408, "the request body took too long");
        received.body = reading.await.ok_or_else(late)??;
    }
    Ok(received)
}

/// False for a request that only reads and announces no body: to ask the host for the end of what is not there takes it longer than many an
/// answer. Such a request is answered in the same way with a body.
fn may_have_body(received: &Received) -> bool {
    let only_reads = matches!(received.method, Method::Get | Method::Head | Method::List);
    let mut names = received.headers.iter().map(|(name, _)| name);
    !only_reads || names.any(|name| name.eq_ignore_ascii_case("content-length"))
}

async fn read_body(mut body: IncomingRequestBody) -> Result<Vec<u8>, Response> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| vault::error_response(400, "the request body could not be read"))?;
        if let Ok(data) = frame.into_data() {
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
