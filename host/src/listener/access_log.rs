//! The line that each answer leaves in the access log.

use std::net::IpAddr;
use std::time::Instant;

use http::{Method, Response};
use http_body::Body;

use super::answer::AnswerBody;
use super::request_id::RequestId;

/// The target of the lines, which goes to the access log and to no other. Without such a log a line costs nothing.
pub const ACCESS_LOG: &str = "gatehouse::access";

/// The route that took a request, with `{name}` in place of what callers choose. The handler leaves it among the answer's extensions.
#[derive(Debug, Clone)]
pub struct Route(pub String);

/// The parts of a request that its line shows. Its path is not among them: it may hold a token, or names that only the audit log may show.
///
/// A line that is dropped before its end is written too, without a status: its client went away before there was an answer.
pub(super) struct Line {
    began: Instant,
    id: Option<RequestId>,
    method: Method,
    http: http::Version,
    /// The address that the server goes by: of the connection, until a proxy has told another.
    pub(super) client: IpAddr,
    is_written: bool,
}

impl Line {
    /// Begins the line of a request; `None` where there is no access log.
    pub(super) fn begin<B>(
        request: &http::Request<B>,
        id: Option<RequestId>,
        client: IpAddr,
    ) -> Option<Self> {
        tracing::enabled!(target: ACCESS_LOG, tracing::Level::INFO).then(|| Self {
            began: Instant::now(),
            id,
            method: request.method().clone(),
            http: request.version(),
            client,
            is_written: false,
        })
    }

    /// Writes the line of a request that was answered.
    pub(super) fn end(mut self, answer: &Response<AnswerBody>) {
        self.write(Some(answer));
    }

    fn write(&mut self, answer: Option<&Response<AnswerBody>>) {
        self.is_written = true;
        let route = answer.and_then(|answer| answer.extensions().get::<Route>());
        tracing::info!(
            target: ACCESS_LOG,
            request_id = self.id.as_ref().map(RequestId::as_str),
            client = %self.client,
            method = self.method.as_str(),
            route = route.map(|route| route.0.as_str()),
            http = ?self.http,
            status = answer.map(|answer| answer.status().as_u16()),
            // Unknown of a body that is made in parts.
            bytes = answer.and_then(|answer| answer.body().size_hint().exact()),
            microseconds = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        );
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.is_written {
            self.write(None);
        }
    }
}
