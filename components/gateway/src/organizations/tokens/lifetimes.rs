//! The maximum lifetimes of an organization's tokens (contract 4.8).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Action, Capability, LifetimePolicy};
use serde_json::{Value, json};

use super::input::lifetime_changes;
use crate::http::Response;
use crate::organizations::api::Api;
use crate::organizations::api_error::ApiError;
use crate::organizations::document::Document;
use crate::organizations::document_type::{DocumentType, Property, choice, integer, objects, time};
use crate::organizations::timestamp;
use crate::organizations::transport::json_api;

/// The policy path of the lifetimes, below the organization.
const BELOW: &str = "token-ttl-policies";

const TYPE: &str = "organization-token-ttl-policies";

const TOKEN_TYPE: Property = choice(
    "token-type",
    &["organization", "team", "user", "audit_trails", "metrics"],
    "The kind of token.",
);
const MAXIMUM: Property = integer("max-ttl-ms", "The maximum in milliseconds.");

pub(super) const LIFETIME: DocumentType = DocumentType::new(
    "TokenLifetime",
    TYPE,
    "The maximum lifetime of tokens of one kind.",
    &[
        TOKEN_TYPE.read_only(),
        MAXIMUM.read_only(),
        time("created-at", "The time of its making.").read_only(),
        time("updated-at", "The time of its last change.").read_only(),
    ],
);
pub(super) const LIFETIMES: DocumentType = DocumentType::new(
    "TokenLifetimes",
    TYPE,
    "The maximum lifetimes of tokens. Kinds that are not named keep theirs.",
    &[objects(
        "token-ttl-policies",
        &[TOKEN_TYPE, MAXIMUM],
        "The kinds that change.",
    )
    .write_only()],
);

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn token_lifetimes(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ManageTokenLifetimes, Some(BELOW))?;
        let organization = &entry.position.organization.external_id;
        let policies = self.organizations.token_lifetimes(organization)?;
        Ok(lifetimes_response(&policies))
    }

    pub(super) fn set_token_lifetimes(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ManageTokenLifetimes, Some(BELOW))?;
        let changes = lifetime_changes(&self.request.body)?;
        let organization = &entry.position.organization.external_id;
        let by = self.recorded_as(&entry.caller);
        let policies = self
            .organizations
            .set_token_lifetimes(organization, &changes, &by)?;
        Ok(lifetimes_response(&policies))
    }
}

/// The list of all lifetimes. It is short, and so has no pages.
fn lifetimes_response(policies: &[LifetimePolicy]) -> Response {
    let resources: Vec<Value> = policies.iter().map(resource_of).collect();
    json_api(200, &Document::new(resources))
}

fn resource_of(policy: &LifetimePolicy) -> Value {
    json!({
        "id": policy.id,
        "type": TYPE,
        "attributes": {
            "token-type": policy.kind.as_str(),
            "max-ttl-ms": policy.maximum,
            "created-at": timestamp::formatted(policy.created_at),
            "updated-at": timestamp::formatted(policy.updated_at),
        },
    })
}
