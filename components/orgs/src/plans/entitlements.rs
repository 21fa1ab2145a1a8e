//! The entitlements of plans (contract 4.1).

use crate::{Entitlement, EntitlementValue, Feature, Organization, Plan, PlanEntitlements};

const T: bool = true;
const F: bool = false;

/// The entitlements that are included or not, by column of the contract: self-hosted, free, standard, business, premium. Plus has no column, and
/// includes what business does.
#[rustfmt::skip]
const INCLUDED: &[(Feature, [bool; 5])] = &[
    (Feature::Agents, [T, F, T, T, T]),
    (Feature::Assessments, [T, F, T, T, T]),
    (Feature::AuditLogging, [T, F, T, T, T]),
    (Feature::CanApply, [T, T, T, T, T]),
    (Feature::ChangeRequests, [T, F, F, F, T]),
    (Feature::ConfigurationDesigner, [T, T, T, T, T]),
    (Feature::CostEstimation, [T, F, T, T, T]),
    (Feature::EphemeralWorkspaces, [T, F, T, T, T]),
    (Feature::GlobalRunTasks, [T, F, T, T, T]),
    (Feature::Groups, [F, F, F, F, F]),
    (Feature::Hyok, [F, F, F, F, T]),
    (Feature::Infragraph, [F, F, T, F, T]),
    (Feature::InfragraphWithNrtu, [F, F, F, F, F]),
    (Feature::ModuleDeprecations, [T, F, T, T, T]),
    (Feature::ModuleRevocations, [T, F, T, T, T]),
    (Feature::ModuleTestsGeneration, [F, F, F, F, F]),
    (Feature::NoCodeModules, [T, F, T, T, T]),
    (Feature::Operations, [T, T, T, T, T]),
    (Feature::PolicyEnforcement, [T, F, T, T, T]),
    (Feature::PrivateModuleRegistry, [T, T, T, T, T]),
    (Feature::PrivateNetworking, [F, F, F, F, T]),
    (Feature::PrivatePolicyAgents, [T, F, T, T, T]),
    (Feature::PrivateRunTasks, [T, T, T, T, T]),
    (Feature::PrivateVcs, [T, F, T, T, T]),
    (Feature::RunTasks, [T, T, T, T, T]),
    (Feature::SelfServeBilling, [F, F, F, F, F]),
    (Feature::Sentinel, [T, F, T, T, T]),
    (Feature::Sso, [T, F, T, T, T]),
    (Feature::Stacks, [T, T, T, T, T]),
    (Feature::StateStorage, [T, T, T, T, T]),
    (Feature::Teams, [T, F, T, T, T]),
    (Feature::TerraformActions, [T, T, T, T, T]),
    (Feature::UsageReporting, [T, F, T, T, T]),
    (Feature::VcsIntegrations, [T, T, T, T, T]),
    (Feature::ViewableBilling, [F, T, T, T, T]),
    (Feature::WaypointActions, [F, F, F, F, T]),
    (Feature::WaypointTemplatesAndAddons, [F, F, T, F, T]),
];

/// The limits of the free plan; the others limit nothing.
#[rustfmt::skip]
const LIMITS_OF_FREE: &[(Feature, Option<u32>)] = &[
    (Feature::PolicyLimit, Some(5)),
    (Feature::PolicyMandatoryEnforcementLimit, None),
    (Feature::PolicySetLimit, Some(1)),
    (Feature::RunTaskLimit, Some(1)),
    (Feature::RunTaskMandatoryEnforcementLimit, Some(1)),
    (Feature::RunTaskWorkspaceLimit, Some(10)),
    (Feature::UserLimit, Some(5)),
    (Feature::VersionedPolicySetLimit, None),
];

/// The entitlement set of a plan, always in the same order.
pub fn entitlements(plan: Plan) -> Vec<Entitlement> {
    let included = INCLUDED.iter().map(|(feature, by_plan)| {
        let [enterprise, free, standard, business, premium] = *by_plan;
        let included = match plan {
            Plan::Enterprise => enterprise,
            Plan::Free => free,
            Plan::Standard => standard,
            Plan::Plus | Plan::Business => business,
            Plan::Premium => premium,
        };
        (feature, EntitlementValue::Included(included))
    });
    let limits = LIMITS_OF_FREE.iter().map(|(feature, of_free)| {
        let limit = of_free.filter(|_| plan == Plan::Free);
        (feature, EntitlementValue::Limit(limit))
    });
    included
        .chain(limits)
        .map(|(feature, value)| Entitlement {
            feature: *feature,
            value,
        })
        .collect()
}

/// The entitlement sets of the plans that these organizations have, each once.
pub fn entitlements_of(organizations: &[Organization]) -> Vec<PlanEntitlements> {
    let mut found: Vec<PlanEntitlements> = Vec::new();
    for organization in organizations {
        let plan = organization.plan;
        if found.iter().all(|known| known.plan != plan) {
            let entitlements = entitlements(plan);
            found.push(PlanEntitlements { plan, entitlements });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the contract in its own order: self-hosted, free, standard, business, premium. `self-serve-billing` is not granted to
    /// the free plan either, for there are no invoices here.
    #[rustfmt::skip]
    const CONTRACT: &[(&str, &str)] = &[
        ("agents", "T F T T T"),
        ("assessments", "T F T T T"),
        ("audit-logging", "T F T T T"),
        ("can-apply", "T T T T T"),
        ("change-requests", "T F F F T"),
        ("configuration-designer", "T T T T T"),
        ("cost-estimation", "T F T T T"),
        ("ephemeral-workspaces", "T F T T T"),
        ("global-run-tasks", "T F T T T"),
        ("groups", "F F F F F"),
        ("hyok", "F F F F T"),
        ("infragraph", "F F T F T"),
        ("infragraph-with-nrtu", "F F F F F"),
        ("module-deprecations", "T F T T T"),
        ("module-revocations", "T F T T T"),
        ("module-tests-generation", "F F F F F"),
        ("no-code-modules", "T F T T T"),
        ("operations", "T T T T T"),
        ("policy-enforcement", "T F T T T"),
        ("policy-limit", "null 5 null null null"),
        ("policy-mandatory-enforcement-limit", "null null null null null"),
        ("policy-set-limit", "null 1 null null null"),
        ("private-module-registry", "T T T T T"),
        ("private-networking", "F F F F T"),
        ("private-policy-agents", "T F T T T"),
        ("private-run-tasks", "T T T T T"),
        ("private-vcs", "T F T T T"),
        ("run-task-limit", "null 1 null null null"),
        ("run-task-mandatory-enforcement-limit", "null 1 null null null"),
        ("run-task-workspace-limit", "null 10 null null null"),
        ("run-tasks", "T T T T T"),
        ("self-serve-billing", "F F F F F"),
        ("sentinel", "T F T T T"),
        ("sso", "T F T T T"),
        ("stacks", "T T T T T"),
        ("state-storage", "T T T T T"),
        ("teams", "T F T T T"),
        ("terraform-actions", "T T T T T"),
        ("usage-reporting", "T F T T T"),
        ("user-limit", "null 5 null null null"),
        ("vcs-integrations", "T T T T T"),
        ("versioned-policy-set-limit", "null null null null null"),
        ("viewable-billing", "F T T T T"),
        ("waypoint-actions", "F F F F T"),
        ("waypoint-templates-and-addons", "F F T F T"),
    ];

    const COLUMNS: [Plan; 5] = [
        Plan::Enterprise,
        Plan::Free,
        Plan::Standard,
        Plan::Business,
        Plan::Premium,
    ];

    fn written(value: EntitlementValue) -> String {
        match value {
            EntitlementValue::Included(true) => "T".to_owned(),
            EntitlementValue::Included(false) => "F".to_owned(),
            EntitlementValue::Limit(None) => "null".to_owned(),
            EntitlementValue::Limit(Some(limit)) => limit.to_string(),
        }
    }

    #[test]
    fn contract_4_1_every_cell_of_the_table() {
        for (column, plan) in COLUMNS.into_iter().enumerate() {
            let mut found: Vec<_> = entitlements(plan)
                .into_iter()
                .map(|entitlement| {
                    let name = <&str>::from(entitlement.feature);
                    (name.to_owned(), written(entitlement.value))
                })
                .collect();
            let mut expected: Vec<_> = CONTRACT
                .iter()
                .map(|(key, cells)| {
                    let cell = cells.split(' ').nth(column).unwrap();
                    ((*key).to_owned(), cell.to_owned())
                })
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{plan:?}");
        }
    }

    #[test]
    fn contract_4_2_plus_includes_what_business_does() {
        assert_eq!(entitlements(Plan::Plus), entitlements(Plan::Business));
    }

    #[test]
    fn entitlements_come_in_the_same_order_for_every_plan() {
        let keys = |plan| -> Vec<_> {
            let set = entitlements(plan).into_iter();
            set.map(|entitlement| entitlement.feature).collect()
        };
        for plan in COLUMNS {
            assert_eq!(keys(plan), keys(Plan::Free));
        }
    }
}
