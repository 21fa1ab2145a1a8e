//! On whose behalf something is done.

use crate::Identity;

/// Somebody who does something, as records of it tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub identity: Identity,
    /// The name of the exchange.
    pub request_id: String,
}
