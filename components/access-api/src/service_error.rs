//! The failures that every call shares.

/// A call was not decided: not a refusal of the request, but a server that cannot answer now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// No operator has initialized the server yet.
    #[error("the server is not initialized: initialize it first")]
    NotInitialized,
    /// No operator has unsealed the store yet.
    #[error("the store is sealed: unseal the server first")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the log, without secrets.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Other writers kept changing the same records; worth trying again.
    #[error("too many writers change the same records: try again")]
    Contended,
    /// A stored record cannot be read; trying again does not help. The text is for the log, without secrets.
    #[error("a stored record cannot be used: {0}")]
    Damaged(String),
    /// The host's source of randomness failed, so nothing was made.
    #[error("the host's source of randomness failed")]
    NoRandomness,
}

gatehouse_storage::fails_with_the_store!(ServiceError);
