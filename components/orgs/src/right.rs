//! What a team may do in its organization (contract 4.10).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// One thing that the members of a team may do in their organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// Change policies.
    ManagePolicies,
    /// Override policies.
    ManagePolicyOverrides,
    /// Let others override policies.
    DelegatePolicyOverrides,
    /// Change all workspaces.
    ManageWorkspaces,
    /// Change the connections to version control.
    ManageVcsSettings,
    /// Publish providers.
    ManageProviders,
    /// Publish modules.
    ManageModules,
    /// Change run tasks.
    ManageRunTasks,
    /// Change all projects.
    ManageProjects,
    /// See all workspaces.
    ReadWorkspaces,
    /// See all projects.
    ReadProjects,
    /// Invite and remove members.
    ManageMembership,
    /// Change teams and their tokens.
    ManageTeams,
    /// Change what teams may do.
    ManageOrganizationAccess,
    /// See secret teams.
    AccessSecretTeams,
    /// Change agent pools.
    ManageAgentPools,
}

impl Right {
    /// Every right, in the order of the contract.
    pub const ALL: [Self; 16] = [
        Self::ManagePolicies,
        Self::ManagePolicyOverrides,
        Self::DelegatePolicyOverrides,
        Self::ManageWorkspaces,
        Self::ManageVcsSettings,
        Self::ManageProviders,
        Self::ManageModules,
        Self::ManageRunTasks,
        Self::ManageProjects,
        Self::ReadWorkspaces,
        Self::ReadProjects,
        Self::ManageMembership,
        Self::ManageTeams,
        Self::ManageOrganizationAccess,
        Self::AccessSecretTeams,
        Self::ManageAgentPools,
    ];

    /// What the right is called on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ManagePolicies => "manage-policies",
            Self::ManagePolicyOverrides => "manage-policy-overrides",
            Self::DelegatePolicyOverrides => "delegate-policy-overrides",
            Self::ManageWorkspaces => "manage-workspaces",
            Self::ManageVcsSettings => "manage-vcs-settings",
            Self::ManageProviders => "manage-providers",
            Self::ManageModules => "manage-modules",
            Self::ManageRunTasks => "manage-run-tasks",
            Self::ManageProjects => "manage-projects",
            Self::ReadWorkspaces => "read-workspaces",
            Self::ReadProjects => "read-projects",
            Self::ManageMembership => "manage-membership",
            Self::ManageTeams => "manage-teams",
            Self::ManageOrganizationAccess => "manage-organization-access",
            Self::AccessSecretTeams => "access-secret-teams",
            Self::ManageAgentPools => "manage-agent-pools",
        }
    }
}

/// Rights, none of them twice.
pub type Rights = BTreeSet<Right>;
