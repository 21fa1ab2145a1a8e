//! The revocation of a token and all its descendants (contract 5.4).

use gatehouse_access_api::{RevokeError, TokenReference};

use super::{accessor, token};
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;

impl From<RevokeError> for ApiError {
    fn from(error: RevokeError) -> Self {
        match error {
            RevokeError::BatchToken => Self::plain(400, "batch tokens cannot be revoked"),
            RevokeError::Failure(failure) => failure.into(),
        }
    }
}

/// `revoke-self`
pub(in crate::vault) fn revoke_self(call: &Call<'_>) -> Answer {
    call.server
        .access
        .revoke_token(&TokenReference::Id(call.caller_token()?.into()))?;
    Ok(None)
}

/// `revoke`; an unknown token counts as revoked.
pub(in crate::vault) fn by_token(call: &Call<'_>) -> Answer {
    let token = token(&call.fields()?)?;
    call.server
        .access
        .revoke_token(&TokenReference::Id(token.clone()))?;
    Ok(None)
}

/// `revoke-orphan`; the children of the token stay valid.
pub(in crate::vault) fn alone(call: &Call<'_>) -> Answer {
    let token = token(&call.fields()?)?;
    if !call.admission.sudo {
        let text = "root or sudo privileges required to revoke and orphan";
        return Err(ApiError::plain(400, text));
    }
    if !call
        .server
        .access
        .revoke_token_alone(&TokenReference::Id(token.clone()))?
    {
        return Err(ApiError::plain(400, "token to revoke not found"));
    }
    Ok(None)
}

/// `revoke-accessor`
pub(in crate::vault) fn by_accessor(call: &Call<'_>) -> Answer {
    let accessor = accessor(&call.fields()?)?;
    let found = call
        .server
        .access
        .revoke_token(&TokenReference::Accessor(accessor.clone()))?;
    Ok((!found).then(|| Reply::empty().warned(["No token found with this accessor".to_owned()])))
}
