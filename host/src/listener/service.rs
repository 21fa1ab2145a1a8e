//! The way of one request from the HTTP library to the handler.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    CACHE_CONTROL, CONNECTION, HOST, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY,
    TRANSFER_ENCODING, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, Version};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::Route;
use super::access_log::Line;
use super::activity::Activity;
use super::answer::AnswerBody;
use super::guarded_stream::RefusedMessage;
use super::handler::RequestHandler;
use super::limits::Limits;
use super::peer::TrustedProxies;
use super::request_error::{Dialect, RequestError};
use super::request_id::{self, RequestId, in_request};
use crate::traces::RequestSpan;

/// The state that all connections of a listener share.
pub(super) struct Shared<H> {
    pub(super) handler: Arc<H>,
    pub(super) limits: Limits,
    pub(super) proxies: TrustedProxies,
    /// True if clients come by TLS.
    pub(super) is_tls: bool,
}

/// One connection's side of its requests.
pub(super) struct Exchange<H> {
    pub(super) shared: Arc<Shared<H>>,
    pub(super) socket: IpAddr,
    pub(super) activity: Arc<Activity>,
    /// Set for HTTP/1 only.
    pub(super) refused: Option<Arc<RefusedMessage>>,
}

impl<H: RequestHandler> Exchange<H> {
    /// Answers a request, one way or the other.
    pub(super) async fn serve(&self, mut request: Request<Incoming>) -> Response<AnswerBody> {
        let (running, ordinal) = self.activity.begin();
        let id = RequestId::fresh();
        let mut line = Line::begin(&request, id, self.socket);
        let traced = RequestSpan::begin(&request, id.as_ref());
        let is_http1 = request.version() != Version::HTTP_2;
        let is_last = is_http1 && request.headers().contains_key(TRANSFER_ENCODING);
        let dialect = Dialect::serving(request.uri().path());

        let stand_in = self
            .refused
            .as_ref()
            .and_then(|refused| refused.refusal_of(ordinal));
        let (mut answer, close) = match stand_in {
            Some((refusal, dialect)) => (refusal.answer(dialect).map(AnswerBody::from), true),
            None => {
                traced.attach(request.extensions_mut());
                let passing = in_request(id, self.pass_on(request, id, line.as_mut()));
                match timeout(self.shared.limits.request_timeout, passing).await {
                    Ok(Ok(answer)) => (answer, is_last),
                    Ok(Err(refusal)) => (
                        refusal.answer(dialect).map(AnswerBody::from),
                        is_last || refusal.ends_connection(),
                    ),
                    Err(_) => {
                        let answer = RequestError::RequestTimeout.answer(dialect);
                        (answer.map(AnswerBody::from), true)
                    }
                }
            }
        };
        self.finish(&mut answer, id, close && is_http1);
        if let Some(line) = line {
            line.end(&answer);
        }
        let route = answer.extensions().get::<Route>();
        traced.end(answer.status(), route.map(|route| route.0.as_str()));
        running.finish();
        answer.map(|body| body.sent_by(&self.activity))
    }

    /// Has the handler answer.
    async fn pass_on(
        &self,
        request: Request<Incoming>,
        id: Option<RequestId>,
        line: Option<&mut Line>,
    ) -> Result<Response<AnswerBody>, RequestError> {
        let limits = &self.shared.limits;
        self.check_head(&request)?;
        let peer = self.shared.proxies.client(self.socket, request.headers())?;
        if let Some(line) = line {
            line.client = peer;
        }
        let (mut parts, body) = request.into_parts();
        if let Some(id) = id {
            parts.extensions.insert(id);
        }
        self.shared
            .proxies
            .drop_unproven(self.socket, &mut parts.headers);
        if parts.version == Version::HTTP_10 && !parts.headers.contains_key(HOST) {
            parts
                .headers
                .insert(HOST, HeaderValue::from_static("localhost"));
        }
        let body = read_body(body, limits.body_bytes, limits.body_timeout).await?;
        let request = Request::from_parts(parts, body);
        self.shared.handler.handle(request, peer).await
    }

    /// The rules that HTTP/2 requests have not been held to yet, and those for both versions.
    fn check_head(&self, request: &Request<Incoming>) -> Result<(), RequestError> {
        let head = &self.shared.limits.head;
        if request.method() == Method::CONNECT {
            return Err(RequestError::Method);
        }
        if request.version() != Version::HTTP_2 {
            return Ok(());
        }
        let target = request
            .uri()
            .path_and_query()
            .map_or(0, |target| target.as_str().len());
        if target > head.target_bytes {
            return Err(RequestError::TargetTooLong);
        }
        if request.headers().len() > head.fields {
            return Err(RequestError::HeadersTooLarge);
        }
        if request.uri().authority().is_none() && !request.headers().contains_key(HOST) {
            return Err(RequestError::Malformed("the authority is missing"));
        }
        let is_text = |value: &HeaderValue| str::from_utf8(value.as_bytes()).is_ok();
        if request.headers().values().all(is_text) {
            Ok(())
        } else {
            Err(RequestError::HeaderNotText)
        }
    }

    /// The headers that every answer has (SEC-H12; contract 1.2).
    fn finish(&self, answer: &mut Response<AnswerBody>, id: Option<RequestId>, close: bool) {
        const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
        const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
        const ONE_YEAR: HeaderValue =
            HeaderValue::from_static("max-age=31536000; includeSubDomains");
        let mut always = |name: HeaderName, value: HeaderValue| {
            answer.headers_mut().entry(name).or_insert(value);
        };
        always(CACHE_CONTROL, NO_STORE);
        always(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
        if let Some(id) = id.and_then(RequestId::to_value) {
            always(request_id::FIELD, id);
        }
        if self.shared.is_tls {
            always(STRICT_TRANSPORT_SECURITY, ONE_YEAR);
        }
        if close {
            answer
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Takes in a whole body, so that a slow client holds nothing but its own connection.
async fn read_body(body: Incoming, limit: usize, time: Duration) -> Result<Bytes, RequestError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let expected = body.size_hint().lower();
    if expected > limit as u64 {
        return Err(RequestError::BodyTooLarge);
    }
    timeout(time, collect(body, limit))
        .await
        .map_err(|_| RequestError::BodyTimeout)?
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, RequestError> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            RequestError::Malformed("the body ended early or its framing is not valid")
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - whole.len() {
            return Err(RequestError::BodyTooLarge);
        }
        // Most bodies come in one piece, which needs no copy.
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}
