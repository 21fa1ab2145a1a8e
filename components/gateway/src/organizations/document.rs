//! JSON:API documents about organizations (contract 2.3 to 2.6, 4.1).

use std::borrow::Cow;

use gatehouse_orgs_api::{
    Edition, Entitlement, EntitlementValue, Organization, Permission, Plan, RetentionRule,
    Settings, Subscription,
};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::retention_kind::retention_kind;

/// A document about one resource, or about many.
#[derive(Serialize)]
pub(super) struct Document<D> {
    pub(super) data: D,
    /// Related resources that were asked for; `None` where none were, which is told apart from there being none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) included: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Value>,
}

impl<D> Document<D> {
    /// A document that says no more than `data`.
    pub(super) const fn of(data: D) -> Self {
        Self {
            data,
            included: None,
            links: None,
            meta: None,
        }
    }
}

/// An organization, as one caller sees it.
#[derive(Serialize)]
pub(super) struct OrganizationResource<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    attributes: Attributes<'a>,
    relationships: Value,
    links: Value,
}

/// Everything that contract 2.3 lists. What exists in one edition only is `None` in the other. The features behind the plain
/// constants do not exist; clients expect their fields all the same.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Attributes<'a> {
    name: &'a str,
    external_id: &'a str,
    created_at: String,
    email: &'a str,
    session_timeout: Option<u64>,
    session_remember: Option<u64>,
    effective_session_timeout: u64,
    effective_session_remember: u64,
    collaborator_auth_policy: &'static str,
    plan_expired: bool,
    plan_expires_at: Option<String>,
    plan_is_trial: bool,
    plan_is_enterprise: bool,
    plan_identifier: &'static str,
    trial_expires_at: (),
    cost_estimation_enabled: bool,
    send_passing_statuses_for_untriggered_speculative_plans: bool,
    aggregated_commit_status_enabled: bool,
    speculative_plan_management_enabled: bool,
    allow_force_delete_workspaces: bool,
    fair_run_queuing_enabled: bool,
    saml_enabled: bool,
    owners_team_saml_role_id: Option<&'a str>,
    user_tokens_enabled: bool,
    max_ttl_enabled: bool,
    enforce_hyok: bool,
    stacks_enabled: bool,
    recoverable_items_enabled: bool,
    default_execution_mode: &'static str,
    stacks_default_execution_mode: &'static str,
    remaining_testable_count: u32,
    is_in_degraded_mode: bool,
    over_stacks_resource_limit: bool,
    test_generation_enabled: bool,
    #[serde(flatten)]
    edition: EditionAttributes,
    #[serde(serialize_with = "permissions_object")]
    permissions: &'a [Permission],
}

#[derive(Serialize)]
#[serde(untagged)]
enum EditionAttributes {
    #[serde(rename_all = "kebab-case")]
    Hosted {
        two_factor_conformant: bool,
        assessments_enforced: bool,
        is_unified: bool,
        hcp_id: (),
    },
    #[serde(rename_all = "kebab-case")]
    SelfHosted {
        global_module_sharing: bool,
        global_provider_sharing: bool,
        module_consuming_organizations_count: u32,
        provider_consuming_organizations_count: u32,
        parent_data_retention_policy_info: Cow<'static, str>,
    },
}

impl<'a> OrganizationResource<'a> {
    /// `organization` for a caller with these permissions.
    pub(super) fn new(organization: &'a Organization, permissions: &'a [Permission]) -> Self {
        Self {
            id: &organization.name,
            kind: "organizations",
            attributes: Attributes::new(organization, permissions),
            relationships: relationships(organization),
            links: json!({"self": path_of(organization)}),
        }
    }
}

impl<'a> Attributes<'a> {
    fn new(organization: &'a Organization, permissions: &'a [Permission]) -> Self {
        let settings: &Settings = &organization.settings;
        let subscription = subscription_of(organization);
        Self {
            name: &organization.name,
            external_id: &organization.external_id,
            created_at: timestamp(organization.created_at),
            email: &settings.email,
            session_timeout: settings.session_timeout,
            session_remember: settings.session_remember,
            effective_session_timeout: settings.effective_session_timeout(),
            effective_session_remember: settings.effective_session_remember(),
            collaborator_auth_policy: settings.collaborator_auth_policy.as_str(),
            plan_expired: subscription.is_some_and(|subscription| !subscription.active),
            plan_expires_at: subscription
                .and_then(|subscription| subscription.end_at)
                .map(timestamp),
            plan_is_trial: false,
            plan_is_enterprise: organization.plan == Plan::Enterprise,
            plan_identifier: organization.plan.as_str(),
            trial_expires_at: (),
            cost_estimation_enabled: settings.cost_estimation_enabled,
            send_passing_statuses_for_untriggered_speculative_plans: settings
                .send_passing_statuses_for_untriggered_speculative_plans,
            aggregated_commit_status_enabled: settings.aggregated_commit_status_enabled,
            speculative_plan_management_enabled: settings.speculative_plan_management_enabled,
            allow_force_delete_workspaces: settings.allow_force_delete_workspaces,
            fair_run_queuing_enabled: true,
            saml_enabled: false,
            owners_team_saml_role_id: settings.owners_team_saml_role_id.as_deref(),
            user_tokens_enabled: settings.user_tokens_enabled,
            max_ttl_enabled: settings.max_ttl_enabled,
            enforce_hyok: settings.enforce_hyok,
            stacks_enabled: settings.stacks_enabled,
            recoverable_items_enabled: settings.recoverable_items_enabled,
            default_execution_mode: settings.default_execution_mode.as_str(),
            stacks_default_execution_mode: settings.stacks_default_execution_mode.as_str(),
            remaining_testable_count: 5,
            is_in_degraded_mode: false,
            over_stacks_resource_limit: false,
            test_generation_enabled: false,
            edition: EditionAttributes::of(organization),
            permissions,
        }
    }
}

impl EditionAttributes {
    fn of(organization: &Organization) -> Self {
        match organization.plan.edition() {
            Edition::Hosted => Self::Hosted {
                two_factor_conformant: false,
                assessments_enforced: organization.settings.assessments_enforced,
                is_unified: false,
                hcp_id: (),
            },
            Edition::SelfHosted => Self::SelfHosted {
                global_module_sharing: organization.global_module_sharing,
                global_provider_sharing: organization.global_provider_sharing,
                module_consuming_organizations_count: organization.module_consumers,
                provider_consuming_organizations_count: organization.provider_consumers,
                parent_data_retention_policy_info: described(organization.default_retention),
            },
        }
    }
}

/// What the installation does with old data, in words.
fn described(rule: RetentionRule) -> Cow<'static, str> {
    match rule {
        RetentionRule::DontDelete => "Do not auto-delete".into(),
        RetentionRule::DeleteOlder(1) => "Auto-delete data older than 1 day".into(),
        RetentionRule::DeleteOlder(days) => {
            format!("Auto-delete data older than {days} days").into()
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

/// What the project that every organization has is called.
pub(super) const DEFAULT_PROJECT_NAME: &str = "Default Project";

/// The project that every organization has (contract 4.13).
pub(super) fn default_project(organization: &Organization) -> Value {
    let id = &organization.default_project_id;
    json!({
        "id": id,
        "type": "projects",
        "attributes": {
            "name": DEFAULT_PROJECT_NAME,
            "description": "",
            "created-at": timestamp(organization.created_at),
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

/// The subscription of an organization, in the edition in which it means something.
pub(super) fn subscription_of(organization: &Organization) -> Option<&Subscription> {
    match organization.plan.edition() {
        Edition::Hosted => Some(&organization.subscription),
        Edition::SelfHosted => None,
    }
}

/// A relationship to an organization.
pub(super) fn to_organization(organization: &Organization) -> Value {
    json!({"data": {"id": organization.name, "type": "organizations"}})
}

fn path_of(organization: &Organization) -> String {
    format!("/api/v2/organizations/{}", organization.name)
}

/// Resource identifiers of these ids.
pub(super) fn identifiers(ids: &[String], kind: &str) -> Value {
    ids.iter()
        .map(|id| json!({"id": id, "type": kind}))
        .collect()
}

/// A point in time with exactly three digits of fraction and a literal `Z`, as clients parse it.
pub(super) fn timestamp(milliseconds: u64) -> String {
    let timestamp = i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(Timestamp::MAX);
    format!("{timestamp:.3}")
}

fn permissions_object<S: Serializer>(
    permissions: &&[Permission],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        permissions
            .iter()
            .map(|permission| (&permission.key, permission.granted)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_1_10_timestamps_have_three_digits_and_the_letter() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(1_769_862_896_700), "2026-01-31T12:34:56.700Z");
        assert_eq!(timestamp(u64::MAX), "9999-12-30T22:00:00.999Z");
    }
}
