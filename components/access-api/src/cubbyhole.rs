//! The interface `cubbyhole`: its functions and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{ServiceError, WritePermission};

/// Secrets that one service token keeps for itself. The WIT interface is the specification.
pub trait Cubbyhole {
    /// The secret that `token` keeps at `path`; `None` where there is none (contract 6.1).
    fn read_cubbyhole(&self, token: &str, path: &str) -> Result<Option<Vec<u8>>, CubbyholeError>;

    /// The keys directly in a folder of the secrets of `token`, sorted; further folders end in `/`.
    fn list_cubbyhole(&self, token: &str, folder: &str) -> Result<Vec<String>, CubbyholeError>;

    /// Has `token` keep a secret at `path`, as far as `permission` goes.
    fn write_cubbyhole(
        &self,
        token: &str,
        path: &str,
        content: &[u8],
        permission: WritePermission,
    ) -> Result<(), CubbyholeError>;

    /// Removes a secret of `token`; a missing one is a success.
    fn delete_cubbyhole(&self, token: &str, path: &str) -> Result<(), CubbyholeError>;
}

/// Why a token's secrets were neither shown nor changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CubbyholeError {
    /// Unknown, used up, revoked and expired tokens alike.
    #[error("the token is not valid: log in again")]
    InvalidToken,
    /// A batch token, which keeps nothing.
    #[error("batch tokens keep no secrets: use a service token")]
    BatchToken,
    /// The caller may create secrets or change them, and this write would do the other.
    #[error("the write would create a secret, or change one, and the caller may only do the other")]
    Denied,
    /// The path is longer than one may be; holds that number of bytes.
    #[error("the path of a secret has at most {0} bytes: shorten it")]
    PathTooLong(u32),
    /// The token has as many secrets as one may have; holds that number.
    #[error("a token keeps at most {0} secrets: delete some first")]
    TooManySecrets(u32),
    /// The secrets of the token would be larger than they may be together; holds that number of bytes, paths included.
    #[error("the secrets of a token have at most {0} bytes together: delete some first")]
    TooLarge(u32),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: CubbyholeError);
