//! The line that each answer leaves in the access log.

use std::net::IpAddr;
use std::time::Instant;

use http::{Method, Response};
use http_body::Body;

use super::answer::AnswerBody;
use super::request_id::RequestId;

/// The target of the lines, which goes to the access log and to no other. Without such a log a line costs nothing.
pub const TARGET: &str = "gatehouse::access";

/// The route that took a request, with `{name}` in place of what callers choose. The handler leaves it among the answer's extensions.
#[derive(Debug, Clone)]
pub struct Route(pub String);

/// The parts of a request that its line tells. Its path is none of them: it may hold names that only the audit log may tell, or a token.
pub(super) struct Line {
    began: Instant,
    method: Method,
    http: http::Version,
}

impl Line {
    /// Begins the line of a request; `None` where there is no access log.
    pub(super) fn begin<B>(request: &http::Request<B>) -> Option<Self> {
        tracing::enabled!(target: TARGET, tracing::Level::INFO).then(|| Self {
            began: Instant::now(),
            method: request.method().clone(),
            http: request.version(),
        })
    }

    /// Writes the line. `client` is the address that the server goes by, of the connection or told by a proxy.
    pub(super) fn end(self, id: Option<&RequestId>, client: IpAddr, answer: &Response<AnswerBody>) {
        let route = answer.extensions().get::<Route>();
        tracing::info!(
            target: TARGET,
            request_id = id.map(RequestId::as_str),
            client = %client,
            method = self.method.as_str(),
            route = route.map(|route| route.0.as_str()),
            http = ?self.http,
            status = answer.status().as_u16(),
            // Unknown of a body that is made in parts.
            bytes = answer.body().size_hint().exact(),
            microseconds = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        );
    }
}
