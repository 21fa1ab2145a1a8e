//! The subscription of an organization as it is stored, in the record of its organization.

use serde::{Deserialize, Serialize};

use crate::numbers::readable;
use crate::{Plan, Subscription};

pub const SUBSCRIPTION_PREFIX: &str = "sub-";

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionRecord {
    pub id: String,
    /// `None` until a site administrator sets some: the free plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) terms: Option<TermsRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rum_alert_threshold: Option<u64>,
}

/// Points in time are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TermsRecord {
    pub(super) plan: Plan,
    pub(super) start_at: u64,
    pub(super) end_at: Option<u64>,
    pub(super) contract_start_at: Option<u64>,
    pub(super) runs_ceiling: Option<u64>,
    pub(super) agents_ceiling: Option<u64>,
    pub(super) contract_user_limit: Option<u64>,
    pub(super) contract_apply_limit: Option<u64>,
    pub(super) contract_managed_resources_limit: Option<u64>,
}

impl TermsRecord {
    /// The terms where nothing has been agreed.
    const fn free(start_at: u64) -> Self {
        Self {
            plan: Plan::Free,
            start_at,
            end_at: None,
            contract_start_at: None,
            runs_ceiling: None,
            agents_ceiling: None,
            contract_user_limit: None,
            contract_apply_limit: None,
            contract_managed_resources_limit: None,
        }
    }
}

impl SubscriptionRecord {
    /// The free subscription of a new organization.
    pub const fn new(id: String) -> Self {
        Self {
            id,
            terms: None,
            rum_alert_threshold: None,
        }
    }

    /// The end of its terms, in milliseconds since 1970.
    pub fn end_at(&self) -> Option<u64> {
        self.terms.as_ref()?.end_at
    }

    /// The subscription at the time `now` of an organization that was made at `created_at`, both in milliseconds since 1970.
    pub fn into_subscription(self, created_at: u64, now: u64) -> Subscription {
        let terms = self.terms.unwrap_or_else(|| TermsRecord::free(created_at));
        Subscription {
            id: self.id,
            plan: terms.plan,
            active: terms.end_at.is_none_or(|end_at| now < end_at),
            start_at: terms.start_at,
            end_at: terms.end_at,
            contract_start_at: terms.contract_start_at,
            runs_ceiling: readable(terms.runs_ceiling),
            agents_ceiling: readable(terms.agents_ceiling),
            contract_user_limit: readable(terms.contract_user_limit),
            contract_apply_limit: readable(terms.contract_apply_limit),
            contract_managed_resources_limit: readable(terms.contract_managed_resources_limit),
            rum_alert_threshold: readable(self.rum_alert_threshold),
        }
    }
}
