//! On whose behalf something is done.

use crate::Identity;

/// Somebody who does something, as records of it tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub identity: Identity,
    /// What the credential is known as: the id of an API token, or the accessor of a service token.
    pub accessor: String,
    /// The name of the exchange.
    pub request_id: String,
}
