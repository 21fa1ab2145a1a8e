//! The bodies of requests: their size limit, their time limit, and the errors in reading them.

use std::time::Duration;

/// The maximum size of a request body, in bytes (contract 1.1, rule 7). A host may refuse a larger one earlier, while it still reads.
pub const MAXIMUM_BODY_BYTES: usize = 1 << 20;

/// The time limit for the arrival of a request body, where the host leaves the waiting to the component.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The reason why the body of a request could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The body ended prematurely.
    #[error("the request body could not be read")]
    Broken,
    /// The body took too long to arrive.
    #[error("the request body took too long")]
    Late,
}

impl BodyError {
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::Broken => 400,
            Self::Late => 408,
        }
    }
}
