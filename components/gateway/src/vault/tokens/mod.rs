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

/// LIST `accessors`: what there is to look up, renew or revoke without knowing a token
pub(super) fn list_accessors(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    Paging::keys(call, |after, limit| access.list_accessors(after, limit))
}

/// `tidy`, and `sys/leases/tidy`, whose leases are the tokens': has what no token leads to cleared away
pub(super) fn tidy(call: &Call<'_>) -> Answer {
    let reply = if call.server.access.tidy_tokens()? {
        // Nothing is deleted here: only background work is held back while the server's clock is in doubt (SEC-T6).
        let started = "Tidy operation successfully started. It is done in the background, while the server's clock is not in doubt.";
        Reply::accepted().warned([started.to_owned()])
    } else {
        Reply::empty().warned(["Tidy operation already in progress.".to_owned()])
    };
    Ok(Some(reply))
}

/// The field `accessor`, which must be there.
fn accessor(fields: &Fields<'_>) -> Result<String, ApiError> {
    let accessor = fields.string("accessor")?.unwrap_or_default();
    if accessor.is_empty() {
        return Err(ApiError::listed(400, "missing accessor"));
    }
    Ok(accessor)
}

/// The field `token`, which must be there.
fn token(fields: &Fields<'_>) -> Result<String, ApiError> {
    let token = fields.string("token")?.unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::plain(400, "missing token ID"));
    }
    Ok(token)
}
