//! A request that has been admitted, as the routes see it.

use gatehouse_access_api::{Admission, Operation};

use super::envelope::Reply;
use super::errors::Fault;
use super::fields::Fields;
use super::text;
use crate::http::Request;
use crate::path::CanonicalPath;

/// What a route answers: an envelope, or nothing to say (204).
pub(crate) type Answer = Result<Option<Reply>, Fault>;

/// An admitted request.
pub(crate) struct Call<'a> {
    pub(crate) request: &'a Request,
    /// What it does.
    pub(crate) operation: Operation,
    /// The canonical path below `v1/`, its names folded.
    pub(crate) path: &'a str,
    /// The caller's token; `None` only on paths that need none.
    pub(crate) token: Option<&'a str>,
    /// For how many seconds the answer is to be wrapped; `None` when it is not.
    pub(crate) wrap_ttl: Option<u64>,
    /// What access says about it.
    pub(crate) admission: Admission,
    /// The name under which it is recorded; `None` where it is not.
    pub(crate) request_id: Option<&'a str>,
}

/// The fields of a body that may name only `known` ones (contract 1.6: 422).
pub(crate) fn fields_among<'a>(request: &'a Request, known: &[&str]) -> Result<Fields<'a>, Fault> {
    let fields = Fields::of_body(request)?;
    match fields.unknown(known).as_slice() {
        [] => Ok(fields),
        unknown => Err(Fault::unknown_fields(unknown)),
    }
}

impl<'a> Call<'a> {
    /// The fields of the body.
    pub(crate) fn fields(&self) -> Result<Fields<'a>, Fault> {
        Ok(Fields::of_body(self.request)?)
    }

    /// The fields of a body that may name only `known` ones (contract 1.6: 422).
    pub(crate) fn fields_among(&self, known: &[&str]) -> Result<Fields<'a>, Fault> {
        fields_among(self.request, known)
    }

    /// The fields of the query, where reads have theirs (contract 1.1, rule 2).
    pub(crate) fn query_fields(&self) -> Result<Fields<'a>, Fault> {
        Ok(Fields::of_query(self.request)?)
    }

    /// Whether the caller wrote the end of the path as `name`: not, where a part of it was folded (see [`super::spelling`]).
    pub(crate) fn has_sent(&self, name: &str) -> bool {
        let sent = CanonicalPath::parse(&self.request.path);
        sent.is_ok_and(|sent| sent.as_str().ends_with(name))
    }

    /// The caller's token.
    ///
    /// # Errors
    ///
    /// On a path that needs none, where there is none.
    pub(crate) fn caller_token(&self) -> Result<&'a str, Fault> {
        self.token
            .ok_or_else(|| Fault::plain(403, "permission denied"))
    }
}

/// The warning about fields that had no effect, if there are any (contract 1.9).
pub(crate) fn ignored_fields(fields: &Fields<'_>, known: &[&str]) -> Option<String> {
    let unknown = fields.unknown(known);
    (!unknown.is_empty()).then(|| {
        format!(
            "Endpoint ignored these unrecognized parameters: {}",
            text::bare(&unknown)
        )
    })
}

/// The warning about a field that the path has already said (contract 1.9).
pub(crate) fn replaced_field(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.has(name).then(|| {
        format!(
            "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [{name}]"
        )
    })
}
