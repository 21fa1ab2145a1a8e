//! The interface `requests`: its functions, its error texts, and the request, which holds a secret.

use gatehouse_ports::IpAddress;
use gatehouse_storage::wraps_failure;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    Admission, Capability, LookupError, Operation, Parameter, ServiceError, TokenReference,
};

/// Admission of requests, and the capabilities of their callers. The WIT interface is the specification.
pub trait Requests {
    /// Authenticates and authorizes one request, once, and takes one use of a token whose uses are limited (SEC-T4).
    fn admit(&self, request: &Request) -> Result<Admission, AdmissionError>;

    /// The capabilities of the token of `reference` on each of `paths`, in the order that contract 5.6 prescribes for the names.
    fn capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError>;
}

/// One request, as the gateway has understood it. The token is wiped from memory when it is dropped, and cannot be printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Request {
    /// The client's token, a secret; `None` when it sent none.
    pub token: Option<String>,
    /// Its operation.
    #[zeroize(skip)]
    pub operation: Operation,
    /// Canonical, percent-decoded, without the leading `v1/` or `/`: `auth/gcp/role/dev`.
    #[zeroize(skip)]
    pub path: String,
    /// The client's true address; `None` when it is unknown, which no bound address range contains.
    #[zeroize(skip)]
    pub source_address: Option<IpAddress>,
    /// For how many seconds the answer is to be wrapped; `None` when it is not.
    #[zeroize(skip)]
    pub wrap_ttl: Option<u64>,
    /// The fields of its query or body; `None` when they were not read. Few policies ask for them, and then they get
    /// [`AdmissionError::ParametersNeeded`].
    #[zeroize(skip)]
    pub parameters: Option<Vec<Parameter>>,
}

/// Why a request must not proceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It needs a token and carries none.
    #[error("the request carries no token")]
    NoToken,
    /// Unknown, expired, revoked, used up and malformed tokens alike (SEC-T10).
    #[error("the token is not valid: log in again")]
    InvalidToken,
    /// No policy of the token grants it.
    #[error("the token's policies do not grant this operation on this path")]
    Denied,
    /// A rule on the path depends on the request's parameters, and they were not given. Nothing has happened: ask again with them.
    #[error("the request's parameters are needed to decide about it")]
    ParametersNeeded,
    /// The token is bound to address ranges that do not contain the client.
    #[error("the token may not be used from this address")]
    AddressDenied,
    /// The entity behind the token is disabled or deleted.
    #[error("the entity of the token is disabled or was deleted")]
    EntityUnusable,
    /// The caller is allowed, and no mount serves the path below `auth/`.
    #[error("no auth method is enabled at this path")]
    NoMount,
    /// The path is not canonical: empty, too deep, a `.`, `..` or empty segment, or a character that is not printable.
    #[error("the path is malformed")]
    MalformedPath,
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: AdmissionError);
