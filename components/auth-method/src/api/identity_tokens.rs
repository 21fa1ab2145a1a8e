//! Identity tokens that this server signs for its own mounts, so that Google can trust them (contract 7.4).

use gatehouse_storage::StorageError;

/// A public key that identity tokens are signed with, or were until lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// Names it in tokens.
    pub key_id: String,
    /// The RSA modulus, big-endian, without leading zeros.
    pub modulus: Vec<u8>,
    /// The public exponent, big-endian, without leading zeros.
    pub exponent: Vec<u8>,
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
