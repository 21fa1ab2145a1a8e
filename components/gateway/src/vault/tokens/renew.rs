//! The renewal of tokens: the method that issued the token confirms it, and access then extends it (contract 4.10, 5.3).

use gatehouse_access_api::{ClientToken, RenewError, TokenReference};

use super::{accessor, token};
use crate::vault::auth_block::Granted;
use crate::vault::auth_method;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::fields::Fields;

/// `renew-self`
pub(in crate::vault) fn renew_self(call: &Call<'_>) -> Answer {
    let reference = TokenReference::Id(call.caller_token()?.into());
    renew(call, &call.fields()?, &reference, |error| {
        by_token_error(&error)
    })
}

/// `renew`
pub(in crate::vault) fn by_token(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let reference = TokenReference::Id(token(&fields)?);
    renew(call, &fields, &reference, |error| by_token_error(&error))
}

/// `renew-accessor`
pub(in crate::vault) fn by_accessor(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let reference = TokenReference::Accessor(accessor(&fields)?);
    renew(call, &fields, &reference, |error| match error {
        RenewError::UnknownToken => ApiError::listed(400, "invalid accessor"),
        error => by_token_error(&error),
    })
}

fn renew(
    call: &Call<'_>,
    fields: &Fields<'_>,
    reference: &TokenReference,
    api_error: impl Fn(RenewError) -> ApiError,
) -> Answer {
    let increment = fields.duration("increment")?.unwrap_or_default();
    let access = call.server.access;
    let subject = access
        .renewal(reference, call.request.peer)
        .map_err(&api_error)?;
    let fresh = subject
        .revalidation
        .map(|revalidation| auth_method::revalidate(call, revalidation))
        .transpose()?;
    let grant = access
        .renew_token(reference, increment, fresh.as_ref())
        .map_err(&api_error)?;
    let client_token = match reference {
        TokenReference::Id(token) => Some(ClientToken::new(token.to_owned())),
        // A caller that knows only the accessor or the lease must not learn the token.
        TokenReference::Accessor(_) | TokenReference::Lease(_) => None,
    };
    let reply = Reply::auth(Granted::Renewed {
        client_token,
        grant,
    });
    Ok(Some(reply.warned(fields.ignored_warning())))
}

fn by_token_error(error: &RenewError) -> ApiError {
    match error {
        RenewError::Failure(failure) => failure.clone().into(),
        RenewError::AddressDenied => ApiError::denied(),
        RenewError::UnknownToken => ApiError::plain(400, "token not found"),
        RenewError::NotRenewable => ApiError::plain(400, "lease is not renewable"),
        RenewError::BatchToken => ApiError::plain(400, "batch tokens cannot be renewed"),
        RenewError::RoleGone(_) => ApiError::plain(400, error.to_string()),
        RenewError::PastMaxTtl => ApiError::plain(400, "past the max TTL, cannot renew"),
        RenewError::TooManyGroupAliases(_) => ApiError::plain(400, error.to_string()),
        RenewError::RevalidationMissing => ApiError::internal(error.to_string()),
    }
}
