//! A request as the handlers of routes see it.

use std::cell::Cell;

use gatehouse_access_api::{Admission, ClientToken, Operation};

use super::envelope::Reply;
use super::errors::ApiError;
use super::field::Field;
use super::fields::Fields;
use super::server::Server;
use crate::http::Request;
use crate::path::CanonicalPath;

/// The answer of a handler: an envelope, or no content (204).
pub(crate) type Answer = Result<Option<Reply>, ApiError>;

/// The type of the mounts of the auth method, the only type that operators can enable.
pub(crate) const METHOD_TYPE: &str = "gcp";

/// A request that access has admitted.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server<'a>,
    pub(crate) request: &'a Request,
    /// The operation for which the request was admitted.
    pub(crate) operation: Operation,
    /// The canonical path below `v1/`, its names folded.
    pub(crate) path: &'a str,
    /// The parts of the path that the caller chooses.
    pub(crate) captured: Vec<Captured>,
    /// The fields that the operation accepts, apart from those in the path.
    pub(crate) takes: &'static [Field],
    /// The caller's token; `None` only on paths that need none.
    pub(crate) token: Option<&'a str>,
    /// The lifetime of the wrapped answer, in seconds; `None` for an answer that is not wrapped.
    pub(crate) wrap_ttl: Option<u64>,
    /// The decision of access.
    pub(crate) admission: &'a Admission,
    /// The name of the exchange in the records; `None` where it is not recorded.
    pub(crate) request_id: Option<&'a str>,
}

/// A part of a path that the caller chooses.
#[derive(Debug, Clone)]
pub(crate) struct Captured {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// A request without a decision of access: either no policy applies, or its handler needs only this.
pub(crate) struct Unadmitted<'a> {
    pub(crate) server: &'a Server<'a>,
    pub(crate) request: &'a Request,
    /// The root token that the handler has made for the answer.
    pub(crate) root_token: Cell<Option<ClientToken>>,
}

/// Refuses fields that are unknown (contract 1.6: 422).
pub(crate) fn only_known(fields: Fields<'_>) -> Result<Fields<'_>, ApiError> {
    match fields.unknown().as_slice() {
        [] => Ok(fields),
        unknown => Err(ApiError::unknown_fields(unknown)),
    }
}

impl<'a> Unadmitted<'a> {
    pub(crate) const fn new(server: &'a Server<'a>, request: &'a Request) -> Self {
        Self {
            server,
            request,
            root_token: Cell::new(None),
        }
    }
}

impl<'a> Call<'a> {
    /// The fields of the body.
    pub(crate) fn fields(&self) -> Result<Fields<'a>, ApiError> {
        Ok(Fields::of_body(self.request)?.expecting(self.effective_field_names()))
    }

    /// The fields of a body in which unknown fields are refused (contract 1.6: 422).
    pub(crate) fn known_fields(&self) -> Result<Fields<'a>, ApiError> {
        only_known(self.fields()?)
    }

    /// The fields of the query, which reads use (contract 1.1, rule 2).
    pub(crate) fn query_fields(&self) -> Result<Fields<'a>, ApiError> {
        Ok(Fields::of_query(self.request)?.expecting(self.effective_field_names()))
    }

    /// The names of all fields that have an effect.
    pub(crate) fn effective_field_names(&self) -> Vec<&'static str> {
        let captured = self.captured.iter().map(|captured| captured.name);
        self.takes
            .iter()
            .map(|field| field.name)
            .chain(captured)
            .collect()
    }

    /// True if a mount of the auth method serves the request.
    pub(crate) fn is_of_auth_method(&self) -> bool {
        let mount = self.admission.mount.as_ref();
        mount.is_some_and(|mount| mount.mount_type == METHOD_TYPE)
    }

    /// The part of the path called `name`, which every route of the handler has.
    ///
    /// # Errors
    ///
    /// When the route has none, which is a bug.
    pub(crate) fn captured(&self, name: &str) -> Result<&str, ApiError> {
        let missing = || ApiError::internal(format!("no part of the path is called {name}"));
        self.find_captured(name).ok_or_else(missing)
    }

    /// The same for a handler whose routes do not all have such a part.
    pub(crate) fn find_captured(&self, name: &str) -> Option<&str> {
        let mut captured = self.captured.iter();
        let found = captured.find(|captured| captured.name == name)?;
        Some(&found.value)
    }

    /// True if the path, as the caller sent it, ends in `name`. It does not if a part was folded (see [`super::name_normalization`]).
    pub(crate) fn has_sent(&self, name: &str) -> bool {
        let sent = CanonicalPath::parse(&self.request.path);
        sent.is_ok_and(|sent| sent.as_str().ends_with(name))
    }

    /// The caller's token.
    ///
    /// # Errors
    ///
    /// On a path that needs no token, when there is none.
    pub(crate) fn caller_token(&self) -> Result<&'a str, ApiError> {
        self.token
            .ok_or_else(|| ApiError::plain(403, "permission denied"))
    }
}
