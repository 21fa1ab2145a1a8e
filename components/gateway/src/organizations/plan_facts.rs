//! What one answer needs to know about plans, each fact asked for once.

use std::collections::HashMap;

use gatehouse_orgs_api::{
    Capability, Entitlement, FeatureSet, Organization, Permission, Plan, Right, Standing,
};
use serde_json::Value;

use super::subscriptions::document::{feature_set_resource, subscription_resource};

/// Permissions by plan, standing and rights, entitlements and feature sets by plan.
pub(super) struct PlanFacts<'o, O> {
    organizations: &'o O,
    permissions: HashMap<(Plan, Standing), HashMap<Vec<Right>, Vec<Permission>>>,
    entitlements: HashMap<Plan, Vec<Entitlement>>,
    feature_sets: Option<Vec<FeatureSet>>,
}

impl<'o, O: Capability> PlanFacts<'o, O> {
    /// Nothing yet.
    pub(super) fn new(organizations: &'o O) -> Self {
        Self {
            organizations,
            permissions: HashMap::new(),
            entitlements: HashMap::new(),
            feature_sets: None,
        }
    }

    /// Makes permissions available.
    pub(super) fn prepare(&mut self, plan: Plan, standing: Standing, rights: &[Right]) {
        let by_rights = self.permissions.entry((plan, standing)).or_default();
        if !by_rights.contains_key(rights) {
            let found = self.organizations.permissions(plan, standing, rights);
            by_rights.insert(rights.to_vec(), found);
        }
    }

    /// Permissions that have been prepared.
    pub(super) fn permissions(
        &self,
        plan: Plan,
        standing: Standing,
        rights: &[Right],
    ) -> &[Permission] {
        let by_rights = self.permissions.get(&(plan, standing));
        let found = by_rights.and_then(|by_rights| by_rights.get(rights));
        found.map_or(&[], Vec::as_slice)
    }

    /// The entitlements of a plan.
    pub(super) fn entitlements(&mut self, plan: Plan) -> &[Entitlement] {
        self.entitlements
            .entry(plan)
            .or_insert_with(|| self.organizations.entitlements(plan))
    }

    /// The subscription of an organization as a resource.
    pub(super) fn subscription(&mut self, organization: &Organization) -> Value {
        let plan = organization.subscription.plan;
        let feature_set = self.offered(plan).map(|set| set.id);
        subscription_resource(organization, feature_set, self.entitlements(plan))
    }

    /// The feature set as which a plan is offered, as a resource; `None` of the plan of the self-hosted edition.
    pub(super) fn feature_set(&mut self, plan: Plan) -> Option<Value> {
        let set = self.offered(plan)?;
        Some(feature_set_resource(&set, self.entitlements(plan)))
    }

    fn offered(&mut self, plan: Plan) -> Option<FeatureSet> {
        let all = self
            .feature_sets
            .get_or_insert_with(|| self.organizations.feature_sets(""));
        all.iter().find(|set| set.plan == plan).cloned()
    }
}
