//! The related resources that a query asks to include (contract 2.6).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Capability, Entitlement, FeatureSet, Organization, Plan, PlanEntitlements,
};
use serde_json::Value;

use super::api::Api;
use super::api_error::ApiError;
use super::document::{default_project, entitlement_set};
use super::organization::subscription_of;
use super::subscriptions::document::{feature_set_resource, subscription_resource};
use crate::query;

/// The names of the related resources of organizations.
pub(super) const ENTITLEMENT_SET: &str = "entitlement-set";
pub(super) const SUBSCRIPTION: &str = "subscription";
pub(super) const DEFAULT_PROJECT: &str = "default-project";

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// The names of the resources that the query asks to include, with dashes; `None` where it asks for none.
    ///
    /// # Errors
    ///
    /// [`ApiError::InvalidInclude`] for a name that the route cannot include.
    pub(super) fn wanted_includes(&self) -> Result<Option<Vec<String>>, ApiError> {
        requested_names(&self.request.query, self.route.includes.unwrap_or_default())
    }

    /// The related resources of organizations that the query asks to include.
    ///
    /// # Errors
    ///
    /// As [`Self::wanted_includes`].
    pub(super) fn includes(&self) -> Result<Includes, ApiError> {
        Includes::read(&self.request.query, self.route.includes.unwrap_or_default())
    }
}

/// True if `name` is among the names of the resources to include.
pub(super) fn is_named(names: Option<&[String]>, name: &str) -> bool {
    names.is_some_and(|names| names.iter().any(|found| found == name))
}

/// The related resources to include.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Includes {
    /// True where the query asks for any resource. The answer then has the member, even if it is empty.
    any: bool,
    entitlement_set: bool,
    /// The subscription, with its feature set.
    subscription: bool,
    default_project: bool,
}

impl Includes {
    /// The requested resources of these organizations, each once; `None` where none are requested. Each organization comes with the entitlements of
    /// its plan. `feature_sets` has all feature sets, where they are needed.
    pub(super) fn resources_of<'a>(
        self,
        organizations: impl IntoIterator<Item = (&'a Organization, &'a [Entitlement])>,
        feature_sets: &[FeatureSet],
    ) -> Option<Vec<Value>> {
        if !self.any {
            return None;
        }
        let mut plans = Vec::new();
        let mut included = self.beside(organizations, feature_sets, &mut plans);
        included.extend(resources_of_plans(&plans, feature_sets));
        Some(included)
    }

    /// True if the query asks for subscriptions, which come with their feature sets.
    pub(super) const fn needs_feature_sets(self) -> bool {
        self.subscription
    }

    /// True if the query asks for entitlement sets.
    pub(super) const fn needs_entitlements(self) -> bool {
        self.entitlement_set
    }

    /// True if the query asks for any resource.
    pub(super) const fn any(self) -> bool {
        self.any
    }

    /// The requested resources of each of these organizations, without feature sets, which organizations share. The plans whose feature sets belong
    /// to the result as well are added to `plans`.
    pub(super) fn beside<'a>(
        self,
        organizations: impl IntoIterator<Item = (&'a Organization, &'a [Entitlement])>,
        feature_sets: &[FeatureSet],
        plans: &mut Vec<Plan>,
    ) -> Vec<Value> {
        let mut included = Vec::new();
        for (organization, entitlements) in organizations {
            if self.entitlement_set {
                included.push(entitlement_set(organization, entitlements));
            }
            if self.subscription
                && let Some(subscription) = subscription_of(organization)
            {
                let set = offered(subscription.plan, feature_sets);
                included.push(subscription_resource(organization, set));
                if !plans.contains(&subscription.plan) {
                    plans.push(subscription.plan);
                }
            }
            if self.default_project {
                included.push(default_project(organization));
            }
        }
        included
    }

    fn read(query: &str, known: &[&str]) -> Result<Self, ApiError> {
        let wanted = requested_names(query, known)?;
        let has = |name: &str| wanted.iter().flatten().any(|item| item == name);
        Ok(Self {
            any: wanted.is_some(),
            entitlement_set: has(ENTITLEMENT_SET),
            subscription: has(SUBSCRIPTION),
            default_project: has(DEFAULT_PROJECT),
        })
    }
}

/// The feature sets that offer these plans.
pub(super) fn resources_of_plans(plans: &[Plan], feature_sets: &[FeatureSet]) -> Vec<Value> {
    let sets = plans.iter().filter_map(|plan| offered(*plan, feature_sets));
    sets.map(feature_set_resource).collect()
}

/// The feature set that offers a plan; `None` for the plan of the self-hosted edition.
pub(super) fn offered(plan: Plan, feature_sets: &[FeatureSet]) -> Option<&FeatureSet> {
    feature_sets.iter().find(|set| set.plan == plan)
}

/// These organizations, each with the entitlements of its plan.
pub(super) fn with_entitlements<'a>(
    organizations: &'a [Organization],
    entitlements: &'a [PlanEntitlements],
) -> impl Iterator<Item = (&'a Organization, &'a [Entitlement])> {
    organizations.iter().map(|organization| {
        let included = PlanEntitlements::find(entitlements, organization.plan);
        (organization, included)
    })
}

/// The names of the resources that a query asks to include, with dashes; `None` where it asks for none.
///
/// # Errors
///
/// [`ApiError::InvalidInclude`] for a name that is not among `known`.
fn requested_names(query: &str, known: &[&str]) -> Result<Option<Vec<String>>, ApiError> {
    let items = query::list(query, "include").map(|item| item.replace('_', "-"));
    let items: Vec<String> = items.collect();
    if items.iter().all(|item| known.contains(&item.as_str())) {
        Ok((!items.is_empty()).then_some(items))
    } else {
        Err(ApiError::InvalidInclude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &[ENTITLEMENT_SET, SUBSCRIPTION, DEFAULT_PROJECT];

    #[test]
    fn contract_2_6_both_spellings_and_lists_are_understood() {
        let both = Includes {
            any: true,
            entitlement_set: true,
            default_project: true,
            ..Includes::default()
        };
        for query in [
            "include=entitlement_set,default-project",
            "include=entitlement-set&include=default_project",
            "include[]=entitlement_set&x=1&include%5B%5D=default-project",
        ] {
            assert_eq!(Includes::read(query, KNOWN), Ok(both), "{query}");
        }
        assert_eq!(Includes::read("q=x", KNOWN), Ok(Includes::default()));
        let subscription = Includes {
            any: true,
            subscription: true,
            ..Includes::default()
        };
        assert_eq!(
            Includes::read("include=subscription", KNOWN),
            Ok(subscription)
        );
    }

    #[test]
    fn contract_2_6_anything_else_is_refused() {
        for query in [
            "include=",
            "include=teams",
            "include=subscription,",
            "include=,",
            "include",
        ] {
            assert_eq!(
                Includes::read(query, KNOWN),
                Err(ApiError::InvalidInclude),
                "{query}"
            );
        }
        let refused = Includes::read("include=default-project", &[SUBSCRIPTION]);
        assert_eq!(refused, Err(ApiError::InvalidInclude));
    }
}
