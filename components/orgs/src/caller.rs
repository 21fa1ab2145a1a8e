//! On whose behalf something is done.

use crate::Identity;

/// Somebody who does something, as records of it tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub identity: Identity,
    /// The name of the exchange, which the server gave it.
    pub request_id: String,
    /// What the client calls the exchange; up to 64 letters, digits, `-`, `_` and `.`. `None` where it says nothing.
    pub client_request_id: Option<String>,
}
