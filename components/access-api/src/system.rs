//! The interface `system`: its functions, its error texts, and its secret without `Debug`.

use gatehouse_storage::wraps_failure;
use zeroize::Zeroize;

use crate::{ClientToken, Cluster, ServiceError};

/// The first start of a server, its root tokens, and what it does without a request. The WIT interface is the specification.
pub trait System {
    /// The server's identity; `None` until it has been initialized.
    fn current_cluster(&self) -> Result<Option<Cluster>, ServiceError>;

    /// Prepares an empty store: server secret, policy `default`, mount `token/`, one root token.
    fn initialize(&self, root_token: Option<&str>) -> Result<Initialized, InitializeError>;

    /// Makes one more root token, which never expires: for a caller that has proven to hold the key of the store.
    fn generate_root(&self) -> Result<ClientToken, ServiceError>;

    /// Does what is due without a request: replaces the key that batch tokens are made under when it has been in use for long enough, and
    /// clears away a part of what no valid token leads to.
    fn maintain(&self) -> Result<(), ServiceError>;

    /// Counts a further part of the live service tokens, and returns the result of the last complete count; `None` before the first is
    /// complete.
    fn count_tokens(&self) -> Result<Option<u64>, ServiceError>;
}

/// The secret that initialization hands out, once. It can be neither printed nor compared. Holders keep it in [`zeroize::Zeroizing`].
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
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: InitializeError);
