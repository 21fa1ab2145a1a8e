//! From a request's document to the terms of a subscription.

use gatehouse_orgs_api::SubscriptionTerms;

use crate::organizations::input::Resource;

/// The relationship that tells the plan.
pub(super) const FEATURE_SET: &str = "feature-set";

/// What the document says; it is judged elsewhere.
pub(super) fn of(subscription: &Resource<'_>) -> SubscriptionTerms {
    let attributes = &subscription.attributes;
    SubscriptionTerms {
        feature_set: subscription.relationships.to_one(FEATURE_SET),
        contract_start_at: attributes.timestamp("contract-start-at"),
        end_at: attributes.timestamp("end-at"),
        runs_ceiling: attributes.integer("runs-ceiling"),
        agents_ceiling: attributes.integer("agents-ceiling"),
        contract_user_limit: attributes.integer("contract-user-limit"),
        contract_apply_limit: attributes.integer("contract-apply-limit"),
        contract_managed_resources_limit: attributes.integer("contract-managed-resources-limit"),
    }
}
