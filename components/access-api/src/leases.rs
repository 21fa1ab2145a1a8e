//! The error texts of the interface `leases`.

use crate::Failure;
use crate::failure::wraps_failure;

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

wraps_failure!(PrefixError);
