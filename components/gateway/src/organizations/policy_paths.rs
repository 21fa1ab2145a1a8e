//! The paths by which policies know organizations, and the rights that they grant there.
//!
//! For policies an organization stands at `organizations/<name>`, with the name in lower case, and what belongs to it below that.

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

    /// The role of a caller with these rights. Callers who may both change and remove it are as its owners, who can
    /// refuse nothing to them; less than that is not, for owners may do either.
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

/// The path under which policies know the organization of this name, if there can be one.
pub(super) fn path_of(name: &str) -> Option<String> {
    folded_name(name).map(|folded| format!("{ORGANIZATIONS_PATH}/{folded}"))
}
