//! Wrapped responses (contract 1.8, 6.6). Times are whole seconds; points in time count from 1970-01-01T00:00Z.

use super::Failure;
use crate::secret::ClientToken;

/// A response to be wrapped.
#[derive(Clone, Copy)]
pub struct WrapRequest<'a> {
    /// The response; means nothing here. May hold secrets.
    pub content: &'a [u8],
    /// The path of the request that it answers, such as `auth/gcp/login`.
    pub creation_path: &'a str,
    /// How long the wrapping token is to live, at least 1; cut to the system's longest lease.
    pub ttl: u64,
    /// Accessor of the token in the response.
    pub wrapped_accessor: Option<&'a str>,
}

/// A new wrapping token.
pub struct WrappingToken {
    /// The secret; shown once, kept nowhere.
    pub client_token: ClientToken,
    /// 24 characters.
    pub accessor: String,
    /// Its time to live.
    pub ttl: u64,
    /// When it was made.
    pub creation_time: u64,
    /// The path of the request whose response it stands for; a rewrapping keeps it.
    pub creation_path: String,
    /// Accessor of the token in the response; a rewrapping keeps it.
    pub wrapped_accessor: Option<String>,
}

/// What a wrapping token says about itself, to tell one that was exchanged on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappingView {
    /// When it was made.
    pub creation_time: u64,
    /// Its time to live then.
    pub creation_ttl: u64,
    /// The path of the request whose response it stands for.
    pub creation_path: String,
}

/// Why a response was not wrapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrapError {
    /// A time to live of 0.
    #[error("a wrapping token lives for at least one second")]
    NoTtl,
    /// The content is too large; holds the largest number of bytes.
    #[error("the response is too large to be wrapped: at most {0} bytes")]
    TooLarge(u32),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}

/// Why nothing was unwrapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnwrapError {
    /// Unknown, used, revoked, expired and malformed wrapping tokens, and tokens that wrap nothing, alike.
    #[error("the wrapping token is not valid: it may have been used by somebody else")]
    InvalidToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
