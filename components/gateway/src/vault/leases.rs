//! `sys/leases`, and the older names of its routes directly below `sys/` (contract 6.5). Every lease belongs to a token.

use gatehouse_access_api::{Access, LookupError, PrefixError, TokenReference, TokenView};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::Fields;
use super::paging::Paging;
use super::timestamp::timestamp;

#[derive(Serialize)]
struct LeaseDescription<'a> {
    expire_time: Option<Timestamp>,
    id: &'a str,
    issue_time: Timestamp,
    last_renewal: Option<Timestamp>,
    path: &'a str,
    renewable: bool,
    ttl: u64,
}

/// LIST `sys/leases/lookup/<prefix>`
pub(super) fn list(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    let prefix = call.find_captured("prefix").unwrap_or_default();
    Paging::keys(call, |after, limit| {
        access.list_leases(prefix, after, limit)
    })
}

/// `sys/leases/lookup`
pub(super) fn lookup(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, call)?;
    let token =
        find(call.server.access, &id)?.ok_or_else(|| ApiError::plain(400, "invalid lease"))?;
    let reply = Reply::data(&LeaseDescription {
        expire_time: token.expire_time.map(timestamp),
        id: &id,
        issue_time: timestamp(token.creation_time),
        last_renewal: token.last_renewal_time.map(timestamp),
        path: &token.path,
        renewable: token.renewable,
        ttl: token.ttl,
    })?;
    Ok(Some(reply.warned(fields.ignored_warning())))
}

/// Always refuses. A caller that may renew a token knows it or its accessor, while a lease is known to more people.
pub(super) fn renew(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, call)?;
    fields.duration("increment")?;
    let text = match find(call.server.access, &id)? {
        Some(_) => "tokens cannot be renewed through this endpoint",
        None => "lease not found",
    };
    Err(ApiError::plain(400, text))
}

/// An unknown lease counts as revoked.
pub(super) fn revoke(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, call)?;
    check_sync(&fields)?;
    call.server
        .access
        .revoke_token(&TokenReference::Lease(id.clone()))?;
    Ok(None)
}

/// A revocation needs no action outside the server, so it never has to be forced.
pub(super) fn revoke_prefix(call: &Call<'_>) -> Answer {
    let (access, prefix) = (call.server.access, call.captured("prefix")?);
    check_sync(&call.fields()?)?;
    access.revoke_prefix(prefix).map_err(|error| match error {
        PrefixError::Failure(failure) => failure.into(),
        error @ PrefixError::TooManyPrefixes(_) => ApiError::plain(400, error.to_string()),
    })?;
    Ok(None)
}

/// `sys/leases`
pub(super) fn irrevocable(call: &Call<'_>) -> Answer {
    none_irrevocable(call, "leases", json!([]))
}

/// `sys/leases/count`
pub(super) fn count_irrevocable(call: &Call<'_>) -> Answer {
    none_irrevocable(call, "counts", json!({}))
}

/// The answer without any lease: a token can always be revoked.
fn none_irrevocable(call: &Call<'_>, name: &str, none: Value) -> Answer {
    match call.query_fields()?.string("type")?.as_deref() {
        Some("irrevocable") => Reply::data(&json!({ name: none, "lease_count": 0 })).map(Some),
        _ => Err(ApiError::absent()),
    }
}

fn find(access: &dyn Access, id: &str) -> Result<Option<TokenView>, ApiError> {
    match access.lookup_token(&TokenReference::Lease(id.into())) {
        Ok(token) => Ok(Some(token)),
        Err(LookupError::UnknownToken) => Ok(None),
        Err(LookupError::Failure(failure)) => Err(failure.into()),
    }
}

/// The lease that the body names, or otherwise the path.
fn lease_id(fields: &Fields<'_>, call: &Call<'_>) -> Result<String, ApiError> {
    let id = fields.string("lease_id")?.filter(|id| !id.is_empty());
    id.or_else(|| call.find_captured("url_lease_id").map(str::to_owned))
        .ok_or_else(|| ApiError::plain(400, "lease_id must be specified"))
}

/// Checks the field `sync`, which has no effect: every revocation is complete when it is answered.
fn check_sync(fields: &Fields<'_>) -> Result<(), ApiError> {
    fields.boolean("sync")?;
    Ok(())
}
