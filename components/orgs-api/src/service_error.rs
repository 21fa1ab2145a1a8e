//! The failure of every call.

/// Why there is no answer. None of these says anything about the organizations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// No operator has unsealed the store yet.
    #[error("the store of organizations is sealed: unseal the server first")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the log, without secrets.
    #[error("the store of organizations is unavailable: {0}")]
    Unavailable(String),
    /// Other writers kept changing the same records; worth trying again.
    #[error("too many writers change the same organizations: try again")]
    Contended,
    /// A stored record cannot be read; trying again does not help. The text is for the log, without secrets.
    #[error("a stored organization cannot be used: {0}")]
    Damaged(String),
    /// The host's source of randomness failed, so nothing was made.
    #[error("the host's source of randomness failed")]
    NoRandomness,
}

gatehouse_storage::fails_with_the_store!(ServiceError);
