//! The journal of the requests that the fake was sent.

use std::collections::{BTreeMap, VecDeque};

use http::header::{AUTHORIZATION, HeaderName, USER_AGENT};
use http::{HeaderMap, Method, Uri};

use crate::endpoint::Endpoint;

/// The trace that a request belongs to.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// Requests that are remembered; older ones are forgotten, so that a long-lived fake does not grow.
const REMEMBERED_REQUESTS: usize = 4096;

/// A request that the fake received, whatever became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The kind of request.
    pub endpoint: Endpoint,
    /// HTTP method.
    pub method: Method,
    /// Path and query, exactly as sent.
    pub path_and_query: String,
    /// True if it carried an `Authorization` header.
    pub authorized: bool,
    /// Its `User-Agent`; none when absent or not text.
    pub user_agent: Option<String>,
    /// Its `traceparent`; none when absent or not text.
    pub trace_parent: Option<String>,
}

/// Counts of all requests, and the latest ones themselves.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    calls: BTreeMap<Endpoint, u64>,
    requests: VecDeque<RecordedRequest>,
}

impl Journal {
    /// Notes a request.
    pub(crate) fn record(
        &mut self,
        endpoint: Endpoint,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) {
        *self.calls.entry(endpoint).or_default() += 1;
        if self.requests.len() == REMEMBERED_REQUESTS {
            self.requests.pop_front();
        }
        let text = |name: HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        self.requests.push_back(RecordedRequest {
            endpoint,
            method: method.clone(),
            path_and_query: uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            authorized: headers.contains_key(AUTHORIZATION),
            user_agent: text(USER_AGENT),
            trace_parent: text(TRACE_PARENT),
        });
    }

    /// Requests of one kind since the start or the last [`Journal::clear`].
    pub(crate) fn calls(&self, endpoint: Endpoint) -> u64 {
        self.calls.get(&endpoint).copied().unwrap_or_default()
    }

    /// The latest requests, oldest first.
    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.iter().cloned().collect()
    }

    /// Starts counting from nought.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_requests_are_forgotten_but_counted() {
        let mut journal = Journal::default();
        let uri = Uri::from_static("http://localhost/token?x=1");
        for _ in 0..REMEMBERED_REQUESTS + 5 {
            journal.record(Endpoint::Token, &Method::POST, &uri, &HeaderMap::new());
        }
        assert_eq!(journal.requests().len(), REMEMBERED_REQUESTS);
        assert_eq!(
            journal.calls(Endpoint::Token),
            REMEMBERED_REQUESTS as u64 + 5
        );
        assert_eq!(journal.requests()[0].path_and_query, "/token?x=1");
    }
}
