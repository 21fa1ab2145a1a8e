//! The terms of a subscription in a request's document.

use gatehouse_orgs_api::SubscriptionTerms;

use crate::organizations::document_type::{DocumentType, Target, integer, related, time};
use crate::organizations::input::Resource;

/// The relationship that names the plan.
pub(super) const FEATURE_SET: &str = "feature-set";

pub(super) const SUBSCRIPTION_TERMS: DocumentType = DocumentType::new(
    "SubscriptionTerms",
    "subscription",
    "Plan and terms of a subscription.",
    &[
        time("contract-start-at", "The beginning of the contract.")
            .nullable()
            .write_only(),
        time("end-at", "The end.").nullable().write_only(),
        integer("runs-ceiling", "The number of runs at a time.")
            .nullable()
            .write_only(),
        integer("agents-ceiling", "The number of agents.")
            .nullable()
            .write_only(),
        integer("contract-user-limit", "The number of users.")
            .nullable()
            .write_only(),
        integer("contract-apply-limit", "The number of applies.")
            .nullable()
            .write_only(),
        integer(
            "contract-managed-resources-limit",
            "The number of managed resources.",
        )
        .nullable()
        .write_only(),
    ],
)
.relating(&[related(FEATURE_SET, Target::One("feature-sets")).writable()]);

/// The terms that a document asks for. The capability validates them.
pub(super) fn subscription_terms(subscription: &Resource<'_>) -> SubscriptionTerms {
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
