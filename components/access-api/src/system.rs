//! The interface `system`: its error texts, and its secret without `Debug`.

use zeroize::Zeroize;

use crate::Failure;
use crate::failure::wraps_failure;

/// What initialization hands out, once. It can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
#[derive(Zeroize)]
pub struct Initialized {
    /// Holds policy `root` and never expires.
    pub root_token: String,
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

wraps_failure!(InitializeError);
