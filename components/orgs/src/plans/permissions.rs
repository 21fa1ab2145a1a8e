//! The permissions of people in an organization, as its plan has it (contract 2.4).

use super::entitlements::entitlements;
use crate::{
    AccessDecision, Description, Edition, OrganizationPermission, OrganizationRole, Permission,
    Plan, Right,
};
use Existence::{Both, Hosted, SelfHosted};
use Grant::{Everybody, HostedOwners, Nobody, Owners, OwnersWhoPay, PremiumOwners};
use Permission::{
    CanAccessViaTeams, CanCreateModule, CanCreateProject, CanCreateProjectInHcp, CanCreateProvider,
    CanCreateTeam, CanCreateWorkspace, CanCreateWorkspaceMigration, CanDeployNoCodeModules,
    CanDestroy, CanEnableStacks, CanManageAssessments, CanManageAuditing, CanManageCustomProviders,
    CanManageGroupsInHcp, CanManageNoCodeModules, CanManageOrgPublicModules,
    CanManageOrgPublicProviders, CanManagePublicModules, CanManagePublicProviders,
    CanManageRecoverableItems, CanManageRunTasks, CanManageSso, CanManageSubscription,
    CanManageTags, CanManageUsers, CanManageVarsets, CanReadAssessments, CanReadPolicies,
    CanReadRunTasks, CanReadVarsets, CanStartTrial, CanTraverse, CanUpdate, CanUpdateAgentPools,
    CanUpdateApiToken, CanUpdateAuthenticationToken, CanUpdateHyokConfiguration, CanUpdateOauth,
    CanUpdateSentinel, CanUpdateSshKeys, CanViewAuthentication, CanViewExplorer,
    CanViewHyokFeatureInfo, CanViewUsage, CanViewUsers,
};
use Right::{
    ManageAgentPools, ManageMembership, ManageModules, ManagePolicies, ManageProjects,
    ManageProviders, ManageRunTasks, ManageTeams, ManageVcsSettings, ManageWorkspaces,
};

/// The editions that know a permission.
#[derive(Clone, Copy)]
enum Existence {
    Both,
    Hosted,
    SelfHosted,
}

/// The callers that have a permission. Site administrators have what owners on a paid plan have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grant {
    Everybody,
    Owners,
    OwnersWhoPay,
    HostedOwners,
    PremiumOwners,
    Nobody,
}

/// Every permission: in which editions, whose, and which rights of a team open it too. Rights that open none concern single
/// policies, workspaces, projects or teams.
#[rustfmt::skip]
const PERMISSIONS: &[(Permission, Existence, Grant, &[Right])] = &[
    (CanUpdate, Both, Owners, &[]),
    (CanUpdateAuthenticationToken, Both, Owners, &[]),
    (CanViewAuthentication, Both, Owners, &[]),
    (CanDestroy, Both, Owners, &[]),
    (CanAccessViaTeams, Both, Everybody, &[]),
    (CanCreateModule, Both, Owners, &[ManageModules]),
    (CanCreateTeam, Both, OwnersWhoPay, &[ManageTeams]),
    (CanCreateWorkspace, Both, Owners, &[ManageWorkspaces, ManageProjects]),
    (CanCreateWorkspaceMigration, Both, Owners, &[ManageWorkspaces]),
    (CanManageUsers, Both, Owners, &[ManageMembership]),
    (CanViewUsers, Both, Everybody, &[]),
    (CanManageSubscription, Both, Owners, &[]),
    (CanManageSso, Both, OwnersWhoPay, &[]),
    (CanUpdateOauth, Both, Owners, &[ManageVcsSettings]),
    (CanUpdateSentinel, Both, OwnersWhoPay, &[ManagePolicies]),
    (CanUpdateSshKeys, Both, Owners, &[ManageVcsSettings]),
    (CanUpdateApiToken, Both, Owners, &[]),
    (CanTraverse, Both, Everybody, &[]),
    (CanStartTrial, Both, HostedOwners, &[]),
    (CanViewUsage, Both, Owners, &[]),
    (CanUpdateAgentPools, Both, OwnersWhoPay, &[ManageAgentPools]),
    (CanManageTags, Both, Owners, &[ManageWorkspaces, ManageProjects]),
    (CanManageVarsets, Both, Owners, &[ManageWorkspaces, ManageProjects]),
    (CanReadVarsets, Both, Everybody, &[]),
    (CanManagePublicProviders, Both, Owners, &[ManageProviders]),
    (CanCreateProvider, Both, Owners, &[ManageProviders]),
    (CanManagePublicModules, Both, Owners, &[ManageModules]),
    (CanManageCustomProviders, Both, OwnersWhoPay, &[ManageProviders]),
    (CanManageRunTasks, Both, Owners, &[ManageRunTasks]),
    (CanReadRunTasks, Both, Owners, &[ManageRunTasks]),
    (CanCreateProject, Both, Owners, &[ManageProjects]),
    (CanEnableStacks, Both, Owners, &[]),
    (CanManageOrgPublicProviders, Both, Owners, &[ManageProviders]),
    (CanManageOrgPublicModules, Both, Owners, &[ManageModules]),
    (CanManageAssessments, Both, OwnersWhoPay, &[]),
    (CanReadAssessments, Both, OwnersWhoPay, &[]),
    (CanViewExplorer, Both, OwnersWhoPay, &[]),
    (CanDeployNoCodeModules, Both, OwnersWhoPay, &[]),
    (CanManageNoCodeModules, Both, OwnersWhoPay, &[ManageModules]),
    (CanManageGroupsInHcp, Hosted, Nobody, &[]),
    (CanCreateProjectInHcp, Hosted, Nobody, &[]),
    (CanUpdateHyokConfiguration, Hosted, PremiumOwners, &[]),
    (CanViewHyokFeatureInfo, Hosted, PremiumOwners, &[]),
    (CanManageRecoverableItems, Both, OwnersWhoPay, &[]),
    (CanManageAuditing, Both, OwnersWhoPay, &[]),
    (CanReadPolicies, SelfHosted, Owners, &[ManagePolicies]),
];

/// The permissions of the organization's own token beside those of every caller, on every plan.
const OF_ORGANIZATION_TOKEN: &[Permission] = &[
    Permission::CanCreateTeam,
    Permission::CanManageUsers,
    Permission::CanUpdateApiToken,
    Permission::CanCreateWorkspace,
];

/// Adds the parts of the description that are asked for to a decision about a caller whom policies make what `role_by_policies` says.
pub fn describe(
    decision: &mut AccessDecision,
    described: Description,
    role_by_policies: Option<OrganizationRole>,
) {
    let plan = decision.organization.plan;
    if described.entitlements {
        decision.entitlements = entitlements(plan);
    }
    if described.permissions {
        let role = greater(decision.role, role_by_policies);
        decision.permissions = permissions(plan, role, &decision.rights);
    }
}

/// The role of a caller who has this one by membership and that one by policies; a member, if nothing more is known.
pub const fn greater(
    by_membership: Option<OrganizationRole>,
    by_policies: Option<OrganizationRole>,
) -> OrganizationRole {
    match (by_membership, by_policies) {
        (Some(role @ (OrganizationRole::SiteAdministrator | OrganizationRole::Owner)), _)
        | (_, Some(role @ OrganizationRole::Owner))
        | (Some(role), _) => role,
        _ => OrganizationRole::Member,
    }
}

/// The permissions of a caller of that role, with these rights from teams, in an organization on that plan, always in the same order.
/// A permission that does not exist in the plan's edition is left out.
pub fn permissions(
    plan: Plan,
    role: OrganizationRole,
    rights: &[Right],
) -> Vec<OrganizationPermission> {
    let edition = plan.edition();
    let exists = |existence: &Existence| match existence {
        Both => true,
        Hosted => edition == Edition::Hosted,
        SelfHosted => edition == Edition::SelfHosted,
    };
    let opened = |opening: &[Right]| opening.iter().any(|right| rights.contains(right));
    PERMISSIONS
        .iter()
        .filter(|(_, existence, _, _)| exists(existence))
        .map(|(permission, _, grant, opening)| OrganizationPermission {
            permission: *permission,
            granted: match role {
                OrganizationRole::SiteAdministrator | OrganizationRole::Owner => {
                    has(*grant, plan, role)
                }
                // A team may never do more than the owners.
                OrganizationRole::Member if opened(opening) => {
                    has(*grant, plan, OrganizationRole::Owner)
                }
                OrganizationRole::OrganizationToken
                    if OF_ORGANIZATION_TOKEN.contains(permission) =>
                {
                    true
                }
                OrganizationRole::Member | OrganizationRole::OrganizationToken => {
                    *grant == Everybody
                }
            },
        })
        .collect()
}

/// True if owners or site administrators have it.
fn has(grant: Grant, plan: Plan, role: OrganizationRole) -> bool {
    match grant {
        Everybody | Owners => true,
        OwnersWhoPay => plan != Plan::Free || role == OrganizationRole::SiteAdministrator,
        HostedOwners => plan.edition() == Edition::Hosted,
        PremiumOwners => plan == Plan::Premium,
        Nobody => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PLANS: [Plan; 6] = [
        Plan::Free,
        Plan::Standard,
        Plan::Plus,
        Plan::Business,
        Plan::Premium,
        Plan::Enterprise,
    ];

    /// The table of the contract, in its order. `A` for self-hosted, business and premium; `B`; `C` for self-hosted and hosted.
    /// A dash for what is left out.
    #[rustfmt::skip]
    const CONTRACT: &[(&str, &str)] = &[
        ("can-update", "TTTTFF"),
        ("can-update-authentication-token", "TTTTFF"),
        ("can-view-authentication", "TTTTFF"),
        ("can-destroy", "TTTTFF"),
        ("can-access-via-teams", "TTTTTT"),
        ("can-create-module", "TTTTFF"),
        ("can-create-team", "TTTFFF"),
        ("can-create-workspace", "TTTTFF"),
        ("can-create-workspace-migration", "TTTTFF"),
        ("can-manage-users", "TTTTFF"),
        ("can-view-users", "TTTTTT"),
        ("can-manage-subscription", "TTTTFF"),
        ("can-manage-sso", "TTTFFF"),
        ("can-update-oauth", "TTTTFF"),
        ("can-update-sentinel", "TTTFFF"),
        ("can-update-ssh-keys", "TTTTFF"),
        ("can-update-api-token", "TTTTFF"),
        ("can-traverse", "TTTTTT"),
        ("can-start-trial", "FTTTFF"),
        ("can-view-usage", "TTTTFF"),
        ("can-update-agent-pools", "TTTFFF"),
        ("can-manage-tags", "TTTTFF"),
        ("can-manage-varsets", "TTTTFF"),
        ("can-read-varsets", "TTTTTT"),
        ("can-manage-public-providers", "TTTTFF"),
        ("can-create-provider", "TTTTFF"),
        ("can-manage-public-modules", "TTTTFF"),
        ("can-manage-custom-providers", "TTTFFF"),
        ("can-manage-run-tasks", "TTTTFF"),
        ("can-read-run-tasks", "TTTTFF"),
        ("can-create-project", "TTTTFF"),
        ("can-enable-stacks", "TTTTFF"),
        ("can-manage-org-public-providers", "TTTTFF"),
        ("can-manage-org-public-modules", "TTTTFF"),
        ("can-manage-assessments", "TTTFFF"),
        ("can-read-assessments", "TTTFFF"),
        ("can-view-explorer", "TTTFFF"),
        ("can-deploy-no-code-modules", "TTTFFF"),
        ("can-manage-no-code-modules", "TTTFFF"),
        ("can-manage-groups-in-hcp", "-FFF-F"),
        ("can-create-project-in-hcp", "-FFF-F"),
        ("can-update-hyok-configuration", "-FTF-F"),
        ("can-view-hyok-feature-info", "-FTF-F"),
        ("can-manage-recoverable-items", "TTTFFF"),
        ("can-manage-auditing", "TTTFFF"),
        ("can-read-policies", "T---F-"),
    ];

    const COLUMNS: [(Plan, OrganizationRole); 6] = [
        (Plan::Enterprise, OrganizationRole::Owner),
        (Plan::Business, OrganizationRole::Owner),
        (Plan::Premium, OrganizationRole::Owner),
        (Plan::Free, OrganizationRole::Owner),
        (Plan::Enterprise, OrganizationRole::Member),
        (Plan::Free, OrganizationRole::Member),
    ];

    /// The name of a permission on the wire.
    fn name(permission: Permission) -> String {
        <&str>::from(permission).to_owned()
    }

    /// Permissions that are granted, by key.
    fn found(plan: Plan, role: OrganizationRole, rights: &[Right]) -> BTreeMap<String, bool> {
        permissions(plan, role, rights)
            .into_iter()
            .map(|found| (name(found.permission), found.granted))
            .collect()
    }

    /// The keys of what is granted to the first and not to the second.
    fn beyond(more: &BTreeMap<String, bool>, less: &BTreeMap<String, bool>) -> Vec<String> {
        let granted = more
            .iter()
            .filter(|(key, granted)| **granted && !less[*key]);
        granted.map(|(key, _)| key.clone()).collect()
    }

    #[test]
    fn contract_2_4_every_cell_of_the_table() {
        for (column, (plan, role)) in COLUMNS.into_iter().enumerate() {
            let expected: BTreeMap<_, _> = CONTRACT
                .iter()
                .filter_map(|(key, cells)| match cells.as_bytes()[column] {
                    b'-' => None,
                    cell => Some(((*key).to_owned(), cell == b'T')),
                })
                .collect();
            assert_eq!(found(plan, role, &[]), expected, "{plan:?} {role:?}");
        }
    }

    #[test]
    fn contract_2_4_permissions_stand_in_the_order_of_the_contract() {
        let known = permissions(Plan::Free, OrganizationRole::Owner, &[]);
        let keys: Vec<_> = known.iter().map(|found| name(found.permission)).collect();
        let expected: Vec<_> = CONTRACT
            .iter()
            .filter(|(_, cells)| cells.as_bytes()[3] != b'-')
            .map(|(key, _)| *key)
            .collect();
        assert_eq!(keys, expected);
    }

    #[test]
    fn contract_2_4_every_paid_plan_shows_its_owners_the_same_but_for_keys_of_their_own() {
        let premium = found(Plan::Premium, OrganizationRole::Owner, &[]);
        for plan in [Plan::Standard, Plan::Plus, Plan::Business] {
            assert_eq!(
                beyond(&premium, &found(plan, OrganizationRole::Owner, &[])),
                [
                    "can-update-hyok-configuration",
                    "can-view-hyok-feature-info"
                ]
            );
        }
    }

    #[test]
    fn contract_2_4_site_administrators_see_what_owners_on_a_paid_plan_see() {
        for plan in PLANS {
            let paid = if plan == Plan::Free {
                Plan::Business
            } else {
                plan
            };
            assert_eq!(
                found(plan, OrganizationRole::SiteAdministrator, &[]),
                found(paid, OrganizationRole::Owner, &[])
            );
        }
    }

    #[test]
    fn contract_2_4_the_token_of_an_organization_may_do_four_things_more_than_a_member() {
        for plan in PLANS {
            let member = found(plan, OrganizationRole::Member, &[]);
            let token = found(plan, OrganizationRole::OrganizationToken, &[]);
            let mut expected: Vec<String> =
                OF_ORGANIZATION_TOKEN.iter().copied().map(name).collect();
            expected.sort_unstable();
            assert_eq!(beyond(&token, &member), expected);
            let with_rights = found(plan, OrganizationRole::OrganizationToken, &Right::ALL);
            assert_eq!(with_rights, token);
        }
    }

    #[test]
    fn contract_2_4_each_right_of_a_team_opens_what_it_names() {
        let nothing: &[&str] = &[];
        for (right, opened) in [
            (
                Right::ManagePolicies,
                &["can-read-policies", "can-update-sentinel"][..],
            ),
            (Right::ManagePolicyOverrides, nothing),
            (Right::DelegatePolicyOverrides, nothing),
            (
                Right::ManageWorkspaces,
                &[
                    "can-create-workspace",
                    "can-create-workspace-migration",
                    "can-manage-tags",
                    "can-manage-varsets",
                ],
            ),
            (
                Right::ManageVcsSettings,
                &["can-update-oauth", "can-update-ssh-keys"],
            ),
            (
                Right::ManageProviders,
                &[
                    "can-create-provider",
                    "can-manage-custom-providers",
                    "can-manage-org-public-providers",
                    "can-manage-public-providers",
                ],
            ),
            (
                Right::ManageModules,
                &[
                    "can-create-module",
                    "can-manage-no-code-modules",
                    "can-manage-org-public-modules",
                    "can-manage-public-modules",
                ],
            ),
            (
                Right::ManageRunTasks,
                &["can-manage-run-tasks", "can-read-run-tasks"],
            ),
            (
                Right::ManageProjects,
                &[
                    "can-create-project",
                    "can-create-workspace",
                    "can-manage-tags",
                    "can-manage-varsets",
                ],
            ),
            (Right::ReadWorkspaces, nothing),
            (Right::ReadProjects, nothing),
            (Right::ManageMembership, &["can-manage-users"]),
            (Right::ManageTeams, &["can-create-team"]),
            (Right::ManageOrganizationAccess, nothing),
            (Right::AccessSecretTeams, nothing),
            (Right::ManageAgentPools, &["can-update-agent-pools"]),
        ] {
            let plain = found(Plan::Enterprise, OrganizationRole::Member, &[]);
            let member = found(Plan::Enterprise, OrganizationRole::Member, &[right]);
            assert_eq!(beyond(&member, &plain), opened, "{right:?}");
        }
    }

    #[test]
    fn contract_2_4_a_team_never_may_do_more_than_the_owners() {
        for plan in PLANS {
            let member = found(plan, OrganizationRole::Member, &Right::ALL);
            let owner = found(plan, OrganizationRole::Owner, &[]);
            assert_eq!(beyond(&member, &owner), Vec::<String>::new(), "{plan:?}");
        }
        let free = found(Plan::Free, OrganizationRole::Member, &[Right::ManageTeams]);
        assert!(!free["can-create-team"]);
    }
}
