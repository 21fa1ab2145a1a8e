//! What one answer needs to know about plans, each fact asked for once.

use std::collections::HashMap;

use gatehouse_orgs::{Entitlement, Organizations, Permission, Plan, Rights, Standing};

/// Permissions by plan and standing, entitlements by plan.
pub(super) struct PlanFacts<'o, O> {
    organizations: &'o O,
    permissions: HashMap<(Plan, Standing), Vec<Permission>>,
    entitlements: HashMap<Plan, Vec<Entitlement>>,
}

impl<'o, O: Organizations> PlanFacts<'o, O> {
    /// Nothing yet.
    pub(super) fn new(organizations: &'o O) -> Self {
        Self {
            organizations,
            permissions: HashMap::new(),
            entitlements: HashMap::new(),
        }
    }

    /// Makes permissions available.
    pub(super) fn prepare(&mut self, plan: Plan, standing: Standing) {
        self.permissions.entry((plan, standing)).or_insert_with(|| {
            self.organizations
                .permissions(plan, standing, &Rights::new())
        });
    }

    /// Permissions that have been prepared.
    pub(super) fn permissions(&self, plan: Plan, standing: Standing) -> &[Permission] {
        let found = self.permissions.get(&(plan, standing));
        found.map_or(&[], Vec::as_slice)
    }

    /// The entitlements of a plan.
    pub(super) fn entitlements(&mut self, plan: Plan) -> &[Entitlement] {
        self.entitlements
            .entry(plan)
            .or_insert_with(|| self.organizations.entitlements(plan))
    }
}
