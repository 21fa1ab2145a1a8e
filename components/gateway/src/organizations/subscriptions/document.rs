//! Subscriptions and feature sets as resources.

use gatehouse_orgs_api::{Entitlement, EntitlementValue, FeatureSet, Organization, Plan};
use serde_json::{Map, Value, json};

use crate::organizations::document::{timestamp, to_organization};

const FEATURE_SETS: &str = "feature-sets";

/// How many users a plan has. A subscription has its own number of them, in its contract.
const USER_LIMIT: &str = "user-limit";

/// The subscription of an organization, to what is offered as this feature set.
pub(in crate::organizations) fn subscription_resource(
    organization: &Organization,
    feature_set: Option<&FeatureSet>,
) -> Value {
    let subscription = &organization.subscription;
    let mut attributes = feature_set.map_or_else(Map::new, |set| limits(&set.entitlements));
    attributes.remove(USER_LIMIT);
    let of_its_own = json!({
        "start-at": timestamp(subscription.start_at),
        "end-at": subscription.end_at.map(timestamp),
        "is-active": subscription.active,
        "runs-ceiling": subscription.runs_ceiling,
        "agents-ceiling": subscription.agents_ceiling,
        "contract-start-at": subscription.contract_start_at.map(timestamp),
        "contract-user-limit": subscription.contract_user_limit,
        "contract-apply-limit": subscription.contract_apply_limit,
        "contract-managed-resources-limit": subscription.contract_managed_resources_limit,
        "hcp-organization-id": null,
        "hcp-project-id": null,
        "is-public-free-tier": subscription.plan == Plan::Free,
        "is-self-serve-trial": false,
        "is-change-approved": true,
        "rum-alert-threshold": subscription.rum_alert_threshold,
    });
    if let Value::Object(of_its_own) = of_its_own {
        attributes.extend(of_its_own);
    }
    json!({
        "id": subscription.id,
        "type": "subscriptions",
        "attributes": attributes,
        "relationships": {
            "organization": to_organization(organization),
            "billing-account": {"data": null},
            "feature-set": {"data": feature_set.map(|set| json!({"id": set.id, "type": FEATURE_SETS}))},
        },
        "links": {"self": format!("/api/v2/subscriptions/{}", subscription.id)},
    })
}

/// A feature set. Nothing costs anything here.
pub(in crate::organizations) fn feature_set_resource(set: &FeatureSet) -> Value {
    let mut attributes = limits(&set.entitlements);
    let of_its_own = json!({
        "identifier": set.plan.as_str(),
        "name": set.name,
        "description": set.description,
        "comparison-description": set.comparison_description,
        "cost": 0,
        "plan": null,
        "is-current": true,
        "is-free-tier": set.plan == Plan::Free,
    });
    if let Value::Object(of_its_own) = of_its_own {
        attributes.extend(of_its_own);
    }
    json!({"id": set.id, "type": FEATURE_SETS, "attributes": attributes})
}

/// What a plan includes up to a number.
fn limits(entitlements: &[Entitlement]) -> Map<String, Value> {
    entitlements
        .iter()
        .filter_map(|entitlement| match entitlement.value {
            EntitlementValue::Limit(limit) => Some((entitlement.key.clone(), json!(limit))),
            EntitlementValue::Included(_) => None,
        })
        .collect()
}
