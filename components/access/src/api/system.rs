//! The server itself.

use super::Failure;
use crate::secret::ClientToken;

/// What tells this server from others; made once, by initialization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// A UUID.
    pub id: String,
    /// A readable name, `gatehouse-cluster-` and 8 hexadecimal digits.
    pub name: String,
}

/// What initialization hands out, once.
pub struct Initialized {
    /// Holds policy `root` and never expires.
    pub root_token: ClientToken,
}

/// Why a server was not initialized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InitializeError {
    /// It has been done before.
    #[error("the server is already initialized")]
    AlreadyInitialized,
    /// The chosen root token is empty, longer than 256 bytes, holds a character that is not printable ASCII, or looks like a batch
    /// token.
    #[error(
        "the chosen root token must be 1 to 256 printable ASCII characters without spaces, and must not begin with hvb."
    )]
    UnusableRootToken,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
