//! The interface `organizations`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    AccessDecision, AgentPools, AuditTrail, Authority, Batch, Caller, Edition, Failure, FieldFault,
    Filter, Memberships, Organization, OrganizationChanges, OrganizationRole, Page, Retention,
    Sharing, Site, Subscriptions, Teams, Tokens, Users, Viewer,
};

/// Most organizations in one [`Batch`].
pub const MAXIMUM_BATCH: u32 = 500;

/// Most organizations on one [`Page`] (contract 3.1).
pub const MAXIMUM_PAGE_SIZE: u32 = 100;

/// The life of organizations.
///
/// Names are compared without regard to case everywhere. Every answer reflects all writes that were acknowledged before.
pub trait Organizations {
    /// Makes an organization; fields not mentioned get their defaults (contract 2.2, 2.10). The caller owns it: a user; an entity,
    /// which becomes a user by it; the installation, for every other caller. The answer is what the caller may see then;
    /// `role_by_policies` is the role that policies give them there in addition.
    ///
    /// # Errors
    ///
    /// [`CreateError::Invalid`] with every fault at once; nothing is stored then. Of several simultaneous calls for one name,
    /// exactly one succeeds.
    fn create(
        &self,
        edition: Edition,
        changes: &OrganizationChanges,
        role_by_policies: Option<OrganizationRole>,
        by: &Caller,
    ) -> Result<AccessDecision, CreateError>;

    /// The organization of that name; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn read(&self, edition: Edition, name: &str) -> Result<Option<Organization>, Failure>;

    /// The organization that has this external id (`org-...`), which stays through renames; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn find(&self, edition: Edition, external_id: &str) -> Result<Option<Organization>, Failure>;

    /// The organizations that `viewer` sees, that match `filter` and come after the name `after`, by name without case; at most
    /// `limit` of them, clamped to 1 to [`MAXIMUM_BATCH`].
    ///
    /// One call looks at a bounded number of organizations, also with a filter, or at those that a [`Viewer::Member`] belongs to.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn list(
        &self,
        edition: Edition,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure>;

    /// The page `number` (from 1 on) of the organizations that `viewer` sees and that match `filter`, `size` (1 to
    /// [`MAXIMUM_PAGE_SIZE`]) to a page, by name without case. A number or size outside its range is clamped to it.
    ///
    /// For [`Viewer::Everything`] without a filter the cost depends neither on the page nor on how many organizations there are. A
    /// filter is looked for in the names and addresses of all organizations that the viewer sees.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn page_at(
        &self,
        edition: Edition,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure>;

    /// Changes the fields that are mentioned, of the organization with this external id, and no other: of two simultaneous calls for
    /// different fields, both last (contract 2.12). A new name takes effect for everything at once, and the old one is free.
    ///
    /// # Errors
    ///
    /// [`UpdateError::Invalid`] with every fault at once, and nothing is changed then.
    fn update(
        &self,
        edition: Edition,
        external_id: &str,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, UpdateError>;

    /// Removes the organization with this external id and everything that belongs to it. False where there is none.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn delete(&self, external_id: &str, by: &Caller) -> Result<bool, Failure>;

    /// A task of upkeep: clears away a part of what belonged to organizations that are gone, and of the tokens of teams and agent
    /// pools that are.
    ///
    /// Each task does a bounded part of its work in one call and goes on from there in the next, also where one call was cut off: what
    /// cannot be finished has its next turn after everything else. To be called every minute or so; more often, and from several
    /// hosts at once, is harmless.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or something is damaged, of which the first is reported; whatever can be done without it is done.
    /// Work that was due is then done by the next call.
    fn clear_removed_away(&self) -> Result<(), Failure>;

    /// A task of upkeep, as [`Self::clear_removed_away`]: takes teams that are gone out of memberships.
    ///
    /// # Errors
    ///
    /// As [`Self::clear_removed_away`].
    fn clear_teams_away(&self) -> Result<(), Failure>;

    /// A task of upkeep, as [`Self::clear_removed_away`]: enters changed names of organizations where lists look for them.
    ///
    /// # Errors
    ///
    /// As [`Self::clear_removed_away`].
    fn enter_names(&self) -> Result<(), Failure>;

    /// All tasks of upkeep, each of them also where another one fails.
    ///
    /// # Errors
    ///
    /// The first failure of a task.
    fn maintain(&self) -> Result<(), Failure> {
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
    Failed(#[from] Failure),
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
    Failed(#[from] Failure),
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

wraps_failure!(Failure: CreateError, UpdateError);
