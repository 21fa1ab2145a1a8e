//! The interface `wrapping`: its functions, its error texts, and its records that hold secrets, which cannot be printed.

use gatehouse_storage::wraps_failure;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{ServiceError, WrappingView};

/// Responses that a token gives out once. The WIT interface is the specification.
pub trait Wrapping {
    /// Keeps a response and makes the token that gives it out once, in one commit (contract 1.8).
    fn wrap(&self, request: &WrapRequest) -> Result<WrappingToken, WrapError>;

    /// Shows a wrapping token without using it (contract 6.6).
    fn read_wrapping(&self, token: &str) -> Result<WrappingView, UnwrapError>;

    /// Gives out what `token` wraps, and ends the token in the same commit: of several calls exactly one gets it (SEC-T4).
    fn unwrap_content(&self, token: &str) -> Result<Vec<u8>, UnwrapError>;

    /// Puts a new wrapping token in the place of `token`, which ends.
    fn rewrap(&self, token: &str, ttl: Option<u64>) -> Result<WrappingToken, UnwrapError>;
}

/// A response to be wrapped. Its content, which may hold a token, is wiped from memory when this is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct WrapRequest {
    /// The response; means nothing here. At most 716800 bytes.
    pub content: Vec<u8>,
    /// The path of the request that it answers, such as `auth/gcp/login`.
    #[zeroize(skip)]
    pub creation_path: String,
    /// Seconds until the wrapping token ends, at least 1. Cut to the system's longest lease.
    #[zeroize(skip)]
    pub ttl: u64,
    /// Accessor of the token in the response; `None` where there is none.
    #[zeroize(skip)]
    pub wrapped_accessor: Option<String>,
}

/// A new wrapping token. It can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Zeroize)]
pub struct WrappingToken {
    /// The secret; shown once, kept nowhere.
    pub token: String,
    /// 24 characters.
    #[zeroize(skip)]
    pub accessor: String,
    /// Its time to live in seconds.
    #[zeroize(skip)]
    pub ttl: u64,
    /// When it was made, in seconds since 1970-01-01T00:00Z.
    #[zeroize(skip)]
    pub creation_time: u64,
    /// The path of the request whose response it stands for; a rewrapping keeps it.
    #[zeroize(skip)]
    pub creation_path: String,
    /// Accessor of the token in the response; a rewrapping keeps it.
    #[zeroize(skip)]
    pub wrapped_accessor: Option<String>,
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
    Failure(#[from] ServiceError),
}

/// Why nothing was unwrapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnwrapError {
    /// Unknown, used, revoked, expired and malformed wrapping tokens, and tokens that wrap nothing, alike.
    #[error("the wrapping token is not valid: it may have been used by another client")]
    InvalidToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: WrapError, UnwrapError);
