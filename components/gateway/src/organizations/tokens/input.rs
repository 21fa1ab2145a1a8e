//! The documents of requests for new tokens and for maximum lifetimes.

use gatehouse_orgs_api::{Attribute, AttributeIssue, Fault, LifetimeChange, TokenRequest};

use crate::organizations::api_error::ApiError;
use crate::organizations::attribute_error::AttributeError;
use crate::organizations::fields;
use crate::organizations::input::{Input, Kinds, Members};

/// Reads the attributes of a new token. The document may be absent, empty, or of any type.
///
/// # Errors
///
/// [`ApiError::InvalidJson`], [`ApiError::Unprocessable`], and [`ApiError::Invalid`] for a wrong type or an invalid timestamp.
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

/// Reads maximum lifetimes: one resource with a list of kinds, or a list of resources with one kind each.
///
/// # Errors
///
/// [`ApiError::InvalidJson`], [`ApiError::Unprocessable`], and [`ApiError::Invalid`] for a value that is not a list where a list is required.
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
