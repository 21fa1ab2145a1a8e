//! Requests of clients, answered by the composed components.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use http::header::HOST;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use tokio::sync::watch;
use wasmtime::component::InstancePre;

use crate::further_parts::{Followers, FurtherParts};
use crate::listener::{AnswerBody, RequestError, RequestHandler, RequestId};
use crate::metrics::{Protocol, ServerMetrics};
use crate::runtime::exchange::{BodyPart, Peer, ServeError};
use crate::runtime::pool::{Pool, PoolSettings};
use crate::runtime::state::{Grants, InstanceState};
use crate::settings::Settings;

/// Answers requests by the composed components.
pub struct ComponentHandler {
    pool: Arc<Pool>,
    /// True if clients come by TLS.
    is_tls: bool,
    metrics: Arc<ServerMetrics>,
    /// How long a part of an answer may take.
    part_time: Duration,
    followers: Followers,
    /// Turns true when the server stops: answers without an end end then.
    stopping: watch::Sender<bool>,
}

impl ComponentHandler {
    pub(super) fn new(
        settings: &Settings,
        template: InstancePre<InstanceState>,
        grants: Grants,
        metrics: Arc<ServerMetrics>,
    ) -> Result<Self> {
        let limits = &settings.limits;
        let pool = PoolSettings {
            instances: limits.instances,
            instance_reuse: limits.instance_reuse,
            queue: limits.queue,
            wall_time: limits.instance_wall_time,
        };
        let pool = match settings.console.enabled {
            true => Pool::with_console(template, grants, pool)?,
            false => Pool::new(template, grants, pool)?,
        };
        metrics.watch(&pool);
        Ok(Self {
            pool,
            metrics,
            is_tls: settings.listener.tls_files().is_some(),
            part_time: limits.request_timeout,
            followers: Followers::default(),
            stopping: watch::Sender::new(false),
        })
    }

    /// Ends the answers without an end: the server stops.
    pub(super) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// The body that begins with `first`, an answer to `request`.
    ///
    /// # Errors
    ///
    /// When there are too many bodies without an end.
    fn body(&self, request: &Request<Bytes>, first: BodyPart) -> Result<AnswerBody, ServeError> {
        let Some(rest) = first.rest else {
            return Ok(first.bytes.into());
        };
        let place = self.followers.admit(&rest)?;
        let parts = FurtherParts {
            pool: Arc::clone(&self.pool),
            metrics: Arc::clone(&self.metrics),
            request: Arc::new(without_body(request)),
            time: self.part_time,
            stopping: self.stopping.subscribe(),
            _place: place,
        };
        Ok(parts.after(first.bytes, rest))
    }
}

/// The part of a request that is kept for as long as a client reads the answer, which may be for days.
fn without_body(request: &Request<Bytes>) -> Request<Bytes> {
    let mut kept = Request::new(Bytes::new());
    kept.method_mut().clone_from(request.method());
    kept.uri_mut().clone_from(request.uri());
    *kept.version_mut() = request.version();
    kept.headers_mut().clone_from(request.headers());
    // The caller is admitted again for each part, by the address too.
    keep_extension::<Peer>(request, &mut kept);
    keep_extension::<RequestId>(request, &mut kept);
    kept
}

fn keep_extension<E: Clone + Send + Sync + 'static>(
    request: &Request<Bytes>,
    kept: &mut Request<Bytes>,
) {
    if let Some(extension) = request.extensions().get::<E>() {
        kept.extensions_mut().insert(extension.clone());
    }
}

impl RequestHandler for ComponentHandler {
    async fn handle(
        &self,
        mut request: Request<Bytes>,
        peer: IpAddr,
    ) -> Result<Response<AnswerBody>, RequestError> {
        request.extensions_mut().insert(Peer(peer));
        if self.is_tls {
            set_scheme(&mut request, Scheme::HTTPS);
        } else if request.uri().scheme() == Some(&Scheme::HTTPS) {
            // The client's own word in an absolute target or in HTTP/2, which proves nothing.
            set_scheme(&mut request, Scheme::HTTP);
        }
        let started = Instant::now();
        let protocol = Protocol::serving(request.uri().path());
        let request = Arc::new(request);
        let answer = self.pool.serve(Arc::clone(&request)).await;
        let answer = answer.and_then(|answer| {
            let (head, first) = answer.into_parts();
            Ok(Response::from_parts(head, self.body(&request, first)?))
        });
        let answer = answer.map_err(|error| {
            self.metrics.unanswered(&error);
            refusal(&error)
        })?;
        self.metrics
            .answered(protocol, answer.status().as_u16(), started.elapsed());
        Ok(answer)
    }
}

fn refusal(error: &ServeError) -> RequestError {
    if !matches!(error, ServeError::Overloaded) {
        tracing::error!(%error, "a request failed");
    }
    match error {
        ServeError::Overloaded => RequestError::Overloaded,
        ServeError::TimedOut(_) => RequestError::RequestTimeout,
        ServeError::NotResumed(_) | ServeError::Failed(_) => RequestError::Internal,
    }
}

/// Gives the request's URI a scheme, which a request over HTTP/1.1 does not carry by itself.
fn set_scheme(request: &mut Request<Bytes>, scheme: Scheme) {
    let host = request.headers().get(HOST);
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = Some(scheme);
    if parts.authority.is_none() {
        parts.authority = host.and_then(|host| host.as_bytes().try_into().ok());
    }
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::task::JoinSet;

    use super::*;
    use crate::listener::Listener;

    /// A handler that never answers in time.
    struct Late;

    impl RequestHandler for Late {
        async fn handle(
            &self,
            _: Request<Bytes>,
            _: IpAddr,
        ) -> Result<Response<AnswerBody>, RequestError> {
            Err(refusal(&ServeError::TimedOut(Duration::from_secs(30))))
        }
    }

    #[tokio::test]
    async fn a_component_that_takes_too_long_is_told_as_that_in_the_form_of_either_api() {
        let text = "storage.type = \"memory\"\nlistener.address = \"127.0.0.1:0\"";
        let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
        let listener = Listener::bind(&settings.listener, &settings.limits)
            .await
            .unwrap();
        let address = listener.local_address();
        let mut serving = JoinSet::new();
        serving.spawn(listener.serve(Arc::new(Late), std::future::pending()));
        for (path, body) in [
            (
                "/v1/sys/auth",
                r#"{"errors":["the request took too long"]}"#,
            ),
            (
                "/api/v2/organizations",
                r#"{"errors":[{"status":"503","title":"service unavailable","detail":"the request took too long"}]}"#,
            ),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.ends_with(body), "{answer}");
        }
    }
}
