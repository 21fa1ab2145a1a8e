//! Answers whose body comes in parts: lists without pages are as long as the installation has them, and an instance has room for a part of
//! one alone. The lines of the log have no end at all.
//!
//! Each part of the answer is made by a call of its own, which finds out anew who asks and what they may see. A host that calls by
//! `gatehouse:gateway/exchange` holds no instance in between, however slowly the client reads; over `wasi:http` and under Spin the instance
//! that began the answer makes all of it, and is held until the client has read it. How far the answer is stands in the continuation. It grants
//! nothing: with the request it belongs to, it leads to what the caller may read now.

/// The rest of a body, which is to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// Where the body goes on: to be given to [`crate::Gateway::resume`] with the request that it answers.
    pub continuation: Vec<u8>,
    /// How long to wait before that, in milliseconds; more than 0 where the body goes on for as long as the client reads it, and is complete
    /// wherever it ends.
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

/// Why a body does not go on. It stays incomplete, and the client must learn that from the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The continuation belongs to another request, or was changed.
    #[error("the continuation is not one of this request")]
    Foreign,
    /// The caller may not read the rest: the token has ended, or may not do this any more.
    #[error("the caller may not go on reading")]
    Refused,
    /// A fault of the server, which the operator's log tells.
    #[error("the rest of the answer could not be made")]
    Failed,
}
