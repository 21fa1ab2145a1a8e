//! The bodies of requests: how large they may be, how long they may take, and why one could not be read.

use std::time::Duration;

/// How large a request body may be, in bytes (contract 1.1, rule 7). A host may refuse earlier, while it still reads.
pub const MAXIMUM_BODY_BYTES: usize = 1 << 20;

/// How long a request body may take to arrive where the host leaves it to the component to wait for it.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Why the body of a request could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It ended before its time.
    #[error("the request body could not be read")]
    Broken,
    /// It took too long to arrive.
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
