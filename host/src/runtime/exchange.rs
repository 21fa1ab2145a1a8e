//! The answers of a component, whole or in parts, and why there is none.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

/// The address of a client: an extension of a request, by which the component learns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Why a request has no answer from the component.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Every instance is busy and the queue is full. A retry after a second is worthwhile.
    #[error("all instances are busy and the queue is full")]
    Overloaded,
    /// The component took longer than a request may take.
    #[error("the component took longer than {0:?}")]
    TimedOut(Duration),
    /// The component does not continue an answer.
    #[error("the component does not continue the answer: {0}")]
    NotResumed(ResumeError),
    /// The component trapped, gave no answer, or gave one that is not allowed.
    #[error("the component failed: {0:#}")]
    Failed(wasmtime::Error),
}

/// Why the component does not continue an answer. The WIT interface is the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The continuation is none of this request, or the component gives no answers in parts.
    #[error("the continuation is not one of this request")]
    Foreign,
    /// The caller may not read the rest.
    #[error("the caller may not go on reading")]
    Refused,
    /// A fault of the server, which the component's standard error tells.
    #[error("the rest could not be made")]
    Failed,
}

impl From<wasmtime::Error> for ServeError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}

/// The body of an answer, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyPart {
    /// May be empty.
    pub bytes: Bytes,
    /// The part that follows. `None` at the end.
    pub rest: Option<BodyRest>,
}

/// The point at which a body continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyRest {
    /// To be given to [`Pool::resume`](super::pool::Pool::resume) with the request.
    pub continuation: Vec<u8>,
    /// How long to wait before that. Not zero for a body that continues as long as the client reads it, and is complete wherever it ends.
    pub wait: Duration,
}

impl BodyPart {
    /// The only part of a body, or the last one.
    pub(super) const fn last(bytes: Bytes) -> Self {
        Self { bytes, rest: None }
    }
}
