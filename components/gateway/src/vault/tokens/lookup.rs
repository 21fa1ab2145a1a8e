//! The state of a token (contract 5.5).

use gatehouse_access_api::{LookupError, Operation, TokenReference, TokenView};
use jiff::Timestamp;
use serde::Serialize;

use super::accessor;
use crate::metadata::Metadata;
use crate::vault::auth_block::token_type;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::timestamp::timestamp;

/// A token in a lookup. Strings are never null and numbers never negative, since strict clients rely on both.
#[derive(Serialize)]
struct TokenDescription<'a> {
    accessor: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_cidrs: &'a [String],
    creation_time: u64,
    creation_ttl: u64,
    display_name: &'a str,
    entity_id: &'a str,
    expire_time: Option<Timestamp>,
    explicit_max_ttl: u64,
    id: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    identity_policies: &'a [String],
    issue_time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_renewal: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_renewal_time: Option<u64>,
    meta: Option<Metadata<'a>>,
    num_uses: u64,
    orphan: bool,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    policies: &'a [String],
    renewable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    ttl: u64,
    #[serde(rename = "type")]
    token_type: &'static str,
}

/// `lookup-self`: admission has already looked up the caller's token.
pub(in crate::vault) fn look_up_self(call: &Call<'_>) -> Answer {
    let caller = call.admission.caller.as_ref();
    let caller = caller.ok_or_else(|| ApiError::plain(403, "bad token"))?;
    token_reply(caller, call.caller_token()?).map(Some)
}

/// `lookup`
pub(in crate::vault) fn by_token(call: &Call<'_>) -> Answer {
    let fields = match call.operation {
        Operation::Read => call.query_fields()?,
        _ => call.fields()?,
    };
    let token = fields.string("token")?.unwrap_or_default();
    let reply = if token.is_empty() {
        look_up_self(call)?
    } else {
        let access = call.server.access;
        let view = access
            .lookup_token(&TokenReference::Id(token.clone()))
            .map_err(|error| match error {
                LookupError::UnknownToken => ApiError::plain(403, "bad token"),
                LookupError::Failure(failure) => failure.into(),
            })?;
        Some(token_reply(&view, &token)?)
    };
    // The warnings about a query are added with those of all reads.
    let ignored = fields
        .ignored_warning()
        .filter(|_| call.operation != Operation::Read);
    Ok(reply.map(|reply| reply.warned(ignored)))
}

/// `lookup-accessor`
pub(in crate::vault) fn by_accessor(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let accessor = accessor(&fields)?;
    let access = call.server.access;
    let view = access
        .lookup_token(&TokenReference::Accessor(accessor.clone()))
        .map_err(|error| match error {
            LookupError::UnknownToken => ApiError::listed(400, "invalid accessor"),
            LookupError::Failure(failure) => failure.into(),
        })?;
    let reply = token_reply(&view, "")?;
    Ok(Some(reply.warned(fields.ignored_warning())))
}

fn token_reply(token: &TokenView, id: &str) -> Result<Reply, ApiError> {
    Reply::data(&TokenDescription {
        accessor: &token.accessor,
        bound_cidrs: &token.bound_cidrs,
        creation_time: token.creation_time,
        creation_ttl: token.creation_ttl,
        display_name: &token.display_name,
        entity_id: token.entity_id.as_deref().unwrap_or_default(),
        expire_time: token.expire_time.map(timestamp),
        explicit_max_ttl: token.explicit_max_ttl,
        id,
        identity_policies: &token.identity_policies,
        issue_time: timestamp(token.creation_time),
        last_renewal: token.last_renewal_time.map(timestamp),
        last_renewal_time: token.last_renewal_time,
        meta: token.metadata.as_deref().map(Metadata),
        num_uses: token.num_uses,
        orphan: token.orphan,
        path: &token.path,
        period: (token.period > 0).then_some(token.period),
        policies: &token.policies,
        renewable: token.renewable,
        role: token.role.as_deref(),
        ttl: token.ttl,
        token_type: token_type(token.token_type),
    })
}
