//! The handler that a listener serves.

use std::net::IpAddr;

use bytes::Bytes;
use http::{Request, Response};

use super::answer::AnswerBody;
use super::request_error::RequestError;

/// The handler that answers requests.
pub trait RequestHandler: Send + Sync + 'static {
    /// Answers `request`, whose client is at `peer`. The future is dropped when the client goes away before the answer, or
    /// when the time for the request is over.
    ///
    /// # Errors
    ///
    /// When there is no answer; the listener then writes one in the form of the API that was asked.
    fn handle(
        &self,
        request: Request<Bytes>,
        peer: IpAddr,
    ) -> impl Future<Output = Result<Response<AnswerBody>, RequestError>> + Send;
}
