//! Requests and responses of `wasi:http/incoming-handler` 0.2: by streams and handles.

use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, Method as WasiMethod, OutgoingBody, OutgoingResponse,
    ResponseOutparam, Scheme,
};
use wasip2::io::streams::{InputStream, StreamError};

use crate::MAXIMUM_BODY_BYTES;
use crate::http::{Method, Response};
use crate::received::Received;
use crate::vault::error_response;

/// How much of a body is asked for at once.
const CHUNK_BYTES: u64 = 64 * 1024;
/// How much WASI takes in one blocking write.
const WRITE_BYTES: usize = 4096;

/// Reads a request completely.
///
/// # Errors
///
/// The answer to a request that cannot be read: 400.
pub fn read(incoming: IncomingRequest) -> Result<Received, Response> {
    let mut received = Received {
        method: method(&incoming.method()),
        target: incoming.path_with_query().unwrap_or_default(),
        is_https: matches!(incoming.scheme(), Some(Scheme::Https)),
        authority: incoming.authority(),
        headers: incoming.headers().entries(),
        body: Vec::new(),
    };
    if let Ok(body) = incoming.consume() {
        if let Ok(stream) = body.stream() {
            received.body = read_body(&stream)?;
        }
        IncomingBody::finish(body);
    }
    Ok(received)
}

fn method(method: &WasiMethod) -> Method {
    match method {
        WasiMethod::Get => Method::Get,
        WasiMethod::Head => Method::Head,
        WasiMethod::Post => Method::Post,
        WasiMethod::Put => Method::Put,
        WasiMethod::Patch => Method::Patch,
        WasiMethod::Delete => Method::Delete,
        WasiMethod::Options => Method::Options,
        WasiMethod::Other(name) => Method::named(name),
        WasiMethod::Connect | WasiMethod::Trace => Method::Other,
    }
}

fn read_body(stream: &InputStream) -> Result<Vec<u8>, Response> {
    let mut body = Vec::new();
    loop {
        match stream.blocking_read(CHUNK_BYTES) {
            Ok(chunk) if body.is_empty() => body = chunk,
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(StreamError::Closed) => return Ok(body),
            Err(StreamError::LastOperationFailed(_)) => {
                return Err(error_response(400, "the request body could not be read"));
            }
        }
        if body.len() > MAXIMUM_BODY_BYTES {
            // Enough to see that it is too large; the gateway refuses it in the words of the protocol that was meant.
            return Ok(body);
        }
    }
}

/// Sends a response. A client that is gone gets none, and nobody else needs to know.
pub fn write(response: Response, answer: ResponseOutparam) {
    let mut headers: Vec<(String, Vec<u8>)> = response
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
        .collect();
    if !response.body.is_empty() {
        let length = response.body.len().to_string();
        headers.push(("content-length".to_owned(), length.into_bytes()));
    }
    // Names and values are our own, and well-formed.
    let headers = Fields::from_list(&headers).unwrap_or_else(|_| Fields::new());
    let outgoing = OutgoingResponse::new(headers);
    let _ = outgoing.set_status_code(response.status);
    let body = outgoing.body();
    ResponseOutparam::set(answer, Ok(outgoing));
    if let Ok(body) = body {
        // An unfinished body tells the client that the answer is cut.
        if write_body(&body, &response.body).is_ok() {
            let _ = OutgoingBody::finish(body, None);
        }
    }
}

fn write_body(body: &OutgoingBody, bytes: &[u8]) -> Result<(), StreamError> {
    if bytes.is_empty() {
        return Ok(());
    }
    let stream = body.write().map_err(|()| StreamError::Closed)?;
    bytes
        .chunks(WRITE_BYTES)
        .try_for_each(|part| stream.blocking_write_and_flush(part))
}
