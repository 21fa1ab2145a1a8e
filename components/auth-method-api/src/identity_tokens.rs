//! The error texts of the interface `identity-tokens`.

use crate::StorageError;
use crate::storage_error::wraps_storage_error;

/// Why no identity token can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityTokenError {
    /// Neither is an issuer configured nor has the server an advertised address.
    #[error("the server has no issuer: set one, or the server's advertised address")]
    NoIssuer,
    /// The host has no randomness to make a key from.
    #[error("no randomness to make a key from")]
    Random,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an issuer was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssuerError {
    /// Not `https://host[:port]` without a path, user information, query or fragment. Plain `http` only to loopback addresses on a
    /// server that allows it.
    #[error("the issuer is not a URL of the form https://host[:port]")]
    NotUrl,
    /// The store refused or failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

wraps_storage_error!(IdentityTokenError, IssuerError);
