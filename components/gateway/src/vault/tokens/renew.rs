//! Renewal: the method that issued the token confirms, then access extends it (contract 4.10, 5.3).

use gatehouse_access_api::{ClientToken, RenewError, TokenReference};

use super::{accessor, token};
use crate::vault::auth_block::Granted;
use crate::vault::auth_method;
use crate::vault::call::{Answer, Call, ignored_fields};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::fields::Fields;
use crate::vault::server::Server;

/// `renew-self`
pub(super) fn own(server: &Server<'_>, call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let token = call.caller_token()?;
    let reply = renew(
        server,
        call,
        &fields,
        &TokenReference::Id(token.into()),
        |error| by_token_fault(&error),
    )?;
    // The token itself is a field that older clients send along.
    Ok(Some(
        reply.warned(ignored_fields(&fields, &["increment", "token"])),
    ))
}

/// `renew`
pub(super) fn by_token(server: &Server<'_>, call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let token = token(&fields)?;
    let reply = renew(
        server,
        call,
        &fields,
        &TokenReference::Id(token.clone()),
        |error| by_token_fault(&error),
    )?;
    Ok(Some(
        reply.warned(ignored_fields(&fields, &["increment", "token"])),
    ))
}

/// `renew-accessor`
pub(super) fn by_accessor(server: &Server<'_>, call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let accessor = accessor(&fields)?;
    let reference = &TokenReference::Accessor(accessor.clone());
    let reply = renew(server, call, &fields, reference, |error| match error {
        RenewError::UnknownToken => Fault::listed(400, "invalid accessor"),
        error => by_token_fault(&error),
    })?;
    Ok(Some(reply.warned(ignored_fields(
        &fields,
        &["increment", "accessor"],
    ))))
}

fn renew(
    server: &Server<'_>,
    call: &Call<'_>,
    fields: &Fields<'_>,
    reference: &TokenReference,
    fault: impl Fn(RenewError) -> Fault,
) -> Result<Reply, Fault> {
    let increment = fields.duration("increment")?.unwrap_or_default();
    let access = server.access;
    let subject = access
        .renewal(reference, call.request.peer_text().as_deref())
        .map_err(&fault)?;
    let fresh = subject
        .revalidation
        .map(|revalidation| auth_method::revalidate(server.auth_method, call, revalidation))
        .transpose()?;
    let grant = access
        .renew_token(reference, increment, fresh.as_ref())
        .map_err(&fault)?;
    let client_token = match reference {
        TokenReference::Id(token) => Some(ClientToken::new(token.to_owned())),
        // Who knows only what leads to the token must not learn it.
        TokenReference::Accessor(_) | TokenReference::Lease(_) => None,
    };
    Ok(Reply::auth(Granted {
        client_token,
        grant,
        is_new: false,
    }))
}

fn by_token_fault(error: &RenewError) -> Fault {
    match error {
        RenewError::Failure(failure) => failure.clone().into(),
        RenewError::AddressDenied => Fault::denied(),
        RenewError::UnknownToken => Fault::plain(400, "token not found"),
        RenewError::NotRenewable => Fault::plain(400, "lease is not renewable"),
        RenewError::BatchToken => Fault::plain(400, "batch tokens cannot be renewed"),
        RenewError::RoleGone(_) => Fault::plain(400, error.to_string()),
        RenewError::PastMaxTtl => Fault::plain(400, "past the max TTL, cannot renew"),
        RenewError::TooManyGroupAliases(_) => Fault::plain(400, error.to_string()),
        RenewError::RevalidationMissing => Fault::internal(error.to_string()),
    }
}
