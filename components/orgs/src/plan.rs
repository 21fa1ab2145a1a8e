//! What plans include (contract 4.1) and what they let people do (contract 2.4).

use std::borrow::Cow;

use crate::{Edition, Entitlement, EntitlementValue, Permission, Plan, Rights, Standing};

use Existence::{Both, Hosted, SelfHosted};
use Grant::{Everybody, HostedOwners, Nobody, Owners, OwnersWhoPay, PremiumOwners};

const T: bool = true;
const F: bool = false;

/// What is included or not, by plan: enterprise, free, standard, business, premium.
#[rustfmt::skip]
const INCLUDED: &[(&str, [bool; 5])] = &[
    ("agents", [T, F, T, T, T]),
    ("assessments", [T, F, T, T, T]),
    ("audit-logging", [T, F, T, T, T]),
    ("can-apply", [T, T, T, T, T]),
    ("change-requests", [T, F, F, F, T]),
    ("configuration-designer", [T, T, T, T, T]),
    ("cost-estimation", [T, F, T, T, T]),
    ("ephemeral-workspaces", [T, F, T, T, T]),
    ("global-run-tasks", [T, F, T, T, T]),
    ("groups", [F, F, F, F, F]),
    ("hyok", [F, F, F, F, T]),
    ("infragraph", [F, F, T, F, T]),
    ("infragraph-with-nrtu", [F, F, F, F, F]),
    ("module-deprecations", [T, F, T, T, T]),
    ("module-revocations", [T, F, T, T, T]),
    ("module-tests-generation", [F, F, F, F, F]),
    ("no-code-modules", [T, F, T, T, T]),
    ("operations", [T, T, T, T, T]),
    ("policy-enforcement", [T, F, T, T, T]),
    ("private-module-registry", [T, T, T, T, T]),
    ("private-networking", [F, F, F, F, T]),
    ("private-policy-agents", [T, F, T, T, T]),
    ("private-run-tasks", [T, T, T, T, T]),
    ("private-vcs", [T, F, T, T, T]),
    ("run-tasks", [T, T, T, T, T]),
    ("self-serve-billing", [F, T, F, F, F]),
    ("sentinel", [T, F, T, T, T]),
    ("sso", [T, F, T, T, T]),
    ("stacks", [T, T, T, T, T]),
    ("state-storage", [T, T, T, T, T]),
    ("teams", [T, F, T, T, T]),
    ("terraform-actions", [T, T, T, T, T]),
    ("usage-reporting", [T, F, T, T, T]),
    ("vcs-integrations", [T, T, T, T, T]),
    ("viewable-billing", [F, T, T, T, T]),
    ("waypoint-actions", [F, F, F, F, T]),
    ("waypoint-templates-and-addons", [F, F, T, F, T]),
];

/// What the free plan limits; the others limit nothing.
#[rustfmt::skip]
const LIMITS_OF_FREE: &[(&str, Option<u32>)] = &[
    ("policy-limit", Some(5)),
    ("policy-mandatory-enforcement-limit", None),
    ("policy-set-limit", Some(1)),
    ("run-task-limit", Some(1)),
    ("run-task-mandatory-enforcement-limit", Some(1)),
    ("run-task-workspace-limit", Some(10)),
    ("user-limit", Some(5)),
    ("versioned-policy-set-limit", None),
];

/// The editions that know a permission.
#[derive(Clone, Copy)]
enum Existence {
    Both,
    Hosted,
    SelfHosted,
}

/// Who has a permission. Site administrators have what owners on a paid plan have.
#[derive(Clone, Copy)]
enum Grant {
    Everybody,
    Owners,
    OwnersWhoPay,
    HostedOwners,
    PremiumOwners,
    Nobody,
}

#[rustfmt::skip]
const PERMISSIONS: &[(&str, Existence, Grant)] = &[
    ("can-update", Both, Owners),
    ("can-update-authentication-token", Both, Owners),
    ("can-view-authentication", Both, Owners),
    ("can-destroy", Both, Owners),
    ("can-access-via-teams", Both, Everybody),
    ("can-create-module", Both, Owners),
    ("can-create-team", Both, OwnersWhoPay),
    ("can-create-workspace", Both, Owners),
    ("can-create-workspace-migration", Both, Owners),
    ("can-manage-users", Both, Owners),
    ("can-view-users", Both, Everybody),
    ("can-manage-subscription", Both, Owners),
    ("can-manage-sso", Both, OwnersWhoPay),
    ("can-update-oauth", Both, Owners),
    ("can-update-sentinel", Both, OwnersWhoPay),
    ("can-update-ssh-keys", Both, Owners),
    ("can-update-api-token", Both, Owners),
    ("can-traverse", Both, Everybody),
    ("can-start-trial", Both, HostedOwners),
    ("can-view-usage", Both, Owners),
    ("can-update-agent-pools", Both, OwnersWhoPay),
    ("can-manage-tags", Both, Owners),
    ("can-manage-varsets", Both, Owners),
    ("can-read-varsets", Both, Everybody),
    ("can-manage-public-providers", Both, Owners),
    ("can-create-provider", Both, Owners),
    ("can-manage-public-modules", Both, Owners),
    ("can-manage-custom-providers", Both, OwnersWhoPay),
    ("can-manage-run-tasks", Both, Owners),
    ("can-read-run-tasks", Both, Owners),
    ("can-create-project", Both, Owners),
    ("can-enable-stacks", Both, Owners),
    ("can-manage-org-public-providers", Both, Owners),
    ("can-manage-org-public-modules", Both, Owners),
    ("can-manage-assessments", Both, OwnersWhoPay),
    ("can-read-assessments", Both, OwnersWhoPay),
    ("can-view-explorer", Both, OwnersWhoPay),
    ("can-deploy-no-code-modules", Both, OwnersWhoPay),
    ("can-manage-no-code-modules", Both, OwnersWhoPay),
    ("can-manage-groups-in-hcp", Hosted, Nobody),
    ("can-create-project-in-hcp", Hosted, Nobody),
    ("can-update-hyok-configuration", Hosted, PremiumOwners),
    ("can-view-hyok-feature-info", Hosted, PremiumOwners),
    ("can-manage-recoverable-items", Both, OwnersWhoPay),
    ("can-manage-auditing", Both, OwnersWhoPay),
    ("can-read-policies", SelfHosted, Owners),
];

/// See [`crate::Organizations::entitlements`].
pub fn entitlements(plan: Plan) -> Vec<Entitlement> {
    let included = INCLUDED.iter().map(|(key, by_plan)| {
        let [enterprise, free, standard, business, premium] = *by_plan;
        let included = match plan {
            Plan::Enterprise => enterprise,
            Plan::Free => free,
            Plan::Standard => standard,
            Plan::Business => business,
            Plan::Premium => premium,
        };
        (key, EntitlementValue::Included(included))
    });
    let limits = LIMITS_OF_FREE.iter().map(|(key, of_free)| {
        let limit = of_free.filter(|_| plan == Plan::Free);
        (key, EntitlementValue::Limit(limit))
    });
    included
        .chain(limits)
        .map(|(key, value)| Entitlement {
            key: Cow::Borrowed(key),
            value,
        })
        .collect()
}

/// See [`crate::Organizations::permissions`].
pub fn permissions(plan: Plan, standing: Standing, _rights: &Rights) -> Vec<Permission> {
    let edition = plan.edition();
    let exists = |existence: &Existence| match existence {
        Both => true,
        Hosted => edition == Edition::Hosted,
        SelfHosted => edition == Edition::SelfHosted,
    };
    PERMISSIONS
        .iter()
        .filter(|(_, existence, _)| exists(existence))
        .map(|(key, _, grant)| Permission {
            key: Cow::Borrowed(key),
            granted: is_granted(*grant, plan, standing),
        })
        .collect()
}

fn is_granted(grant: Grant, plan: Plan, standing: Standing) -> bool {
    let manages = matches!(standing, Standing::SiteAdministrator | Standing::Owner);
    match grant {
        Everybody => true,
        Owners => manages,
        OwnersWhoPay => manages && (plan != Plan::Free || standing == Standing::SiteAdministrator),
        HostedOwners => manages && plan.edition() == Edition::Hosted,
        PremiumOwners => manages && plan == Plan::Premium,
        Nobody => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PLANS: [Plan; 5] = [
        Plan::Free,
        Plan::Standard,
        Plan::Business,
        Plan::Premium,
        Plan::Enterprise,
    ];

    fn entitlement(plan: Plan, key: &str) -> EntitlementValue {
        let found = entitlements(plan)
            .into_iter()
            .find(|found| found.key == key);
        found.unwrap().value
    }

    fn permission(plan: Plan, standing: Standing, key: &str) -> Option<bool> {
        let found = permissions(plan, standing, &Rights::new());
        let found = found.into_iter().find(|found| found.key == key);
        found.map(|found| found.granted)
    }

    #[test]
    fn contract_4_1_every_plan_has_the_same_entitlements_each_once() {
        for plan in PLANS {
            let set = entitlements(plan);
            let keys: BTreeSet<_> = set.iter().map(|entitlement| &entitlement.key).collect();
            assert_eq!(keys.len(), set.len());
            assert_eq!(set.len(), 45);
        }
    }

    #[test]
    fn contract_4_1_operations_and_state_storage_are_in_every_plan() {
        for plan in PLANS {
            for key in ["operations", "state-storage", "can-apply", "run-tasks"] {
                assert_eq!(entitlement(plan, key), EntitlementValue::Included(true));
            }
        }
    }

    #[test]
    fn contract_4_1_only_the_free_plan_has_limits() {
        assert_eq!(
            entitlement(Plan::Free, "user-limit"),
            EntitlementValue::Limit(Some(5))
        );
        assert_eq!(
            entitlement(Plan::Enterprise, "user-limit"),
            EntitlementValue::Limit(None)
        );
    }

    #[test]
    fn contract_4_1_the_values_that_a_client_asserts_for_the_standard_plan() {
        for (key, included) in [
            ("infragraph", true),
            ("infragraph-with-nrtu", false),
            ("waypoint-actions", false),
            ("waypoint-templates-and-addons", true),
        ] {
            let value = entitlement(Plan::Standard, key);
            assert_eq!(value, EntitlementValue::Included(included), "{key}");
        }
    }

    #[test]
    fn contract_2_4_a_member_may_see_and_not_change() {
        for plan in PLANS {
            for key in ["can-traverse", "can-view-users", "can-read-varsets"] {
                assert_eq!(permission(plan, Standing::Member, key), Some(true));
            }
            for key in ["can-update", "can-destroy", "can-start-trial"] {
                assert_eq!(permission(plan, Standing::Member, key), Some(false));
            }
        }
    }

    #[test]
    fn contract_2_4_an_owner_of_a_free_organization_lacks_what_is_paid_for() {
        let of_owner = |plan, key| permission(plan, Standing::Owner, key);
        assert_eq!(of_owner(Plan::Free, "can-destroy"), Some(true));
        assert_eq!(of_owner(Plan::Free, "can-manage-run-tasks"), Some(true));
        assert_eq!(of_owner(Plan::Free, "can-create-team"), Some(false));
        assert_eq!(of_owner(Plan::Enterprise, "can-create-team"), Some(true));
        assert_eq!(
            of_owner(Plan::Business, "can-deploy-no-code-modules"),
            Some(true)
        );
    }

    #[test]
    fn contract_2_4_a_site_administrator_sees_the_paid_column_on_every_plan() {
        for plan in PLANS {
            let granted = permission(plan, Standing::SiteAdministrator, "can-create-team");
            assert_eq!(granted, Some(true));
        }
        let trial = |plan| permission(plan, Standing::SiteAdministrator, "can-start-trial");
        assert_eq!(trial(Plan::Free), Some(true));
        assert_eq!(trial(Plan::Enterprise), Some(false));
    }

    #[test]
    fn contract_2_4_each_edition_leaves_out_what_it_does_not_know() {
        for (key, hosted, self_hosted) in [
            ("can-read-policies", None, Some(true)),
            ("can-manage-groups-in-hcp", Some(false), None),
            ("can-view-hyok-feature-info", Some(false), None),
        ] {
            assert_eq!(permission(Plan::Free, Standing::Owner, key), hosted);
            assert_eq!(
                permission(Plan::Enterprise, Standing::Owner, key),
                self_hosted
            );
        }
    }
}
