//! JSON:API documents about organizations (contract 2.3 to 2.6, 4.1).

use gatehouse_orgs_api::{Edition, Entitlement, EntitlementValue, Organization};
use serde_json::{Value, json};

use super::organization::{ORGANIZATIONS, OrganizationAttributes};
use super::resource::{ResourcePath, ShownRelationship, ShownResource};
use super::retention_kind::retention_kind;
use super::timestamp;
use crate::json_writer::{ObjectWriter, WriteJson, WriteMembers, Written, write_object};

/// A document about one resource, or about many.
pub(super) struct Document<D> {
    pub(super) data: D,
    /// The related resources that were asked for; `None` where the request asks for none, which differs from an empty list.
    pub(super) included: Option<Vec<Value>>,
    pub(super) links: Option<Value>,
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

impl<D: WriteJson> WriteJson for Document<D> {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_object(out, |document| {
            document.member("data", &self.data);
            if let Some(included) = &self.included {
                document.member("included", included);
            }
            if let Some(links) = &self.links {
                document.member("links", links);
            }
            if let Some(meta) = &self.meta {
                document.member("meta", meta);
            }
        });
    }
}

/// An organization, as one caller sees it.
pub(super) type OrganizationResource<'a> =
    ShownResource<'a, OrganizationAttributes<'a>, OrganizationRelationships<'a>>;

impl<'a> OrganizationResource<'a> {
    /// `organization` for a caller with these permissions, as [`shown_permissions`] writes them.
    ///
    /// [`shown_permissions`]: super::organization::shown_permissions
    pub(super) fn for_caller(organization: &'a Organization, permissions: &'a Written) -> Self {
        Self::new(
            ORGANIZATIONS,
            &organization.name,
            OrganizationAttributes::new(organization, permissions),
            OrganizationRelationships(organization),
        )
    }
}

/// The relationships of an organization. Those of the other edition are left out.
pub(super) struct OrganizationRelationships<'a>(&'a Organization);

impl WriteMembers for OrganizationRelationships<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        let organization = self.0;
        let path = ResourcePath::new(ORGANIZATIONS, &organization.name);
        let linked = |below| ShownRelationship::linked(path.below(below));
        let settings = &organization.settings;
        let project = &organization.default_project_id;
        let mut write =
            |name, relationship: ShownRelationship<'_>| relationship.write(object, name);
        write(
            "default-agent-pool",
            agent_pool(settings.default_agent_pool_id.as_deref()),
        );
        write(
            "stacks-default-agent-pool",
            agent_pool(settings.stacks_default_agent_pool_id.as_deref()),
        );
        write(
            "default-project",
            ShownRelationship::one("projects", project).at(ResourcePath::new("projects", project)),
        );
        write("oauth-tokens", linked("/oauth-tokens"));
        write("authentication-token", linked("/authentication-token"));
        write(
            "entitlement-set",
            ShownRelationship::one("entitlement-sets", &organization.external_id)
                .at(path.below("/entitlement-set")),
        );
        match organization.plan.edition() {
            Edition::Hosted => {
                let subscription = &organization.subscription.id;
                write(
                    "subscription",
                    ShownRelationship::one("subscriptions", subscription)
                        .at(path.below("/subscription")),
                );
                write(
                    "audit-trails-authentication-token",
                    linked("/authentication-token?token=audit-trails"),
                );
                write("primary-hyok-configuration", ShownRelationship::none());
            }
            Edition::SelfHosted => {
                write("subscription", linked("/subscription"));
                write(
                    "module-producers",
                    linked("/relationships/module-producers"),
                );
                write(
                    "provider-producers",
                    linked("/relationships/provider-producers"),
                );
                let retention = organization.retention.as_ref();
                write(
                    "data-retention-policy",
                    retention.map_or_else(ShownRelationship::none, |policy| {
                        ShownRelationship::one(retention_kind(policy.rule), &policy.id)
                    }),
                );
            }
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
            (<&str>::from(entitlement.feature).to_owned(), value)
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
