//! Requests and responses of `wasi:http/incoming-handler` 0.2, with its streams and handles.

use std::time::Duration;

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, Method as WasiMethod, OutgoingBody, OutgoingResponse,
    ResponseOutparam, Scheme,
};
use wasip2::io::poll::poll;
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

use crate::http::Response;
use crate::parts::{Part, ResumeError};
use crate::received::Received;
use crate::request_body::BodyError;
use crate::{BODY_TIMEOUT, MAXIMUM_BODY_BYTES};

/// The number of bytes of a body that one read asks for.
const CHUNK_BYTES: u64 = 64 * 1024;
/// The number of bytes that WASI accepts in one blocking write.
const WRITE_BYTES: usize = 4096;

/// Reads a request completely.
///
/// # Errors
///
/// The answer to a request that cannot be read (400), or whose body takes too long (408).
pub fn read(incoming: IncomingRequest) -> Result<Received, Response> {
    let mut received = Received {
        id: None,
        method: method(incoming.method()),
        target: incoming.path_with_query().unwrap_or_default(),
        peer: None,
        is_https: matches!(incoming.scheme(), Some(Scheme::Https)),
        authority: incoming.authority(),
        headers: incoming.headers().entries(),
        body: Vec::new(),
    };
    if let Ok(body) = incoming.consume() {
        if let Ok(stream) = body.stream() {
            let body = read_body(&stream);
            received.body = body.map_err(|error| error.response(&received.target))?;
        }
        IncomingBody::finish(body);
    }
    Ok(received)
}

fn method(method: WasiMethod) -> String {
    let name = match method {
        WasiMethod::Get => "GET",
        WasiMethod::Head => "HEAD",
        WasiMethod::Post => "POST",
        WasiMethod::Put => "PUT",
        WasiMethod::Patch => "PATCH",
        WasiMethod::Delete => "DELETE",
        WasiMethod::Options => "OPTIONS",
        WasiMethod::Connect => "CONNECT",
        WasiMethod::Trace => "TRACE",
        WasiMethod::Other(name) => return name,
    };
    name.to_owned()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn read_body(stream: &InputStream) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    let (arrival, late) = (
        stream.subscribe(),
        subscribe_duration(nanoseconds(BODY_TIMEOUT)),
    );
    loop {
        match stream.read(CHUNK_BYTES) {
            Ok(chunk) if chunk.is_empty() => {
                // The arrival is the first of the two pollables.
                if !poll(&[&arrival, &late]).contains(&0) {
                    return Err(BodyError::Late);
                }
            }
            Ok(chunk) if body.is_empty() => body = chunk,
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(StreamError::Closed) => return Ok(body),
            Err(StreamError::LastOperationFailed(_)) => {
                return Err(BodyError::Broken);
            }
        }
        if body.len() > MAXIMUM_BODY_BYTES {
            // This is enough to show that the body is too large. The gateway refuses it in the form of the protocol that was meant.
            return Ok(body);
        }
    }
}

/// Sends a complete response. A client that has disconnected gets none, and no other code needs to know.
pub fn write_whole(response: Response, answer: ResponseOutparam) {
    write(response, answer, |_| Err(ResumeError::Foreign));
}

/// Sends a response, and the further parts of its body as `resume` returns them. This instance is held until the client has read all parts.
pub fn write(
    response: Response,
    answer: ResponseOutparam,
    resume: impl Fn(&[u8]) -> Result<Part, ResumeError>,
) {
    // The names and values are the gateway's own, and so well-formed.
    let headers = Fields::from_list(&response.fields()).unwrap_or_else(|_| Fields::new());
    let outgoing = OutgoingResponse::new(headers);
    let _ = outgoing.set_status_code(response.status);
    let body = outgoing.body();
    ResponseOutparam::set(answer, Ok(outgoing));
    if let Ok(body) = body {
        // An unfinished body shows the client that the answer is cut off.
        if write_parts(&body, response, resume).is_ok() {
            let _ = OutgoingBody::finish(body, None);
        }
    }
}

/// The reason why a body stays unfinished.
enum CutError {
    /// The client has stopped reading.
    Gone,
    /// The next part could not be made.
    NotResumed,
}

fn write_parts(
    body: &OutgoingBody,
    response: Response,
    resume: impl Fn(&[u8]) -> Result<Part, ResumeError>,
) -> Result<(), CutError> {
    if response.body.is_empty() && response.rest.is_none() {
        return Ok(());
    }
    let stream = body.write().map_err(|()| CutError::Gone)?;
    let mut part = Part {
        body: response.body,
        rest: response.rest,
    };
    loop {
        write_body(&stream, &part.body).map_err(|_| CutError::Gone)?;
        let Some(rest) = part.rest else {
            return Ok(());
        };
        if rest.wait > 0 {
            let wait = Duration::from_millis(rest.wait.into());
            subscribe_duration(nanoseconds(wait)).block();
        }
        part = resume(&rest.continuation).map_err(|_| CutError::NotResumed)?;
    }
}

fn write_body(stream: &OutputStream, bytes: &[u8]) -> Result<(), StreamError> {
    bytes
        .chunks(WRITE_BYTES)
        .try_for_each(|part| stream.blocking_write_and_flush(part))
}
