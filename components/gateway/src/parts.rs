//! Answers whose body comes in parts. A list without pages is as long as the installation makes it, while an instance has room for one part only. The
//! lines of the log never end.
//!
//! Each part of the answer is made by a separate call, which checks the caller and their rights again. A host that calls by
//! `gatehouse:gateway/exchange` holds no instance between the parts, however slowly the client reads. Over `wasi:http` and under Spin, the instance
//! that began the answer makes all of it, and is held until the client has read it. The continuation records how much of the answer has been sent. It
//! grants nothing: together with its request, it leads only to what the caller may read now.

/// The rest of a body, which is still to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// The position at which the body continues, for [`crate::Gateway::resume`] together with the same request.
    pub continuation: Vec<u8>,
    /// The time to wait before that, in milliseconds. It is more than 0 for a body that continues as long as the client reads it, and that is
    /// complete wherever it ends.
    pub wait: u32,
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The bytes; may be empty.
    pub body: Vec<u8>,
    /// The rest that follows; `None` where the body is complete.
    pub rest: Option<Rest>,
}

/// The reason why a body cannot be continued. The body stays incomplete, and the transport must show that to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The continuation belongs to another request, or was changed.
    #[error("the continuation is not one of this request")]
    Foreign,
    /// The caller may not read the rest: the token has ended, or no longer has the right.
    #[error("the caller may not go on reading")]
    Refused,
    /// The server failed; the operator's log names the cause.
    #[error("the rest of the answer could not be made")]
    Failed,
}
