//! The resource types of retention policies.

use gatehouse_orgs_api::RetentionRule;

pub(super) const DELETE_OLDERS: &str = "data-retention-policy-delete-olders";
pub(super) const DONT_DELETES: &str = "data-retention-policy-dont-deletes";

/// The resource type of policies with this rule.
pub(super) const fn retention_kind(rule: RetentionRule) -> &'static str {
    match rule {
        RetentionRule::DeleteOlder(_) => DELETE_OLDERS,
        RetentionRule::DontDelete => DONT_DELETES,
    }
}
