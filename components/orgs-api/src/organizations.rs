//! The interface `organizations`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    AccessDecision, AgentPools, AuditTrail, Authority, Batch, Caller, FieldFault, Filter,
    Memberships, Organization, OrganizationChanges, OrganizationRole, Page, Retention,
    ServiceError, Sharing, Site, Subscriptions, Teams, Tokens, Users, Viewer,
};

/// Most organizations in one [`Batch`].
pub const MAXIMUM_BATCH: u32 = 500;

/// Most organizations on one [`Page`] (contract 3.1).
pub const MAXIMUM_PAGE_SIZE: u32 = 100;

/// The life of organizations. The WIT interface is the specification.
///
/// Names are compared without regard to case everywhere. Every answer reflects all writes that were acknowledged before.
pub trait Organizations {
    /// Makes an organization; fields not mentioned get their defaults (contract 2.2, 2.10).
    fn create(
        &self,
        changes: &OrganizationChanges,
        role_by_policies: Option<OrganizationRole>,
        by: &Caller,
    ) -> Result<AccessDecision, CreateError>;

    /// The organization of that name; `None` where there is none.
    fn read(&self, name: &str) -> Result<Option<Organization>, ServiceError>;

    /// The organization that has this external id (`org-...`), which stays through renames; `None` where there is none.
    fn find(&self, external_id: &str) -> Result<Option<Organization>, ServiceError>;

    /// The organizations that `viewer` sees, that match `filter` and come after the name `after`, by name without case; at most `limit` of
    /// them, clamped to 1 to [`MAXIMUM_BATCH`].
    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError>;

    /// The page `number` (from 1 on) of the organizations that `viewer` sees and that match `filter`, `size` (1 to [`MAXIMUM_PAGE_SIZE`])
    /// to a page, by name without case.
    fn page_at(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError>;

    /// Changes the fields that are mentioned, of the organization with this external id, and no other: of two simultaneous calls for
    /// different fields, both last (contract 2.12).
    fn update(
        &self,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError>;

    /// Removes the organization with this external id and everything that belongs to it.
    fn delete(&self, external_id: &str, by: &Caller) -> Result<bool, ServiceError>;

    /// A task of upkeep: clears away a part of what belonged to organizations that are gone, and of the tokens of teams and agent pools
    /// that are.
    fn clear_removed_away(&self) -> Result<(), ServiceError>;

    /// A task of upkeep, as [`Self::clear_removed_away`]: takes teams that are gone out of memberships.
    fn clear_teams_away(&self) -> Result<(), ServiceError>;

    /// A task of upkeep, as [`Self::clear_removed_away`]: enters changed names of organizations where lists look for them.
    fn enter_names(&self) -> Result<(), ServiceError>;

    /// All tasks of upkeep, each of them also where another one fails. The first failure is answered.
    fn maintain(&self) -> Result<(), ServiceError> {
        let outcomes = [
            self.clear_removed_away(),
            self.enter_names(),
            self.clear_teams_away(),
        ];
        outcomes.into_iter().collect()
    }
}

/// Why an organization was not made. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// At least one field is invalid; all faults, in the order of [`crate::Field`].
    #[error("{} fields of the organization are not valid", .0.len())]
    Invalid(Vec<FieldFault>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// Why an organization was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// No organization has that external id.
    #[error("there is no such organization")]
    NotFound,
    /// At least one field is invalid; all faults, in the order of [`crate::Field`].
    #[error("{} fields of the organization are not valid", .0.len())]
    Invalid(Vec<FieldFault>),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// Everything that the capability offers.
pub trait Capability:
    Organizations
    + Authority
    + Users
    + Tokens
    + AuditTrail
    + Subscriptions
    + AgentPools
    + Teams
    + Memberships
    + Retention
    + Sharing
    + Site
{
}

impl<T> Capability for T where
    T: Organizations
        + Authority
        + Users
        + Tokens
        + AuditTrail
        + Subscriptions
        + AgentPools
        + Teams
        + Memberships
        + Retention
        + Sharing
        + Site
{
}

wraps_failure!(ServiceError: CreateError, UpdateError);
