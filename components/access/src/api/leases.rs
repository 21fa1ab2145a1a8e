//! Leases: tokens under the names by which operators find and end them (contract 6.5).

use super::Failure;

/// Why tokens below a prefix were not ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// The mount keeps apart as many prefixes as it can; holds the mount's path below `auth/`.
    #[error(
        "too many prefixes below auth/{0} were revoked apart from each other: revoke a shorter one"
    )]
    TooManyPrefixes(String),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] Failure),
}
