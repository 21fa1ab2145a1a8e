//! A request in the form in which a host hands it over, and what the gateway makes of it.

use crate::http::{Headers, Method, Request, Response};
use crate::vault::error_response;

/// Where the host writes the address of the peer.
const PEER_HEADER: &str = "x-gatehouse-peer";

/// A request as a host hands it over.
pub(super) struct Received {
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: String,
    pub(super) is_https: bool,
    /// What stands beside the header fields.
    pub(super) authority: Option<String>,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl Received {
    /// The request that it is.
    ///
    /// # Errors
    ///
    /// The answer to a request that cannot be read: 400.
    pub(super) fn into_request(self) -> Result<Request, Response> {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path.to_owned(), query.to_owned()),
            None => (self.target, String::new()),
        };
        let mut headers = Headers::new();
        let mut peer = None;
        for (name, value) in self.headers {
            let value = String::from_utf8(value)
                .map_err(|_| error_response(400, "header values must be UTF-8"))?;
            if name.eq_ignore_ascii_case(PEER_HEADER) {
                peer = value.parse().ok();
            } else {
                headers.push(&name, value);
            }
        }
        // Absolute links are made of these two.
        if headers.get("host").is_none()
            && let Some(authority) = self.authority
        {
            headers.push("host", authority);
        }
        if self.is_https && headers.get("x-forwarded-proto").is_none() {
            headers.push("x-forwarded-proto", "https");
        }
        Ok(Request {
            method: self.method,
            path,
            query,
            headers,
            body: self.body,
            peer,
        })
    }
}
