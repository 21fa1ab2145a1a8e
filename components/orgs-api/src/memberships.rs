//! The interface `memberships`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    AttributeIssue, Caller, DelegationScope, Identity, Invitation, MembershipFilter,
    MembershipPage, OwnMembership, RelatedMembership, Relations, ServiceError,
};

/// Most teams that are named of memberships that are answered together.
pub const MAXIMUM_TEAMS_TOLD: usize = 20_000;

/// How many invitations are among a user's own memberships. Who declines some of them sees others.
pub const MAXIMUM_INVITATIONS: u32 = 500;

/// Most owners that are named of each of several organizations.
pub const MAXIMUM_OWNERS_TOLD: usize = 100;

/// Why nothing was done about a membership. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// There is no such membership, or no such organization.
    #[error("there is no such membership")]
    NotFound,
    /// It is more than the scope allows.
    #[error("a team of the membership is beyond the caller's scope: an owner can do it")]
    NotAllowed,
    /// At least one attribute is invalid.
    #[error("{} attributes of the membership are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The organization would have no owner: add another one first.
    #[error("the last owner cannot leave: add another owner first")]
    LastOwner,
    /// The organization has this many memberships, invitations among them, and may not have more.
    #[error("the organization may have {0} memberships: remove one, or have the bound raised")]
    TooMany(u32),
    /// More teams are named than one membership may have, which is this many.
    #[error("a membership may have {0} teams: name fewer, or have the bound raised")]
    TooManyTeams(u32),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// The memberships of an organization, which is given by its external id. The WIT interface is the specification.
///
/// A scope says with whom the caller may deal; that they may invite or remove members at all has been decided before.
pub trait Memberships {
    /// Invites a person or a workload.
    fn invite(
        &self,
        organization: &str,
        invitation: &Invitation,
        wanted: Relations,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<RelatedMembership, MembershipError>;

    /// The membership with this id; `None` where there is none.
    fn read_membership(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedMembership>, ServiceError>;

    /// The page `number` (from 1 on), `size` (1 to [`crate::MAXIMUM_PAGE_SIZE`]) to a page, of the memberships that match `filter`.
    fn list_memberships(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, ServiceError>;

    /// The memberships of the user who asks, by the name of the organization: those of a user with up to [`MAXIMUM_INVITATIONS`]
    /// invitations to their address, and none of other users.
    fn own_memberships(&self, identity: &Identity) -> Result<Vec<OwnMembership>, ServiceError>;

    /// Accepts an invitation to the address of the user who asks: they belong to the organization and the teams from then on.
    fn accept_invitation(&self, id: &str, by: &Caller) -> Result<OwnMembership, MembershipError>;

    /// Declines an invitation to the address of the user who asks: it is gone then, also where the organization is switched off.
    fn decline_invitation(&self, id: &str, by: &Caller) -> Result<(), MembershipError>;

    /// Ends the caller's own membership, or an invitation to them, also where the organization is closed to them.
    fn leave(&self, id: &str, by: &Caller) -> Result<(), MembershipError>;

    /// Ends a membership or an invitation.
    fn remove_membership(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), MembershipError>;
}

wraps_failure!(ServiceError: MembershipError);
