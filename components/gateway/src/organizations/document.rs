//! JSON:API documents about organizations (contract 2.3 to 2.6, 4.1).

use gatehouse_orgs_api::{Edition, Entitlement, EntitlementValue, Organization, Permission};
use serde::Serialize;
use serde_json::{Value, json};

use super::organization::OrganizationAttributes;
use super::retention_kind::retention_kind;
use super::timestamp;

/// A document about one resource, or about many.
#[derive(Serialize)]
pub(super) struct Document<D> {
    pub(super) data: D,
    /// The related resources that were asked for; `None` where the request asks for none, which differs from an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) included: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Value>,
}

impl<D> Document<D> {
    /// A document with only `data`.
    pub(super) const fn new(data: D) -> Self {
        Self {
            data,
            included: None,
            links: None,
            meta: None,
        }
    }
}

/// A resource as an answer shows it.
#[derive(Serialize)]
pub(super) struct ShownResource<'a, A> {
    pub(super) id: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) attributes: A,
    pub(super) relationships: Value,
    pub(super) links: Value,
}

/// An organization, as one caller sees it.
pub(super) type OrganizationResource<'a> = ShownResource<'a, OrganizationAttributes<'a>>;

impl<'a> OrganizationResource<'a> {
    /// `organization` for a caller with these permissions.
    pub(super) fn new(organization: &'a Organization, permissions: &'a [Permission]) -> Self {
        Self {
            id: &organization.name,
            kind: "organizations",
            attributes: OrganizationAttributes::new(organization, permissions),
            relationships: relationships(organization),
            links: json!({"self": path_of(organization)}),
        }
    }
}

fn relationships(organization: &Organization) -> Value {
    let path = path_of(organization);
    let settings = &organization.settings;
    let project = &organization.default_project_id;
    let mut relationships = json!({
        "default-agent-pool": agent_pool(settings.default_agent_pool_id.as_deref()),
        "stacks-default-agent-pool": agent_pool(settings.stacks_default_agent_pool_id.as_deref()),
        "default-project": {
            "data": {"id": project, "type": "projects"},
            "links": {"related": format!("/api/v2/projects/{project}")},
        },
        "oauth-tokens": related(format!("{path}/oauth-tokens")),
        "authentication-token": related(format!("{path}/authentication-token")),
        "entitlement-set": {
            "data": {"id": organization.external_id, "type": "entitlement-sets"},
            "links": {"related": format!("{path}/entitlement-set")},
        },
        "subscription": related(format!("{path}/subscription")),
    });
    let of_edition = match organization.plan.edition() {
        Edition::Hosted => json!({
            "subscription": {
                "data": {"id": organization.subscription.id, "type": "subscriptions"},
                "links": {"related": format!("{path}/subscription")},
            },
            "audit-trails-authentication-token":
                related(format!("{path}/authentication-token?token=audit-trails")),
            "primary-hyok-configuration": {"data": null},
        }),
        Edition::SelfHosted => json!({
            "module-producers": related(format!("{path}/relationships/module-producers")),
            "provider-producers": related(format!("{path}/relationships/provider-producers")),
            "data-retention-policy": {"data": organization.retention.as_ref().map(
                |policy| json!({"id": policy.id, "type": retention_kind(policy.rule)}),
            )},
        }),
    };
    if let (Value::Object(all), Value::Object(more)) = (&mut relationships, of_edition) {
        all.extend(more);
    }
    relationships
}

fn agent_pool(id: Option<&str>) -> Value {
    match id {
        None => json!({"data": null}),
        Some(id) => json!({
            "data": {"id": id, "type": "agent-pools"},
            "links": {"related": format!("/api/v2/agent-pools/{id}")},
        }),
    }
}

fn related(path: String) -> Value {
    json!({"links": {"related": path}})
}

/// The entitlement set of an organization.
pub(super) fn entitlement_set(organization: &Organization, entitlements: &[Entitlement]) -> Value {
    let id = &organization.external_id;
    let attributes: serde_json::Map<String, Value> = entitlements
        .iter()
        .map(|entitlement| {
            let value = match entitlement.value {
                EntitlementValue::Included(included) => json!(included),
                EntitlementValue::Limit(limit) => json!(limit),
            };
            (entitlement.key.clone(), value)
        })
        .collect();
    json!({
        "id": id,
        "type": "entitlement-sets",
        "attributes": attributes,
        "links": {"self": format!("/api/v2/entitlement-sets/{id}")},
    })
}

/// The name of the default project of every organization.
pub(super) const DEFAULT_PROJECT_NAME: &str = "Default Project";

/// The default project of an organization (contract 4.13).
pub(super) fn default_project(organization: &Organization) -> Value {
    let id = &organization.default_project_id;
    json!({
        "id": id,
        "type": "projects",
        "attributes": {
            "name": DEFAULT_PROJECT_NAME,
            "description": "",
            "created-at": timestamp::formatted(organization.created_at),
            "workspace-count": 0,
            "team-count": 0,
            "is-unified": false,
        },
        "relationships": {
            "organization": to_organization(organization),
        },
        "links": {"self": format!("/api/v2/projects/{id}")},
    })
}

/// A relationship to an organization.
pub(super) fn to_organization(organization: &Organization) -> Value {
    json!({"data": {"id": organization.name, "type": "organizations"}})
}

fn path_of(organization: &Organization) -> String {
    format!("/api/v2/organizations/{}", organization.name)
}

/// Resource identifiers with these ids.
pub(super) fn identifiers(ids: &[String], kind: &str) -> Value {
    ids.iter()
        .map(|id| json!({"id": id, "type": kind}))
        .collect()
}
