//! Admission of one request.

use std::net::IpAddr;

use super::{Failure, Mount, TokenView};

/// What a request does to its path (contract 1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// GET; needs `read`.
    Read,
    /// LIST, or GET with `list=true`; needs `list`. A trailing `/` on the path makes no difference.
    List,
    /// A write to a path without an existence check; needs `update`.
    Update,
    /// A write to a path with an existence check; needs `create`, `update` or both, and the admission says which.
    CreateOrUpdate,
    /// PATCH; needs `patch`.
    Patch,
    /// DELETE; needs `delete`.
    Delete,
    /// GET with `help`; any valid token may.
    Help,
}

/// One request, as the gateway has understood it.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The client's token, a secret; `None` when it sent none.
    pub token: Option<&'a str>,
    /// What it does.
    pub operation: Operation,
    /// Canonical, percent-decoded, without the leading `v1/` or `/`: `auth/gcp/role/dev`.
    pub path: &'a str,
    /// The client's true address; `None` when it is unknown, which no bound address range contains.
    pub source_address: Option<IpAddr>,
    /// For how many seconds the answer is to be wrapped; `None` when it is not.
    pub wrap_ttl: Option<u64>,
    /// The fields of its query or body; `None` when nobody has looked. Few policies ask for them, and then they get
    /// [`Refusal::ParametersNeeded`].
    pub parameters: Option<&'a [Parameter]>,
}

/// A field of a request, as policies see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// As sent; policies do not tell upper from lower case.
    pub name: String,
    /// JSON text, every digit of a number as it was sent.
    pub value: String,
}

/// Which halves of "create or update" the policies grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WritePermission {
    /// May write where nothing is yet.
    pub create: bool,
    /// May write where something is.
    pub update: bool,
}

/// A request that may proceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The caller's token after this use was taken; `None` on a path that needs none.
    pub caller: Option<TokenView>,
    /// The auth mount that serves the path; `None` for paths outside `auth/`.
    pub mount: Option<Mount>,
    /// What of the path lies inside the mount, without a leading `/`; the whole path where there is no mount.
    pub remainder: String,
    /// For [`Operation::CreateOrUpdate`]: what the write may do. Both false for other operations.
    pub write: WritePermission,
    /// Whether the caller holds `sudo` on the path.
    pub sudo: bool,
    /// Whether the caller's token had a limited number of uses before this one.
    pub limited_uses: bool,
}

/// Why a request must not proceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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
    Failure(#[from] Failure),
}
