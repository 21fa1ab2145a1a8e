//! The parsing of a body into named values.

use std::borrow::Cow;

use super::conversion::Shape;
use crate::http::Request;
use crate::query;
use gatehouse_json::{self as json, JsonError, MAXIMUM_MEMBERS, Members};

/// True if a field of the query selects the operation, and is not one of its parameters.
pub(super) fn is_directive(name: &str) -> bool {
    matches!(name, "help" | "list")
}

type Values<'a> = Vec<(Cow<'a, str>, Shape<'a>)>;

/// The reason why a body has no fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContentError {
    /// The body is not a JSON object, or exceeds the limits for one.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The body is compressed, or in another coding.
    #[error("request bodies with a Content-Encoding are not supported: send the body as it is")]
    Encoded,
    /// A multipart body.
    #[error("multipart request bodies are not supported: send JSON")]
    Multipart,
}

/// The values of a body, before their conversion.
pub(super) enum Content<'a> {
    Members(Members<'a>),
    Form(Vec<(Cow<'a, str>, String)>),
}

/// The values of a request's body (contract 1.3).
pub(super) fn body(request: &Request) -> Result<Values<'_>, ContentError> {
    Ok(match content(request)? {
        Content::Members(members) => shapes(members),
        Content::Form(pairs) => texts(pairs),
    })
}

/// The parsed body of a request.
pub(super) fn content(request: &Request) -> Result<Content<'_>, ContentError> {
    if request.body.is_empty() {
        return Ok(Content::Members(Vec::new()));
    }
    if request.has_encoded_body() {
        return Err(ContentError::Encoded);
    }
    let media_type = request.media_type().unwrap_or_default();
    let family = media_type.split('/').next().unwrap_or_default();
    if family.eq_ignore_ascii_case("multipart") {
        return Err(ContentError::Multipart);
    }
    // `curl -d '{...}'` sends JSON with the media type of forms.
    let starts_as_json = matches!(request.body.trim_ascii_start().first(), Some(b'{' | b'['));
    if media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") && !starts_as_json {
        return form(&request.body).map(Content::Form);
    }
    Ok(Content::Members(json::object(&request.body)?))
}

/// The values of a request's query.
pub(super) fn query(request: &Request) -> Result<Values<'_>, ContentError> {
    form(request.query.as_bytes()).map(texts)
}

fn texts(pairs: Vec<(Cow<'_, str>, String)>) -> Values<'_> {
    let text = |(name, value)| (name, Shape::Text(Cow::Owned(value)));
    pairs.into_iter().map(text).collect()
}

/// The members of an object, without those that are `null`.
pub(super) fn shapes(members: Members<'_>) -> Values<'_> {
    members
        .into_iter()
        .map(|(name, value)| (name, Shape::from_raw(value)))
        .filter(|(_, shape)| !matches!(shape, Shape::Null))
        .collect()
}

fn form(body: &[u8]) -> Result<Vec<(Cow<'_, str>, String)>, ContentError> {
    let text = std::str::from_utf8(body).map_err(|_| JsonError::NotUtf8)?;
    if query::pairs(text).nth(MAXIMUM_MEMBERS).is_some() {
        return Err(JsonError::TooManyMembers.into());
    }
    let fields = query::gathered(text);
    let joined = |mut values: Vec<Cow<'_, str>>| match values.len() {
        1 => values.pop().unwrap_or_default().into_owned(),
        _ => values.join(","),
    };
    Ok(fields
        .into_iter()
        .map(|(name, values)| (name, joined(values)))
        .collect())
}
