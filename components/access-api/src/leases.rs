//! The interface `leases`: its functions and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{KeyPage, ServiceError};

/// Tokens by the paths that issued them. The WIT interface is the specification.
pub trait LeaseTree {
    /// The keys directly below `prefix` in the tree of leases: hashes that name a lease there, and segments that lead on, which end in `/`.
    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, ServiceError>;

    /// Ends all tokens whose leases lie at or below `prefix`, in one change however many there are; what is issued from then on is not
    /// concerned.
    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError>;
}

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
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: PrefixError);
