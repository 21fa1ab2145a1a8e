//! The interface `subscriptions`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    Attribute, AttributeIssue, Caller, FeatureSet, Organization, Plan, ServiceError, Subscription,
    SubscriptionTerms,
};

impl Subscription {
    /// The plan that the subscription gives now: what has been taken, or else the free one.
    #[must_use]
    pub const fn plan_in_force(&self) -> Plan {
        if self.active { self.plan } else { Plan::Free }
    }
}

/// Why a subscription was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// No organization has that external id.
    #[error("there is no such organization")]
    NotFound,
    /// At least one attribute is invalid; all faults.
    #[error("{} attributes of the subscription are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// The plans that are offered, and the one that an organization has taken. The WIT interface is the specification.
pub trait Subscriptions {
    /// The feature sets whose name contains `text`, without regard to case and with no wildcards: that name itself first, then those that
    /// begin with it; otherwise from the free one up.
    fn feature_sets(&self, text: &str) -> Vec<FeatureSet>;

    /// Sets the terms of an organization's subscription, which take effect at once; its threshold stays.
    fn set_subscription_terms(
        &self,
        external_id: &str,
        terms: &SubscriptionTerms,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError>;

    /// Looks through a further part of the organizations for the end of terms that comes next, 5,000 of them in a call, and gives what the
    /// last walk over all of them has found: milliseconds since 1970, `None` where none ends, or before the end of the first walk.
    fn next_plan_end(&self) -> Result<Option<u64>, ServiceError>;

    /// Sets from how many resources under management on the owners want to know: at least 0; null for never.
    fn set_rum_alert_threshold(
        &self,
        external_id: &str,
        threshold: &Attribute<i64>,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError>;
}

wraps_failure!(ServiceError: SubscriptionError);
