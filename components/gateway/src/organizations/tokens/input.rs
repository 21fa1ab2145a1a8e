//! The documents of requests about new tokens and about how long tokens may live.

use gatehouse_orgs_api::{Attribute, AttributeIssue, Fault, LifetimeChange, TokenRequest};

use crate::organizations::api_error::ApiError;
use crate::organizations::attribute_error::AttributeError;
use crate::organizations::fields;
use crate::organizations::input::{Input, Kinds, Members};

/// Reads what a new token is to be. The document may be absent, empty, or of any type.
///
/// # Errors
///
/// [`ApiError::InvalidJson`], [`ApiError::Unprocessable`], and [`ApiError::Invalid`] for what is of a wrong type or no timestamp.
pub(in crate::organizations) fn token_request(body: &[u8]) -> Result<TokenRequest, ApiError> {
    let input = Input::read_if_any(body)?;
    let attributes = input.resource(Kinds::Any)?.attributes;
    let mut issues = Vec::new();
    let expires_at = match attributes.timestamp("expired-at") {
        Attribute::Value(milliseconds) => Some(u64::try_from(milliseconds).unwrap_or(0)),
        Attribute::WrongType
            if attributes.text("expired-at") != Attribute::Value(String::new()) =>
        {
            issues.push(AttributeIssue::new("expired-at", Fault::NotTimestamp));
            None
        }
        Attribute::Absent | Attribute::Null | Attribute::WrongType => None,
    };
    let description = match attributes.text("description") {
        Attribute::Value(text) => Some(text),
        Attribute::WrongType => {
            issues.push(AttributeIssue::new("description", Fault::NotText));
            None
        }
        Attribute::Absent | Attribute::Null => None,
    };
    if issues.is_empty() {
        Ok(TokenRequest {
            description,
            expires_at,
        })
    } else {
        Err(ApiError::Invalid(
            issues.iter().map(fields::attribute_error).collect(),
        ))
    }
}

/// Reads how long tokens are to live: one resource that lists kinds, or a list of resources of one kind each.
///
/// # Errors
///
/// [`ApiError::InvalidJson`], [`ApiError::Unprocessable`], and [`ApiError::Invalid`] where a list is expected and something else is given.
pub(super) fn lifetime_changes(body: &[u8]) -> Result<Vec<LifetimeChange>, ApiError> {
    let input = Input::read(body)?;
    let mut changes = Vec::new();
    for resource in input.resources(Kinds::Any)? {
        match resource.attributes.objects("token-ttl-policies") {
            Attribute::Value(policies) => changes.extend(policies.iter().map(lifetime_change)),
            Attribute::WrongType => {
                let what = "must be a list of objects";
                let fault = AttributeError::attribute("token-ttl-policies", what);
                return Err(ApiError::Invalid(vec![fault]));
            }
            Attribute::Absent | Attribute::Null => {
                let attributes = &resource.attributes;
                if attributes
                    .get("token-type")
                    .or(attributes.get("max-ttl-ms"))
                    .is_some()
                {
                    changes.push(lifetime_change(attributes));
                }
            }
        }
    }
    Ok(changes)
}

fn lifetime_change(members: &Members<'_>) -> LifetimeChange {
    LifetimeChange {
        token_type: members.text("token-type"),
        maximum: members.integer("max-ttl-ms"),
    }
}
