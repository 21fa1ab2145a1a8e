//! `sys/leases`, and the older spellings of its routes directly below `sys/` (contract 6.5). Every lease is a token's.

use gatehouse_access_api::{
    Access, LookupError, Operation, PrefixError, TokenReference, TokenView,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::call::{Answer, Call, ignored_fields};
use super::envelope::Reply;
use super::errors::Fault;
use super::fields::Fields;
use super::paging::Paging;
use super::timestamp::timestamp;
use super::tokens::tidy;

#[derive(Serialize)]
struct Shown<'a> {
    expire_time: Option<Timestamp>,
    id: &'a str,
    issue_time: Timestamp,
    last_renewal: Option<Timestamp>,
    path: &'a str,
    renewable: bool,
    ttl: u64,
}

/// Answers a request below `sys/leases/`, or with an older spelling below `sys/`.
pub(super) fn handle(access: &dyn Access, call: &Call<'_>, below: &str) -> Answer {
    let (family, rest) = below.split_once('/').unwrap_or((below, ""));
    match (family, rest, call.operation) {
        ("lookup", prefix, Operation::List) => list(access, call, prefix),
        ("lookup", "", Operation::Update) => lookup(access, call),
        ("renew", id, Operation::Update) => renew(access, call, id),
        ("revoke", id, Operation::Update) => revoke(access, call, id),
        ("revoke-prefix" | "revoke-force", "", _) => Err(Fault::unsupported_path()),
        ("revoke-prefix" | "revoke-force", prefix, Operation::Update) => {
            revoke_prefix(access, call, prefix)
        }
        ("", "", Operation::Read) => irrevocable(call, "leases", json!([])),
        ("count", "", Operation::Read) => irrevocable(call, "counts", json!({})),
        ("tidy", "", Operation::Update) => tidy::handle(access),
        ("lookup" | "renew" | "revoke" | "revoke-prefix" | "revoke-force", ..)
        | ("" | "count" | "tidy", "", _) => Err(Fault::unsupported_operation()),
        _ => Err(Fault::unsupported_path()),
    }
}

fn list(access: &dyn Access, call: &Call<'_>, prefix: &str) -> Answer {
    let paging = Paging::of(call)?;
    let page = access.list_leases(prefix, paging.after.as_deref(), paging.limit)?;
    paging.reply(&page)
}

fn lookup(access: &dyn Access, call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, "")?;
    let token = find(access, &id)?.ok_or_else(|| Fault::plain(400, "invalid lease"))?;
    let reply = Reply::data(&Shown {
        expire_time: token.expire_time.map(timestamp),
        id: &id,
        issue_time: timestamp(token.creation_time),
        last_renewal: token.last_renewal_time.map(timestamp),
        path: &token.path,
        renewable: token.renewable,
        ttl: token.ttl,
    })?;
    Ok(Some(reply.warned(ignored_fields(&fields, &["lease_id"]))))
}

/// Who may renew a token holds it or its accessor; a lease is known to more people.
fn renew(access: &dyn Access, call: &Call<'_>, in_path: &str) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, in_path)?;
    fields.duration("increment")?;
    let text = match find(access, &id)? {
        Some(_) => "tokens cannot be renewed through this endpoint",
        None => "lease not found",
    };
    Err(Fault::plain(400, text))
}

/// An unknown lease is as good as a revoked one.
fn revoke(access: &dyn Access, call: &Call<'_>, in_path: &str) -> Answer {
    let fields = call.fields()?;
    let id = lease_id(&fields, in_path)?;
    check_sync(&fields)?;
    access.revoke_token(&TokenReference::Lease(id.clone()))?;
    Ok(None)
}

/// Nothing outside the server has to be told of a token's end, so no revocation is ever forced.
fn revoke_prefix(access: &dyn Access, call: &Call<'_>, prefix: &str) -> Answer {
    check_sync(&call.fields()?)?;
    access.revoke_prefix(prefix).map_err(|error| match error {
        PrefixError::Failure(failure) => failure.into(),
        error @ PrefixError::TooManyPrefixes(_) => Fault::plain(400, error.to_string()),
    })?;
    Ok(None)
}

/// There are none, since a token can always be revoked.
fn irrevocable(call: &Call<'_>, name: &str, none: Value) -> Answer {
    match call.query_fields()?.string("type")?.as_deref() {
        Some("irrevocable") => Reply::data(&json!({ name: none, "lease_count": 0 })).map(Some),
        _ => Err(Fault::absent()),
    }
}

fn find(access: &dyn Access, id: &str) -> Result<Option<TokenView>, Fault> {
    match access.lookup_token(&TokenReference::Lease(id.into())) {
        Ok(token) => Ok(Some(token)),
        Err(LookupError::UnknownToken) => Ok(None),
        Err(LookupError::Failure(failure)) => Err(failure.into()),
    }
}

/// The lease that the body names, or else the path.
fn lease_id(fields: &Fields<'_>, in_path: &str) -> Result<String, Fault> {
    let id = fields.string("lease_id")?.filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| in_path.to_owned());
    if id.is_empty() {
        return Err(Fault::plain(400, "lease_id must be specified"));
    }
    Ok(id)
}

/// Every revocation has happened when it is answered, whether that is asked for or not.
fn check_sync(fields: &Fields<'_>) -> Result<(), Fault> {
    fields.boolean("sync")?;
    Ok(())
}
