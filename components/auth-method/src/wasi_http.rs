//! Outgoing HTTP through the host: `wasi:http/outgoing-handler`.

use std::time::Duration;

use gatehouse_ports::{Http, HttpError, HttpRequest, HttpResponse, Method};
use url::{Position, Url};
use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    self, ErrorCode, Fields, FutureIncomingResponse, IncomingResponse, OutgoingBody,
    OutgoingRequest, Scheme,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{OutputStream, StreamError};

/// How much of an answer is taken from the host at a time.
const READ_BYTES: u64 = 64 * 1024;

/// Sends requests through the host.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WasiHttp;

impl Http for WasiHttp {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let timer = Timer::start(request.timeout);
        let outgoing = outgoing_request(request)?;
        let body = outgoing
            .body()
            .map_err(|()| failed("the request has no body"))?;
        // Without options: wasmtime 48 keeps their handle until the instance ends, and the timer bounds the whole exchange anyway.
        let future = outgoing_handler::handle(outgoing, None).map_err(|code| error_of(&code))?;
        send_body(body, &request.body, &timer)?;
        let answer = wait_for_answer(&future, &timer)?;
        let status = answer.status();
        let headers = answer
            .headers()
            .entries()
            .into_iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(&value).into_owned();
                (name.to_ascii_lowercase(), value)
            })
            .collect();
        Ok(HttpResponse {
            status,
            headers,
            body: receive_body(&answer, request.maximum_response_bytes, &timer)?,
        })
    }
}

/// The end of the time that an exchange has.
struct Timer(Pollable);

impl Timer {
    fn start(limit: Duration) -> Self {
        Self(monotonic_clock::subscribe_duration(nanoseconds(limit)))
    }

    /// Waits until `ready` is, but not beyond the end.
    fn wait(&self, ready: &Pollable) -> Result<(), HttpError> {
        if poll(&[ready, &self.0]).contains(&0) {
            Ok(())
        } else {
            Err(HttpError::TimedOut)
        }
    }
}

/// Never zero, which some hosts do not survive.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos())
        .unwrap_or(u64::MAX)
        .max(1_000_000)
}

fn outgoing_request(request: &HttpRequest) -> Result<OutgoingRequest, HttpError> {
    let url = Url::parse(&request.url).map_err(|_| HttpError::InvalidUrl)?;
    let scheme = match url.scheme() {
        "https" => Scheme::Https,
        "http" => Scheme::Http,
        _ => return Err(HttpError::InvalidUrl),
    };
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut headers: Vec<(String, Vec<u8>)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
        .collect();
    if !request.body.is_empty() {
        let length = request.body.len().to_string();
        headers.push(("content-length".to_owned(), length.into_bytes()));
    }
    let headers = Fields::from_list(&headers).map_err(|_| failed("a header is not valid"))?;
    let outgoing = OutgoingRequest::new(headers);
    let method = match request.method {
        Method::Get => types::Method::Get,
        Method::Post => types::Method::Post,
        Method::Delete => types::Method::Delete,
    };
    outgoing
        .set_method(&method)
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(target)))
        .map_err(|()| HttpError::InvalidUrl)?;
    Ok(outgoing)
}

/// Hands over as much of the body as the host takes. Why it takes no more the answer tells: it has as many bytes as were announced, it
/// has been answered, or it lets nothing out.
fn send_body(body: OutgoingBody, bytes: &[u8], timer: &Timer) -> Result<(), HttpError> {
    let is_whole = bytes.is_empty() || {
        let stream = body
            .write()
            .map_err(|()| failed("the request has no body"))?;
        write_all(&stream, bytes, timer)?
    };
    if is_whole {
        OutgoingBody::finish(body, None).map_err(|code| error_of(&code))?;
    }
    Ok(())
}

/// True if the host took everything.
fn write_all(stream: &OutputStream, bytes: &[u8], timer: &Timer) -> Result<bool, HttpError> {
    let ready = stream.subscribe();
    let mut rest = bytes;
    while !rest.is_empty() {
        timer.wait(&ready)?;
        let Some(room) = unless_closed(stream.check_write())? else {
            return Ok(false);
        };
        let size = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
        let (now, later) = rest.split_at(size);
        if unless_closed(stream.write(now))?.is_none() {
            return Ok(false);
        }
        rest = later;
    }
    if unless_closed(stream.flush())?.is_some() {
        timer.wait(&ready)?;
    }
    Ok(true)
}

/// `None` where the host does not read the stream any more.
fn unless_closed<T>(outcome: Result<T, StreamError>) -> Result<Option<T>, HttpError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(StreamError::Closed) => Ok(None),
        Err(StreamError::LastOperationFailed(error)) => Err(broken(&error)),
    }
}

fn wait_for_answer(
    future: &FutureIncomingResponse,
    timer: &Timer,
) -> Result<IncomingResponse, HttpError> {
    timer.wait(&future.subscribe())?;
    match future.get() {
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(code))) => Err(error_of(&code)),
        Some(Err(())) | None => Err(failed("the host gave no answer")),
    }
}

fn receive_body(
    answer: &IncomingResponse,
    maximum: usize,
    timer: &Timer,
) -> Result<Vec<u8>, HttpError> {
    let body = answer
        .consume()
        .map_err(|()| failed("the answer has no body"))?;
    let stream = body
        .stream()
        .map_err(|()| failed("the answer has no body"))?;
    let ready = stream.subscribe();
    let mut received = Vec::new();
    loop {
        match stream.read(READ_BYTES) {
            Ok(bytes) if bytes.is_empty() => timer.wait(&ready)?,
            Ok(bytes) => {
                if received.len() + bytes.len() > maximum {
                    return Err(HttpError::TooLarge);
                }
                received.extend_from_slice(&bytes);
            }
            Err(StreamError::Closed) => return Ok(received),
            Err(StreamError::LastOperationFailed(error)) => return Err(broken(&error)),
        }
    }
}

fn broken(error: &wasip2::io::error::Error) -> HttpError {
    types::http_error_code(error)
        .map_or_else(|| failed("the connection broke"), |code| error_of(&code))
}

fn error_of(code: &ErrorCode) -> HttpError {
    match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => HttpError::Denied,
        ErrorCode::HttpRequestUriInvalid => HttpError::InvalidUrl,
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::DnsTimeout
        | ErrorCode::HttpResponseTimeout => HttpError::TimedOut,
        ErrorCode::HttpResponseBodySize(_) => HttpError::TooLarge,
        other => HttpError::Failed(format!("{other:?}")),
    }
}

fn failed(why: &str) -> HttpError {
    HttpError::Failed(why.to_owned())
}
