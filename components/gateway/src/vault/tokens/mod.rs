//! The handlers of the mount `token/` (contract 5.4).

pub(super) mod create;
pub(super) mod lookup;
pub(super) mod renew;
pub(super) mod revoke;
pub(super) mod roles;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::Fields;
use super::paging::Paging;

/// LIST `accessors`: the tokens that can be looked up, renewed or revoked without knowing them
pub(super) fn list_accessors(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    Paging::keys(call, |after, limit| access.list_accessors(after, limit))
}

/// `tidy`, and `sys/leases/tidy`, since every lease belongs to a token: starts the removal of records that belong to no token
pub(super) fn tidy(call: &Call<'_>) -> Answer {
    let reply = if call.server.access.tidy_tokens()? {
        // Nothing is deleted by this request. Background work does that, and waits while the server's clock is in doubt (SEC-T6).
        let started = "Tidy operation successfully started. It is done in the background, while the server's clock is not in doubt.";
        Reply::accepted().warned([started.to_owned()])
    } else {
        Reply::empty().warned(["Tidy operation already in progress.".to_owned()])
    };
    Ok(Some(reply))
}

/// The required field `accessor`.
fn accessor(fields: &Fields<'_>) -> Result<String, ApiError> {
    let accessor = fields.string("accessor")?.unwrap_or_default();
    if accessor.is_empty() {
        return Err(ApiError::listed(400, "missing accessor"));
    }
    Ok(accessor)
}

/// The required field `token`.
fn token(fields: &Fields<'_>) -> Result<String, ApiError> {
    let token = fields.string("token")?.unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::plain(400, "missing token ID"));
    }
    Ok(token)
}
