//! Ways in which the fake can be made to fail, and when.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use http::StatusCode;

use crate::endpoint::Endpoint;

/// One way to fail a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers rightly, but only after this long.
    Latency(Duration),
    /// Answers with this status and an error body of Google's shape.
    Status {
        /// The status.
        status: StatusCode,
        /// Value of `Retry-After`, in seconds; none leaves the header out.
        retry_after_seconds: Option<u64>,
    },
    /// Answers 200 with a body that is not JSON.
    GarbageBody,
    /// Answers rightly, but pads the body with trailing spaces to this many bytes.
    OversizedBody {
        /// Length of the whole body.
        bytes: usize,
    },
    /// Answers 302 to this address.
    Redirect {
        /// Value of `Location`.
        location: String,
    },
    /// Takes the request and never answers.
    Hang,
    /// Takes the request and closes the connection.
    CloseConnection,
    /// Answers as if another account had been asked for.
    WrongAccount {
        /// Email or unique ID of that other account.
        account: String,
    },
}

impl Fault {
    /// Google is overloaded and says when to come back.
    #[must_use]
    pub fn too_many_requests(retry_after_seconds: u64) -> Self {
        Self::Status {
            status: StatusCode::TOO_MANY_REQUESTS,
            retry_after_seconds: Some(retry_after_seconds),
        }
    }

    /// Google is down: 503 without a hint.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::Status {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after_seconds: None,
        }
    }
}

/// The faults in force.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    standing: BTreeMap<Endpoint, Fault>,
    queued: BTreeMap<Endpoint, VecDeque<Fault>>,
}

impl Faults {
    /// Fails every request from now on.
    pub(crate) fn set(&mut self, endpoint: Endpoint, fault: Fault) {
        self.standing.insert(endpoint, fault);
    }

    /// Fails the next requests, one fault each, before the standing fault is looked at.
    pub(crate) fn queue(&mut self, endpoint: Endpoint, faults: impl IntoIterator<Item = Fault>) {
        self.queued.entry(endpoint).or_default().extend(faults);
    }

    /// Forgets the standing and the queued faults of one endpoint.
    pub(crate) fn clear(&mut self, endpoint: Endpoint) {
        self.standing.remove(&endpoint);
        self.queued.remove(&endpoint);
    }

    /// The fault for the request that is being answered.
    pub(crate) fn next(&mut self, endpoint: Endpoint) -> Option<Fault> {
        let queued = self.queued.get_mut(&endpoint).and_then(VecDeque::pop_front);
        queued.or_else(|| self.standing.get(&endpoint).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queued_faults_come_before_the_standing_one() {
        let mut faults = Faults::default();
        faults.set(Endpoint::Token, Fault::Hang);
        faults.queue(
            Endpoint::Token,
            [Fault::GarbageBody, Fault::CloseConnection],
        );
        let seen: Vec<_> = (0..4)
            .filter_map(|_| faults.next(Endpoint::Token))
            .collect();
        assert_eq!(
            seen,
            [
                Fault::GarbageBody,
                Fault::CloseConnection,
                Fault::Hang,
                Fault::Hang
            ]
        );
        assert_eq!(faults.next(Endpoint::ServiceAccount), None);

        faults.queue(Endpoint::Token, [Fault::GarbageBody]);
        faults.clear(Endpoint::Token);
        assert_eq!(faults.next(Endpoint::Token), None);
    }
}
