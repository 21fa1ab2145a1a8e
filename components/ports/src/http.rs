//! Outgoing HTTP, one whole exchange at a time.

use std::time::Duration;

/// The methods that a capability uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// DELETE
    Delete,
}

/// A request to be sent.
///
/// It has no `Debug`: headers and body may hold secrets.
#[derive(Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// Lower-case names with their values, beside those that the transport adds by itself.
    pub headers: Vec<(String, String)>,
    /// Empty for a request without a body.
    pub body: Vec<u8>,
    /// The whole exchange, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// Bytes of answer body beyond which the exchange fails.
    pub maximum_response_bytes: usize,
}

/// An answer that arrived whole.
#[derive(Clone)]
pub struct HttpResponse {
    /// The status code, of any class: 3xx answers are handed out, never followed.
    pub status: u16,
    /// Lower-case names with their values, in the order received.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The first value of the header `name`, which must be given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(candidate, _)| candidate == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The host does not let this capability talk to that address. Repeating does not help.
    #[error("the host does not allow requests to this address")]
    Denied,
    /// The URL is not one that can be asked for.
    #[error("the URL is not valid")]
    InvalidUrl,
    /// No connection, a broken one, a TLS failure or a malformed answer. The text holds no secret.
    #[error("the exchange failed: {0}")]
    Failed(String),
    /// The time ran out.
    #[error("the exchange took too long")]
    TimedOut,
    /// The answer was larger than allowed.
    #[error("the answer was larger than allowed")]
    TooLarge,
}

/// Sends requests. Redirects are never followed, and nothing is retried.
pub trait Http {
    /// Sends `request` and waits for the whole answer.
    ///
    /// # Errors
    ///
    /// When there is no complete answer within the request's limits. An answer with an error status is an answer.
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError>;
}
