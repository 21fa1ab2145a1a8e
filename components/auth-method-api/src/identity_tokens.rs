//! The interface `identity-tokens`: its functions, and its error texts.

use crate::storage_error::wraps_storage_error;
use crate::{PublicKey, StorageError};

/// This server as an issuer of identity tokens, which federation exchanges for access tokens (contract 7.4). The WIT interface is the
/// specification.
pub trait IdentityTokens {
    /// Base URL of the issuer of this server's identity tokens, as it was set; empty when it follows the server's advertised address
    /// (contract 7.4).
    fn read_issuer(&self) -> Result<String, StorageError>;

    /// Sets the base URL of the issuer; empty to follow the server's advertised address.
    fn write_issuer(&self, issuer: &str) -> Result<(), IssuerError>;

    /// The issuer that identity tokens name now.
    fn issuer(&self) -> Result<String, IdentityTokenError>;

    /// The keys that identity tokens in circulation are signed with, the newest first.
    fn public_keys(&self) -> Result<Vec<PublicKey>, IdentityTokenError>;

    /// Makes the next key ahead of time, so that no request has to: it may take seconds.
    fn maintain_keys(&self) -> Result<Option<u64>, IdentityTokenError>;
}

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
