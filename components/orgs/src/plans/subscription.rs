//! The subscription of an organization: how its terms change (contract 4.2).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use super::feature_sets;
use super::record::{SubscriptionRecord, TermsRecord};
use crate::audit_trail::AuditedOperations as _;
use crate::numbers::LARGEST_NUMBER;
use crate::record::OrganizationRecord;
use crate::{
    Attribute, AttributeIssue, Caller, Fault, FeatureSet, Organization, Orgs, Resource,
    ServiceError, SubscriptionError, SubscriptionTerms, Subscriptions,
};

/// Reads the terms that a request wants, from the time `now` on.
///
/// # Errors
///
/// Everything that is wrong with them, in the order in which the contract names the attributes.
fn judged(terms: &SubscriptionTerms, now: u64) -> Result<TermsRecord, Vec<AttributeIssue>> {
    let mut issues = Vec::new();
    let mut judged = |name, number: Result<Option<u64>, Fault>| {
        number.unwrap_or_else(|fault| {
            issues.push(AttributeIssue::new(name, fault));
            None
        })
    };
    let mut ceiling = |name, value| judged(name, limit(value));
    let runs_ceiling = ceiling("runs-ceiling", &terms.runs_ceiling);
    let agents_ceiling = ceiling("agents-ceiling", &terms.agents_ceiling);
    let contract_user_limit = ceiling("contract-user-limit", &terms.contract_user_limit);
    let contract_apply_limit = ceiling("contract-apply-limit", &terms.contract_apply_limit);
    let contract_managed_resources_limit = ceiling(
        "contract-managed-resources-limit",
        &terms.contract_managed_resources_limit,
    );
    let mut time = |name, value| judged(name, number(value, Fault::NotTimestamp));
    let contract_start_at = time("contract-start-at", &terms.contract_start_at);
    let end_at = time("end-at", &terms.end_at);
    let plan = match &terms.feature_set {
        Attribute::Absent | Attribute::Null => Err(Fault::Blank),
        Attribute::WrongType => Err(Fault::NotText),
        Attribute::Value(id) => feature_sets::plan_of(id).ok_or(Fault::NotIncluded),
    };
    match plan {
        Ok(plan) if issues.is_empty() => Ok(TermsRecord {
            plan,
            start_at: now,
            end_at,
            contract_start_at,
            runs_ceiling,
            agents_ceiling,
            contract_user_limit,
            contract_apply_limit,
            contract_managed_resources_limit,
        }),
        plan => {
            issues.extend(
                plan.err()
                    .map(|fault| AttributeIssue::new(FEATURE_SET, fault)),
            );
            Err(issues)
        }
    }
}

const FEATURE_SET: &str = "feature-set";

/// A number of at least 0 that clients can read, or none.
fn limit(value: &Attribute<i64>) -> Result<Option<u64>, Fault> {
    match number(value, Fault::NotInteger)? {
        Some(number) if number > u64::from(LARGEST_NUMBER) => Err(Fault::TooLarge(LARGEST_NUMBER)),
        number => Ok(number),
    }
}

/// A number of at least 0, or none. Where it is of another type, `wrong_type` is at fault.
fn number(value: &Attribute<i64>, wrong_type: Fault) -> Result<Option<u64>, Fault> {
    match value {
        Attribute::Absent | Attribute::Null => Ok(None),
        Attribute::WrongType => Err(wrong_type),
        Attribute::Value(number) => u64::try_from(*number)
            .map(Some)
            .map_err(|_| Fault::Negative),
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn change_subscription(
        &self,
        external_id: &str,
        by: &Caller,
        change: impl Fn(&mut SubscriptionRecord),
    ) -> Result<Organization, SubscriptionError> {
        let record = commit_with_retries(&self.clock, &self.random, || {
            self.try_change_subscription(external_id, by, &change)
        })?;
        Ok(self.to_organization(record)?)
    }

    fn try_change_subscription(
        &self,
        external_id: &str,
        by: &Caller,
        change: impl Fn(&mut SubscriptionRecord),
    ) -> Result<Attempt<OrganizationRecord>, SubscriptionError> {
        let located = self.locate(external_id)?;
        let Some(found) = located.unless_gone(SubscriptionError::NotFound)? else {
            return Ok(Attempt::Conflicted);
        };
        let mut record = found.1.record.clone();
        change(&mut record.subscription);
        let audited = Resource::Subscription.updated(&record.subscription.id);
        Ok(self.replace_record(&found, &record, Transaction::new(), by, &[audited])?)
    }
}

impl<S: Store, C: Clock, R: Random> Subscriptions for Orgs<S, C, R> {
    fn feature_sets(&self, text: &str) -> Vec<FeatureSet> {
        feature_sets::containing(text)
    }

    fn set_subscription_terms(
        &self,
        external_id: &str,
        terms: &SubscriptionTerms,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        let terms =
            judged(terms, self.clock.now_milliseconds()).map_err(SubscriptionError::Invalid)?;
        self.change_subscription(external_id, by, |subscription| {
            subscription.terms = Some(terms.clone());
        })
    }

    fn next_plan_end(&self) -> Result<Option<u64>, ServiceError> {
        self.look_for_plan_ends()
    }

    fn set_rum_alert_threshold(
        &self,
        external_id: &str,
        threshold: &Attribute<i64>,
        by: &Caller,
    ) -> Result<Organization, SubscriptionError> {
        let new = limit(threshold).map_err(|fault| {
            SubscriptionError::Invalid(vec![AttributeIssue::new("rum-alert-threshold", fault)])
        })?;
        self.change_subscription(external_id, by, |subscription| {
            if *threshold != Attribute::Absent {
                subscription.rum_alert_threshold = new;
            }
        })
    }
}
