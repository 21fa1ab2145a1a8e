//! Response wrapping, for every answer on request, and the routes below `sys/wrapping/` (contract 1.8, 6.6).

use std::borrow::Cow;

use gatehouse_access_api::{
    Operation, RevokeError, UnwrapError, WrapError, WrapRequest, WrappingView,
};
use jiff::Timestamp;
use serde::Serialize;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::{Fields, Verbatim};
use super::timestamp::timestamp;
use crate::http::{Request, Response};
use crate::path::UNWRAP_PATH;

/// Answers with the reply of a handler, or with a wrapping token for it if the request asks for that. Answers are wrapped only here: no handler
/// decides about it, so none can forget it.
///
/// A new token that cannot be delivered is revoked, so that no token is issued together with an error (SEC-T11).
pub(super) fn deliver(
    call: &Call<'_>,
    reply: &Reply,
    mount_type: &str,
) -> Result<Response, ApiError> {
    let delivered = response(call, reply, mount_type);
    if delivered.is_err()
        && let Some(token) = reply.new_token()
        && let Err(RevokeError::Failure(failure)) =
            call.server.access.revoke_token(&token.reference())
    {
        call.server.tell_operator(&format!(
            "a token that was not delivered lives on until it expires: {failure}"
        ));
    }
    delivered
}

fn response(call: &Call<'_>, reply: &Reply, mount_type: &str) -> Result<Response, ApiError> {
    let Some(ttl) = call.wrap_ttl.filter(|_| !reply.is_wrapped()) else {
        let id = match call.request_id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(call.server.fresh_uuid()?),
        };
        return reply.response(&id, mount_type);
    };
    let request = WrapRequest {
        content: reply.to_kept(mount_type)?,
        creation_path: creation_path(call).into_owned(),
        ttl,
        wrapped_accessor: reply.accessor(),
    };
    let wrapping = call
        .server
        .access
        .wrap(&request)
        .map_err(|error| match error {
            WrapError::Failure(failure) => failure.into(),
            error @ (WrapError::NoTtl | WrapError::TooLarge(_)) => {
                ApiError::plain(400, error.to_string())
            }
        })?;
    Reply::wrapped(wrapping).response("", "")
}

/// The path as the reference shows it: the path of a list ends in a slash (contract 1.1).
fn creation_path<'a>(call: &Call<'a>) -> Cow<'a, str> {
    match call.operation {
        Operation::List => Cow::Owned(format!("{}/", call.path)),
        _ => Cow::Borrowed(call.path),
    }
}

/// True if the refusal of a caller without a valid token must be about a wrapping token: the caller presented it as its own token, to unwrap it.
/// Otherwise the client would conclude that its token is invalid, and log in again, which does not help.
pub(super) fn is_about_the_caller(request: &Request, token: Option<&str>, path: &str) -> bool {
    if !matches!(path, UNWRAP_PATH | "sys/wrapping/rewrap") {
        return false;
    }
    let fields = Fields::of_body(request).ok();
    let named = fields.and_then(|fields| fields.string("token").ok());
    match named {
        Some(Some(named)) => named.is_empty() || token == Some(named.as_str()),
        Some(None) => true,
        // Callers without a valid token learn nothing about the meaning of the body.
        None => false,
    }
}

/// The refusal of used, expired and unknown wrapping tokens, and of tokens that wrap nothing.
pub(super) fn invalid_token() -> ApiError {
    ApiError::plain(400, "wrapping token is not valid or does not exist")
}

impl From<UnwrapError> for ApiError {
    fn from(error: UnwrapError) -> Self {
        match error {
            UnwrapError::InvalidToken => invalid_token(),
            UnwrapError::Failure(failure) => failure.into(),
        }
    }
}

/// `wrap`: the fields of the body are the data to wrap. They are not copied to the top level, where they could look like members of the envelope.
pub(super) fn wrap(call: &Call<'_>) -> Answer {
    if call.wrap_ttl.is_none() {
        let text = "endpoint requires response wrapping to be used";
        return Err(ApiError::plain(400, text));
    }
    Reply::data(&Verbatim::of_body(call.request)?).map(Some)
}

#[derive(Serialize)]
struct WrappingDescription<'a> {
    creation_path: &'a str,
    creation_time: Timestamp,
    creation_ttl: u64,
}

/// `lookup`
pub(super) fn lookup(call: &Call<'_>) -> Answer {
    let WrappingView {
        creation_time,
        creation_ttl,
        creation_path,
    } = call.server.access.read_wrapping(&wrapping_token(call)?)?;
    let shown = WrappingDescription {
        creation_path: &creation_path,
        creation_time: timestamp(creation_time),
        creation_ttl,
    };
    Reply::data(&shown).map(Some)
}

/// `unwrap`
pub(super) fn unwrap(call: &Call<'_>) -> Answer {
    let kept = call.server.access.unwrap_content(&wrapping_token(call)?)?;
    Reply::from_kept(&kept).map(Some)
}

/// `rewrap`
pub(super) fn rewrap(call: &Call<'_>) -> Answer {
    let wrapping = call
        .server
        .access
        .rewrap(&wrapping_token(call)?, call.wrap_ttl)?;
    Ok(Some(Reply::wrapped(wrapping)))
}

/// The wrapping token in question: the field `token`, or otherwise the caller's own.
///
/// # Errors
///
/// When there is none, or when a wrapping token names another wrapping token: its own use would never be taken.
fn wrapping_token<'a>(call: &Call<'a>) -> Result<Cow<'a, str>, ApiError> {
    let named = match call.operation {
        // The body of a read is ignored (contract 1.1).
        Operation::Read => None,
        _ => call.fields()?.string("token")?,
    };
    let Some(named) = named.filter(|token| !token.is_empty()) else {
        return call.token.map(Cow::Borrowed).ok_or_else(invalid_token);
    };
    let caller = call.admission.caller.as_ref();
    // Both tokens come from the client, so the time of the comparison reveals nothing.
    let is_another = call.token != Some(named.as_str());
    if is_another && caller.is_some_and(gatehouse_access_api::TokenView::is_wrapping) {
        return Err(invalid_token());
    }
    Ok(Cow::Owned(named))
}
