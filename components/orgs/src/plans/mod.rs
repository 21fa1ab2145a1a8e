//! Plans: what they include and allow, as which feature sets they are offered, and which one an organization has taken (contract
//! 2.4, 4.1, 4.2).
//!
//! Every organization has one subscription for its whole life. It is free until a site administrator sets other terms, and again
//! once those have ended. In the self-hosted edition everything is included, whatever the terms.

mod entitlements;
mod feature_sets;
mod permissions;
mod subscription;

use std::borrow::Cow;

use crate::{Attribute, AttributeIssue, Caller, Edition, Failure, Organization, Plan};

pub(crate) use entitlements::entitlements;
pub(crate) use permissions::permissions;
pub(crate) use subscription::{SUBSCRIPTION_PREFIX, SubscriptionRecord};

/// A plan as it is offered. There is one for each plan of the hosted edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSet {
    /// `fs-` and 16 letters and digits, the same in every installation.
    pub id: Cow<'static, str>,
    /// Which plan.
    pub plan: Plan,
    /// What people call it.
    pub name: Cow<'static, str>,
    /// What is in it.
    pub description: Cow<'static, str>,
    /// Whom it suits.
    pub comparison_description: Cow<'static, str>,
}

/// What an organization has taken, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// `sub-` and 16 letters and digits; stays whatever the terms.
    pub id: String,
    /// What has been taken. It is in force while the subscription is active.
    pub plan: Plan,
    /// Whether it has not ended.
    pub active: bool,
    /// When these terms were set, or the organization made: milliseconds since 1970-01-01T00:00Z.
    pub start_at: u64,
    /// From when on it is not active, in the same unit; `None` for no end.
    pub end_at: Option<u64>,
    /// When the contract begins, in the same unit. It is told and nothing else.
    pub contract_start_at: Option<u64>,
    /// Most runs at a time. This and the following are told and not enforced; `None` for no limit.
    pub runs_ceiling: Option<u64>,
    /// Most agents.
    pub agents_ceiling: Option<u64>,
    /// Most users.
    pub contract_user_limit: Option<u64>,
    /// Most applies.
    pub contract_apply_limit: Option<u64>,
    /// Most managed resources.
    pub contract_managed_resources_limit: Option<u64>,
    /// From how many resources under management on the owners want to know.
    pub rum_alert_threshold: Option<u64>,
}

/// What a site administrator says about a subscription. It is the whole of the terms: what is absent or null has no limit or end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubscriptionTerms {
    /// The id of a [`FeatureSet`]; required.
    pub feature_set: Attribute<String>,
    /// Milliseconds since 1970; may lie in the past.
    pub contract_start_at: Attribute<i64>,
    /// Milliseconds since 1970; may lie in the past.
    pub end_at: Attribute<i64>,
    /// At least 0, as the following.
    pub runs_ceiling: Attribute<i64>,
    /// See [`Subscription::agents_ceiling`].
    pub agents_ceiling: Attribute<i64>,
    /// See [`Subscription::contract_user_limit`].
    pub contract_user_limit: Attribute<i64>,
    /// See [`Subscription::contract_apply_limit`].
    pub contract_apply_limit: Attribute<i64>,
    /// See [`Subscription::contract_managed_resources_limit`].
    pub contract_managed_resources_limit: Attribute<i64>,
}

/// Why a subscription was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// No organization has that external id.
    #[error("there is no such organization")]
    NotFound,
    /// At least one attribute is not as it must be; all faults.
    #[error("{} attributes of the subscription are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// What is offered, and what an organization takes of it.
pub trait Subscriptions {
    /// The feature sets whose name contains `text`, without regard to case and with no wildcards: that name itself first, then
    /// those that begin with it; otherwise from the free one up. The empty text is in all names.
    fn feature_sets(&self, text: &str) -> Vec<FeatureSet>;

    /// Sets the terms of an organization's subscription, which take effect at once; its threshold stays.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Invalid`] with every fault at once, and nothing is changed then.
    fn set_subscription_terms(
        &self,
        edition: Edition,
        external_id: &str,
        terms: &SubscriptionTerms,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError>;

    /// Sets from how many resources under management on the owners want to know: at least 0; null for never.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Invalid`] if it is no such number, and nothing is changed then.
    fn set_rum_alert_threshold(
        &self,
        edition: Edition,
        external_id: &str,
        threshold: &Attribute<i64>,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError>;
}
