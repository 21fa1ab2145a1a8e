//! The paths of organizations in policies, and the rights that policies grant there.
//!
//! In policies, the path of an organization is `organizations/<name>`, with the name in lower case. The resources of an organization are below its
//! path.

use gatehouse_access_api::Capability as PolicyCapability;
use gatehouse_orgs_api::{OrganizationRole, folded_name};

/// The path of all organizations.
pub(super) const ORGANIZATIONS_PATH: &str = "organizations";

/// The rights of a service token on one organization, by its policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rights {
    pub(super) read: bool,
    pub(super) update: bool,
    pub(super) create: bool,
    pub(super) delete: bool,
}

impl Rights {
    /// The rights that these capabilities grant.
    pub(super) fn granted_by(capabilities: &[PolicyCapability]) -> Self {
        let has = |wanted| {
            let grants =
                |found: &PolicyCapability| *found == wanted || *found == PolicyCapability::Root;
            capabilities.iter().any(grants)
        };
        Self {
            read: has(PolicyCapability::Read),
            update: has(PolicyCapability::Update),
            create: has(PolicyCapability::Create),
            delete: has(PolicyCapability::Delete),
        }
    }

    /// The role of a caller with these rights. A caller who may both update and delete the organization counts as an owner: its owners could refuse
    /// nothing to such a caller. One of the two rights alone does not suffice, since owners have both.
    pub(super) const fn role(self) -> Option<OrganizationRole> {
        match self {
            Self {
                update: true,
                delete: true,
                ..
            } => Some(OrganizationRole::Owner),
            Self { read: true, .. } => Some(OrganizationRole::Member),
            _ => None,
        }
    }
}

/// The path of the organization of this name in policies; `None` for an invalid name.
pub(super) fn path_of(name: &str) -> Option<String> {
    folded_name(name).map(|folded| format!("{ORGANIZATIONS_PATH}/{folded}"))
}
