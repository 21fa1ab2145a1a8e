//! The handlers of the mount `token/` (contract 5.4).

pub(super) mod accessors;
pub(super) mod create;
pub(super) mod lookup;
pub(super) mod renew;
pub(super) mod revoke;
pub(super) mod roles;
pub(super) mod tidy;

use super::errors::ApiError;
use super::fields::Fields;

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
