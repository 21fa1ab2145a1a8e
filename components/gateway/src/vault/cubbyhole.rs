//! `cubbyhole`: secrets that each token keeps for itself, and that end with it (contract 6.1).

use gatehouse_access_api::{AdmissionError, CubbyholeError};
use serde_json::value::RawValue;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::{ApiError, refusal};
use super::fields::Verbatim;
use super::paging::Paging;

/// LIST of a folder, or of all secrets
pub(super) fn list(call: &Call<'_>) -> Answer {
    let (access, token) = (call.server.access, call.caller_token()?);
    let folder = call.find_captured("path").unwrap_or_default();
    let paging = Paging::from_query(call)?;
    let keys = access.list_cubbyhole(token, folder);
    let keys = keys.map_err(api_error)?;
    let page = paging.part_of(keys, str::to_owned);
    paging.reply(&page)
}

/// GET, POST and DELETE without the path of a secret
pub(super) fn missing_path(_: &Call<'_>) -> Answer {
    Err(ApiError::plain(400, "missing path"))
}

/// GET of a secret
pub(super) fn read(call: &Call<'_>) -> Answer {
    let (access, token) = (call.server.access, call.caller_token()?);
    let secret = access.read_cubbyhole(token, call.captured("path")?);
    reply(secret.map_err(api_error)?.ok_or_else(ApiError::absent)?).map(Some)
}

/// POST of a secret
pub(super) fn write(call: &Call<'_>) -> Answer {
    let (access, token) = (call.server.access, call.caller_token()?);
    let content = content(call)?;
    let (path, permission) = (call.captured("path")?, call.admission.write);
    let written = access.write_cubbyhole(token, path, &content, permission);
    done(call, written)
}

/// DELETE of a secret
pub(super) fn delete(call: &Call<'_>) -> Answer {
    let (access, token) = (call.server.access, call.caller_token()?);
    let deleted = access.delete_cubbyhole(token, call.captured("path")?);
    done(call, deleted)
}

/// The object as it was sent, with every digit. A secret is not a field: its `null` values are kept.
fn content(call: &Call<'_>) -> Result<Vec<u8>, ApiError> {
    let fields = Verbatim::of_body(call.request)?;
    if fields.is_empty() {
        return Err(ApiError::plain(400, "missing data fields"));
    }
    serde_json::to_vec(&fields)
        .map_err(|error| ApiError::internal(format!("a secret could not be written: {error}")))
}

fn reply(secret: Vec<u8>) -> Result<Reply, ApiError> {
    // The message would quote the unreadable secret.
    let unreadable = || ApiError::internal("a token's secret could not be read");
    let text = String::from_utf8(secret).map_err(|_| unreadable())?;
    let data: Box<RawValue> = RawValue::from_string(text).map_err(|_| unreadable())?;
    Reply::data(&data)
}

/// The answer to a change. If it was the token's last use, the secret ended with the token, and the change counts as done.
fn done(call: &Call<'_>, changed: Result<(), CubbyholeError>) -> Answer {
    let caller = call.admission.caller.as_ref();
    let was_last_use =
        call.admission.limited_uses && caller.is_some_and(|caller| caller.num_uses == 0);
    match changed {
        Err(CubbyholeError::InvalidToken) if was_last_use => Ok(None),
        changed => {
            changed.map_err(api_error)?;
            Ok(None)
        }
    }
}

fn api_error(error: CubbyholeError) -> ApiError {
    match error {
        CubbyholeError::InvalidToken => refusal(AdmissionError::InvalidToken, ""),
        CubbyholeError::BatchToken => ApiError::plain(
            400,
            "cubbyhole operations are only supported by \"service\" type tokens",
        ),
        CubbyholeError::Denied => ApiError::denied(),
        CubbyholeError::Failure(failure) => failure.into(),
        error @ (CubbyholeError::PathTooLong(_)
        | CubbyholeError::TooManySecrets(_)
        | CubbyholeError::TooLarge(_)) => ApiError::plain(400, error.to_string()),
    }
}
