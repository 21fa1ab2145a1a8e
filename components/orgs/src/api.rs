//! What the capability offers.

use gatehouse_ports::{RandomError, StoreError};
use gatehouse_storage::StorageError;

use crate::{
    AgentPools, AuditTrail, Authority, Caller, Edition, Entitlement, FieldFault, Memberships,
    Organization, OrganizationChanges, Permission, Plan, Retention, Rights, Sharing, Site,
    Standing, Subscriptions, Teams, Tokens, Users,
};

/// Most organizations in one [`Batch`].
pub const MAXIMUM_BATCH: u32 = 500;

/// Most organizations on one [`Page`] (contract 3.1).
pub const MAXIMUM_PAGE_SIZE: u32 = 100;

/// The life of organizations, and what their plans include.
///
/// Names are compared without regard to case everywhere. Every answer reflects all writes that were acknowledged before.
pub trait Organizations {
    /// Makes an organization; fields not mentioned get their defaults (contract 2.2, 2.10). Whoever asks owns it: a user; an entity,
    /// which becomes a user by it; the installation, for anybody else.
    ///
    /// # Errors
    ///
    /// [`CreateError::Invalid`] with every fault at once; nothing is stored then. Of several simultaneous calls for one name,
    /// exactly one succeeds.
    fn create(
        &self,
        edition: Edition,
        changes: &OrganizationChanges,
        by: &Caller,
    ) -> Result<Organization, CreateError>;

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
    /// `limit` of them, which is brought into 1 to [`MAXIMUM_BATCH`].
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
    /// [`MAXIMUM_PAGE_SIZE`]) to a page, by name without case. A number or size outside its range is brought into it.
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
    /// When the store does not answer, or something is damaged, of which the first is told; whatever can be done without it is done.
    /// What was due is then done by the next call.
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

    /// What a plan includes, always in the same order (contract 4.1).
    fn entitlements(&self, plan: Plan) -> Vec<Entitlement>;

    /// What somebody of that standing, with these rights from teams, may do in an organization on that plan, always in the same order
    /// (contract 2.4). It describes; what a request may do is decided before this capability is called.
    fn permissions(&self, plan: Plan, standing: Standing, rights: &Rights) -> Vec<Permission>;
}

/// Which organizations are wanted. Every text that is given must occur, without regard to case and with no wildcards; an
/// empty text is as none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Must occur in the name or in the e-mail address.
    pub name_or_email: Option<String>,
    /// Must occur in the name.
    pub name: Option<String>,
    /// Must occur in the e-mail address.
    pub email: Option<String>,
}

/// Whose list it is (contract 1.7): of all organizations, which ones are in it. Only [`Viewer::Everything`] sees those that a site
/// administrator has disabled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Viewer {
    /// All organizations.
    Everything,
    /// Those that the user with this id is a member of, without those that take no user's token.
    Member(String),
    /// The one with this external id.
    Only(String),
    /// Those that a service token opens.
    Workload(Reach),
    /// None.
    #[default]
    Nothing,
}

/// Which organizations a service token opens. Names are meant in any case, and it does not matter how often one is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Organizations of these names.
    pub names: Vec<String>,
    /// Organizations whose names begin with one of these; the empty text begins them all.
    pub prefixes: Vec<String>,
    /// Those that this user is a member of: the id of the one that the token's entity is, if it is one.
    pub user: Option<String>,
}

/// A part of a list that is read from front to back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// By name, without case.
    pub organizations: Vec<Organization>,
    /// Where to go on: to be given as `after`. `None` at the end of the list. It need not be a name in this batch, and a
    /// batch can be empty although the list goes on.
    pub next: Option<String>,
}

/// A part of a list that is read by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// By name, without case; empty beyond the last page.
    pub organizations: Vec<Organization>,
    /// How many organizations match, on all pages together.
    pub total: u64,
}

/// Why there is no answer. None of these says anything about the organizations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Nobody has unlocked the store yet.
    #[error("the store of organizations is sealed: unseal the server first")]
    Sealed,
    /// The store cannot be reached, is full, or failed; worth trying again. The text is for the log, without secrets.
    #[error("the store of organizations is unavailable: {0}")]
    Unavailable(String),
    /// Other writers kept changing the same records; worth trying again.
    #[error("too many writers change the same organizations: try again")]
    Contended,
    /// A stored record cannot be read; trying again does not help. The text is for the log, without secrets.
    #[error("a stored organization cannot be used: {0}")]
    Damaged(String),
    /// The host's source of randomness failed, so nothing was made.
    #[error("the host's source of randomness failed")]
    NoRandomness,
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Store(StoreError::Sealed) => Self::Sealed,
            StorageError::Store(StoreError::Unavailable(why)) => Self::Unavailable(why),
            StorageError::Contended(_) => Self::Contended,
            error => Self::Damaged(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        StorageError::from(error).into()
    }
}

impl From<RandomError> for Failure {
    fn from(_: RandomError) -> Self {
        Self::NoRandomness
    }
}

/// Why an organization was not made. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// At least one field is not as it must be; all faults, in the order of [`crate::Field`].
    #[error("{} fields of the organization are not valid", .0.len())]
    Invalid(Vec<FieldFault>),
    /// Not about the request.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Why an organization was not changed. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// No organization has that external id.
    #[error("there is no such organization")]
    NotFound,
    /// At least one field is not as it must be; all faults, in the order of [`crate::Field`].
    #[error("{} fields of the organization are not valid", .0.len())]
    Invalid(Vec<FieldFault>),
    /// Not about the request.
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

impl From<StorageError> for CreateError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StorageError> for UpdateError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.into())
    }
}
