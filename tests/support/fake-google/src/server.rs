//! The HTTP server: connections in, answers and faults out.

use std::convert::Infallible;
use std::future;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::answer::{self, Answer};
use crate::endpoint::Route;
use crate::fault::Fault;
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

/// What every connection needs.
#[derive(Clone)]
pub(crate) struct Server {
    /// The state that answers come from.
    pub(crate) state: SharedState,
    /// Address of the token endpoint, which assertions have to name as their audience.
    pub(crate) token_url: String,
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
        let route = Route::of(&head.method, head.uri.path());
        let fault = {
            let mut state = self.state.lock();
            state
                .journal
                .record(route.endpoint(), &head.method, &head.uri, &head.headers);
            state.faults.next(route.endpoint())
        };

        let answer = match fault {
            None => self.answer(route, &head.headers, body).await,
            Some(Fault::Latency(pause)) => {
                tokio::time::sleep(pause).await;
                self.answer(route, &head.headers, body).await
            }
            Some(Fault::OversizedBody { bytes }) => {
                pad(self.answer(route, &head.headers, body).await, bytes)
            }
            Some(Fault::WrongAccount { account }) => {
                self.answer(route.for_account(&account), &head.headers, body)
                    .await
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

    async fn answer(&self, route: Route<'_>, headers: &HeaderMap, body: Incoming) -> Answer {
        match route {
            Route::Token => self.exchange_assertion(headers, body).await,
            Route::GoogleCertificates => self.state.lock().google_certificates(),
            Route::GoogleKeySet => self.state.lock().google_key_set(),
            Route::AccountCertificates { account } => {
                self.state.lock().account_certificates(&account)
            }
            Route::AccountKeySet { account } => self.state.lock().account_key_set(&account),
            Route::ServiceAccount { project, account } => {
                self.state
                    .lock()
                    .service_account(project, &account, headers, state::now())
            }
            Route::Unknown => answer::api_error(
                StatusCode::NOT_FOUND,
                "The requested URL was not found on this server.",
            ),
        }
    }

    async fn exchange_assertion(&self, headers: &HeaderMap, body: Incoming) -> Answer {
        let form = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        if !form.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return answer::oauth_error(
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "Invalid content type.",
            );
        }
        match Limited::new(body, REQUEST_BODY_LIMIT).collect().await {
            Ok(form) => self.state.lock().exchange_assertion(
                &form.to_bytes(),
                &self.token_url,
                state::now(),
            ),
            Err(_) => answer::oauth_error(
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "Request body not readable.",
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
