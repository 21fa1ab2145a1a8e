//! The HTTP server: connections in, answers and faults out.

use std::convert::Infallible;
use std::future;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{HeaderValue, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::answer::{self, Answer};
use crate::call::Call;
use crate::fault::Fault;
use crate::iam;
use crate::route::Route;
use crate::security_token;
use crate::state::{self, SharedState};

/// Longest body of a request that is read, in bytes.
const REQUEST_BODY_LIMIT: usize = 64 * 1024;
/// Pause after a failed `accept`, which would otherwise fail again at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Serves connections until the returned future is dropped, which also drops every connection.
pub(crate) async fn serve(listener: TcpListener, server: Server) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(server.clone().serve_connection(stream));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The reason for which hyper is told to drop a connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("connection closed on purpose")]
struct ClosedOnPurpose;

/// The state and settings that every connection needs.
#[derive(Clone)]
pub(crate) struct Server {
    /// The state that answers come from.
    pub(crate) state: SharedState,
    /// Base URL under which it is served.
    pub(crate) base_url: String,
}

impl Server {
    async fn serve_connection(self, stream: TcpStream) {
        // Only latency depends on it.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| self.respond(request));
        // An error here is the client's departure or a fault that was asked for.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
    ) -> Result<http::Response<Full<Bytes>>, ClosedOnPurpose> {
        let (head, body) = request.into_parts();
        let route = Route::parse(&head.method, head.uri.path());
        let fault = {
            let mut state = self.state.lock();
            state
                .journal
                .record(route.endpoint(), &head.method, &head.uri, &head.headers);
            state.faults.next(route.endpoint())
        };

        let answer = match fault {
            None => self.answer(route, &head, body).await,
            Some(Fault::Latency(pause)) => {
                tokio::time::sleep(pause).await;
                self.answer(route, &head, body).await
            }
            Some(Fault::OversizedBody { bytes }) => {
                pad(self.answer(route, &head, body).await, bytes)
            }
            Some(Fault::WrongAccount { account }) => {
                self.answer(route.for_account(&account), &head, body).await
            }
            Some(Fault::Status {
                status,
                retry_after_seconds,
            }) => failure(status, retry_after_seconds),
            Some(Fault::GarbageBody) => answer::bytes(
                StatusCode::OK,
                "text/html; charset=UTF-8",
                Bytes::from_static(b"<html>\xff<!-- not JSON"),
            ),
            Some(Fault::Redirect { location }) => redirect(&location),
            Some(Fault::Hang) => match future::pending::<Infallible>().await {},
            Some(Fault::CloseConnection) => return Err(ClosedOnPurpose),
        };
        Ok(answer.map(Full::new))
    }

    async fn answer(&self, route: Route<'_>, head: &Parts, body: Incoming) -> Answer {
        let body = Limited::new(body, REQUEST_BODY_LIMIT).collect().await;
        let call = Call {
            headers: &head.headers,
            query: head.uri.query().unwrap_or_default(),
            body: body.ok().map(Collected::to_bytes),
            now: state::now(),
            base_url: &self.base_url,
        };
        match route {
            Route::KeyDocument(request) => self.state.lock().answer_key_document(&request),
            Route::Token => self.state.lock().grant_token(&call),
            Route::SecurityToken => security_token::exchange(&self.state, &call).await,
            Route::Iam(request) => {
                answer::from_outcome(iam::answer(&self.state, &request, &call).await)
            }
            Route::Compute(request) => {
                answer::from_outcome(self.state.lock().answer_compute(&request, &call))
            }
            Route::ResourceManager(request) => {
                answer::from_outcome(self.state.lock().answer_resource_manager(&request, &call))
            }
            Route::Metadata(request) => self.state.lock().answer_metadata(&request, &call),
            Route::Unknown => answer::api_error(
                StatusCode::NOT_FOUND,
                "The requested URL was not found on this server.",
            ),
        }
    }
}

fn failure(status: StatusCode, retry_after_seconds: Option<u64>) -> Answer {
    let mut answer = answer::api_error(status, "The service is currently unable to answer.");
    if let Some(seconds) = retry_after_seconds {
        answer
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

fn redirect(location: &str) -> Answer {
    let mut answer = answer::bytes(StatusCode::FOUND, "text/html; charset=UTF-8", Bytes::new());
    if let Ok(location) = HeaderValue::from_str(location) {
        answer.headers_mut().insert(LOCATION, location);
    }
    answer
}

/// Trailing spaces are valid JSON, so that only a limit on length can refuse the answer.
fn pad(answer: Answer, length: usize) -> Answer {
    answer.map(|body| {
        let mut padded = BytesMut::from(body.as_ref());
        padded.resize(length.max(body.len()), b' ');
        padded.freeze()
    })
}
