//! JSON:API documents about organizations (contract 2.3 to 2.6, 4.1).

use gatehouse_orgs_api::{Edition, Entitlement, EntitlementValue, Organization};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::organization::{ORGANIZATIONS, OrganizationAttributes};
use super::resource::{ResourcePath, ShownRelationship, ShownResource};
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

/// An organization, as one caller sees it.
pub(super) type OrganizationResource<'a> =
    ShownResource<'a, OrganizationAttributes<'a>, OrganizationRelationships<'a>>;

impl<'a> OrganizationResource<'a> {
    /// `organization` for a caller with these permissions, as [`shown_permissions`] writes them.
    ///
    /// [`shown_permissions`]: super::organization::shown_permissions
    pub(super) fn for_caller(organization: &'a Organization, permissions: &'a RawValue) -> Self {
        Self::new(
            ORGANIZATIONS,
            &organization.name,
            OrganizationAttributes::new(organization, permissions),
            OrganizationRelationships::new(organization),
        )
    }
}

/// The relationships of an organization. Those of the other edition are left out.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct OrganizationRelationships<'a> {
    default_agent_pool: ShownRelationship<'a>,
    stacks_default_agent_pool: ShownRelationship<'a>,
    default_project: ShownRelationship<'a>,
    oauth_tokens: ShownRelationship<'a>,
    authentication_token: ShownRelationship<'a>,
    entitlement_set: ShownRelationship<'a>,
    subscription: ShownRelationship<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_trails_authentication_token: Option<ShownRelationship<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_hyok_configuration: Option<ShownRelationship<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module_producers: Option<ShownRelationship<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_producers: Option<ShownRelationship<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_retention_policy: Option<ShownRelationship<'a>>,
}

impl<'a> OrganizationRelationships<'a> {
    fn new(organization: &'a Organization) -> Self {
        let path = ResourcePath::new(ORGANIZATIONS, &organization.name);
        let linked = |below| ShownRelationship::linked(path.below(below));
        let settings = &organization.settings;
        let project = &organization.default_project_id;
        let edition = organization.plan.edition();
        let hosted = |relationship| (edition == Edition::Hosted).then_some(relationship);
        let self_hosted = |relationship| (edition == Edition::SelfHosted).then_some(relationship);
        let retention = organization.retention.as_ref();
        Self {
            default_agent_pool: agent_pool(settings.default_agent_pool_id.as_deref()),
            stacks_default_agent_pool: agent_pool(settings.stacks_default_agent_pool_id.as_deref()),
            default_project: ShownRelationship::one("projects", project)
                .at(ResourcePath::new("projects", project)),
            oauth_tokens: linked("/oauth-tokens"),
            authentication_token: linked("/authentication-token"),
            entitlement_set: ShownRelationship::one("entitlement-sets", &organization.external_id)
                .at(path.below("/entitlement-set")),
            subscription: match edition {
                Edition::Hosted => {
                    ShownRelationship::one("subscriptions", &organization.subscription.id)
                        .at(path.below("/subscription"))
                }
                Edition::SelfHosted => linked("/subscription"),
            },
            audit_trails_authentication_token: hosted(linked(
                "/authentication-token?token=audit-trails",
            )),
            primary_hyok_configuration: hosted(ShownRelationship::none()),
            module_producers: self_hosted(linked("/relationships/module-producers")),
            provider_producers: self_hosted(linked("/relationships/provider-producers")),
            data_retention_policy: self_hosted(
                retention.map_or_else(ShownRelationship::none, |policy| {
                    ShownRelationship::one(retention_kind(policy.rule), &policy.id)
                }),
            ),
        }
    }
}

fn agent_pool(id: Option<&str>) -> ShownRelationship<'_> {
    id.map_or_else(ShownRelationship::none, |id| {
        ShownRelationship::one("agent-pools", id).at(ResourcePath::new("agent-pools", id))
    })
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

/// Resource identifiers with these ids.
pub(super) fn identifiers(ids: &[String], kind: &str) -> Value {
    ids.iter()
        .map(|id| json!({"id": id, "type": kind}))
        .collect()
}
