//! Subscriptions and feature sets as resources.

use gatehouse_orgs_api::{Entitlement, EntitlementValue, FeatureSet, Organization, Plan};
use serde_json::{Map, Value, json};

use crate::organizations::document::to_organization;
use crate::organizations::document_type::{
    DocumentType, Target, boolean, integer, related, text, time,
};
use crate::organizations::timestamp;

const FEATURE_SETS: &str = "feature-sets";

/// The attribute with the threshold that owners set.
pub(super) const RUM_ALERT_THRESHOLD: &str = "rum-alert-threshold";

pub(super) const SUBSCRIPTION: DocumentType = DocumentType::new(
    "Subscription",
    "subscriptions",
    "A subscription. The limits of its plan are attributes too.",
    &[
        integer(
            RUM_ALERT_THRESHOLD,
            "The share of the managed resources at which owners are warned.",
        )
        .nullable(),
        time("start-at", "The beginning.").read_only(),
        time("end-at", "The end.").nullable().read_only(),
        boolean("is-active", "True if the subscription has not ended.").read_only(),
        integer("runs-ceiling", "The number of runs at a time.")
            .nullable()
            .read_only(),
        integer("agents-ceiling", "The number of agents.")
            .nullable()
            .read_only(),
        time("contract-start-at", "The beginning of the contract.")
            .nullable()
            .read_only(),
        integer("contract-user-limit", "The number of users.")
            .nullable()
            .read_only(),
        integer("contract-apply-limit", "The number of applies.")
            .nullable()
            .read_only(),
        integer(
            "contract-managed-resources-limit",
            "The number of managed resources.",
        )
        .nullable()
        .read_only(),
        text("hcp-organization-id", "Always null.")
            .nullable()
            .read_only(),
        text("hcp-project-id", "Always null.")
            .nullable()
            .read_only(),
        boolean("is-public-free-tier", "True if the plan is the free one.").read_only(),
        boolean("is-self-serve-trial", "Always false.").read_only(),
        boolean("is-change-approved", "Always true.").read_only(),
    ],
)
.with_entitlements()
.relating(&[
    related("organization", Target::One("organizations")),
    related("billing-account", Target::One("billing-accounts")),
    related("feature-set", Target::One(FEATURE_SETS)),
]);

pub(super) const FEATURE_SET: DocumentType = DocumentType::new(
    "FeatureSet",
    FEATURE_SETS,
    "A plan that can be booked. Its limits are attributes too.",
    &[
        text("identifier", "The plan.").read_only(),
        text("name", "The name.").read_only(),
        text("description", "A description.").read_only(),
        text(
            "comparison-description",
            "A description for comparison with other plans.",
        )
        .nullable()
        .read_only(),
        integer("cost", "Always 0.").read_only(),
        text("plan", "Always null.").nullable().read_only(),
        boolean("is-current", "Always true.").read_only(),
        boolean("is-free-tier", "True if it is the free plan.").read_only(),
    ],
)
.with_entitlements();

/// The number of users of a plan. A subscription has its own number, from its contract.
const USER_LIMIT: &str = "user-limit";

/// The subscription of an organization to the plan that this feature set offers.
pub(in crate::organizations) fn subscription_resource(
    organization: &Organization,
    feature_set: Option<&FeatureSet>,
) -> Value {
    let subscription = &organization.subscription;
    let mut attributes = feature_set.map_or_else(Map::new, |set| limits(&set.entitlements));
    attributes.remove(USER_LIMIT);
    let of_its_own = json!({
        "start-at": timestamp::formatted(subscription.start_at),
        "end-at": subscription.end_at.map(timestamp::formatted),
        "is-active": subscription.active,
        "runs-ceiling": subscription.runs_ceiling,
        "agents-ceiling": subscription.agents_ceiling,
        "contract-start-at": subscription.contract_start_at.map(timestamp::formatted),
        "contract-user-limit": subscription.contract_user_limit,
        "contract-apply-limit": subscription.contract_apply_limit,
        "contract-managed-resources-limit": subscription.contract_managed_resources_limit,
        "hcp-organization-id": null,
        "hcp-project-id": null,
        "is-public-free-tier": subscription.plan == Plan::Free,
        "is-self-serve-trial": false,
        "is-change-approved": true,
        RUM_ALERT_THRESHOLD: subscription.rum_alert_threshold,
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

/// A feature set. Its cost is always 0.
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

/// The numeric entitlements of a plan.
fn limits(entitlements: &[Entitlement]) -> Map<String, Value> {
    entitlements
        .iter()
        .filter_map(|entitlement| match entitlement.value {
            EntitlementValue::Limit(limit) => {
                let name = <&str>::from(entitlement.feature);
                Some((name.to_owned(), json!(limit)))
            }
            EntitlementValue::Included(_) => None,
        })
        .collect()
}
