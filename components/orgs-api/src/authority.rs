//! The interface `authority`: its functions, its credential, which holds a secret, and identities.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    AccessDecision, AccessQuestion, Authorization, Decision, DelegationScope, Description,
    Entitlement, Identification, Identity, ListedOrganization, MembershipSummaries,
    OrganizationRole, OwningOrganization, Plan, PlanEntitlements, Principal, Right, ServiceError,
    User,
};

/// The proof of who a caller is. It is wiped from memory when it is dropped, and cannot be printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub enum Credential {
    /// A token that this capability has issued: its text, a secret.
    ApiToken(String),
    /// A service token of an entity, which the gateway has checked: the id of the entity.
    Entity(String),
    /// A service token that may do everything, which the gateway has checked.
    Root,
    /// A service token without an entity, which the gateway has checked.
    WithoutEntity,
}

impl Identity {
    /// True if they administer the whole installation.
    #[must_use]
    pub const fn is_site_administrator(&self) -> bool {
        match &self.principal {
            Principal::Installation => true,
            Principal::User(user) => user.site_administrator,
            _ => false,
        }
    }

    /// True if they may make, see and end the tokens of the user with this id: the user may, and who administers the installation.
    ///
    /// A workload that is a user may not make itself tokens of this API: they would outlive what its cloud identity is good for.
    #[must_use]
    pub fn manages_tokens_of(&self, user: &str) -> bool {
        let is_person = |own: &User| own.id == user && own.subject.is_none();
        self.is_site_administrator()
            || matches!(&self.principal, Principal::User(own) if is_person(own))
    }
}

impl OrganizationRole {
    /// True if its holder stands for the whole organization.
    #[must_use]
    pub const fn owns(self) -> bool {
        matches!(self, Self::SiteAdministrator | Self::Owner)
    }
}

impl Description {
    /// No part: the decision alone.
    pub const NOTHING: Self = Self {
        entitlements: false,
        permissions: false,
    };

    /// The entitlements of the plan alone.
    pub const ENTITLEMENTS: Self = Self {
        entitlements: true,
        ..Self::NOTHING
    };
}

impl AccessDecision {
    /// The teams and members with which the caller can deal by their role in the organization.
    #[must_use]
    pub fn delegation_scope(&self) -> DelegationScope {
        DelegationScope {
            role: self.role.unwrap_or(OrganizationRole::Member),
            rights: self.rights.clone(),
            teams: self.teams.clone(),
        }
    }
}

impl DelegationScope {
    /// The same scope of a caller whose policies allow the request, and make them what `role_by_policies` says. Policies that make an owner
    /// of the caller count as that, and other policies as the `right` to the request, if it is one that teams give.
    #[must_use]
    pub fn with_policies(
        mut self,
        right: Option<Right>,
        role_by_policies: Option<OrganizationRole>,
    ) -> Self {
        if role_by_policies == Some(OrganizationRole::Owner) && !self.role.owns() {
            self.role = OrganizationRole::Owner;
        }
        self.rights
            .extend(right.filter(|right| !self.rights.contains(right)));
        self
    }
}

impl PlanEntitlements {
    /// The entitlement set of `plan` among these; an empty one where it is not among them.
    #[must_use]
    pub fn find(all: &[Self], plan: Plan) -> &[Entitlement] {
        let found = all.iter().find(|found| found.plan == plan);
        found.map_or(&[], |found| found.entitlements.as_slice())
    }
}

/// Tells who a caller is, and what they may do. The WIT interface is the specification.
pub trait Authority {
    /// Tells who presents the credential, and, with `with_api_rate`, how many requests callers have.
    fn identify(
        &self,
        credential: &Credential,
        with_api_rate: bool,
    ) -> Result<Identification, ServiceError>;

    /// The same in one call with the caller's role in an organization, and the decision about an action there (contract 1.7).
    fn authorize(
        &self,
        credential: &Credential,
        question: &AccessQuestion,
        with_api_rate: bool,
    ) -> Result<Authorization, ServiceError>;

    /// Their role in each of these organizations, for lists: it takes a few reads for all of them together.
    fn summarize_memberships(
        &self,
        identity: &Identity,
        organizations: &[ListedOrganization],
    ) -> Result<MembershipSummaries, ServiceError>;

    /// The decision about making an organization (contract 1.7): people may; a workload if policies allow it, which `granted` says.
    fn creation(&self, identity: &Identity, granted: bool) -> Result<Decision, ServiceError>;

    /// The organization to which something with this identifier belongs: a team, membership, agent pool, token, project, subscription, or
    /// the organization itself by its external id.
    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, ServiceError>;
}
