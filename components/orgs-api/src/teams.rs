//! The interface `teams`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    AttributeIssue, Caller, DelegationScope, MemberNames, MemberPage, RelatedTeam, Relations,
    ServiceError, Team, TeamChanges, TeamFilter, TeamPage,
};

/// The name of the team that may do everything.
pub const OWNERS: &str = "owners";

/// Most members that a list of teams names.
pub const MAXIMUM_MEMBERS_TOLD: usize = 10_000;

/// Most members that are put into a team, or taken out of it, at once: as many as one commit takes with certainty.
pub const MAXIMUM_MEMBERS_AT_ONCE: usize = 500;

/// Why nothing was done about a team. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// There is no such team that the caller sees, or no such organization.
    #[error("there is no such team")]
    NotFound,
    /// It is more than the scope allows: an owner has to do it.
    #[error("the team, or a right for it, is beyond the caller's scope: an owner can do it")]
    NotAllowed,
    /// At least one attribute is invalid.
    #[error("{} attributes of the team are not valid", .0.len())]
    Invalid(Vec<AttributeIssue>),
    /// The team of the owners always stays.
    #[error("the team of the owners cannot be removed")]
    Protected,
    /// The organization would have no owner: add another one first.
    #[error("the last owner cannot leave: add another owner first")]
    LastOwner,
    /// These of the names, counted from 0, name no member of the organization.
    #[error("{} of the names are no members of the organization", .0.len())]
    UnknownMembers(Vec<u32>),
    /// The organization has this many teams, and may not have more.
    #[error("the organization may have {0} teams: remove one, or have the bound raised")]
    TooManyTeams(u32),
    /// A member who would join is in this many teams, and may not be in more.
    #[error("a member may be in {0} teams: have them leave one, or have the bound raised")]
    TooManyTeamsOfMember(u32),
    /// More members than [`MAXIMUM_MEMBERS_AT_ONCE`] are named.
    #[error("more than {MAXIMUM_MEMBERS_AT_ONCE} members at once: name them in parts")]
    TooManyMembers,
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// The teams of an organization, which is given by its external id. The WIT interface is the specification.
///
/// A scope says with which teams the caller may deal; that they may deal with teams at all has been decided before.
pub trait Teams {
    /// Makes a team without members.
    fn create_team(
        &self,
        organization: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError>;

    /// The team with this id, with its relations; `None` where there is none that the caller sees.
    fn read_team(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedTeam>, ServiceError>;

    /// The page `number` (from 1 on) of the members of a team; `None` where there is no team that the caller sees.
    fn list_team_members(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<Option<MemberPage>, ServiceError>;

    /// The page `number` (from 1 on), `size` (1 to [`crate::MAXIMUM_PAGE_SIZE`]) to a page, of the teams that the caller sees and that
    /// match `filter`.
    fn list_teams(
        &self,
        organization: &str,
        filter: &TeamFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<TeamPage, ServiceError>;

    /// Changes what is mentioned, and nothing else.
    fn update_team(
        &self,
        organization: &str,
        id: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError>;

    /// Removes a team: its memberships and its tokens end at once.
    fn delete_team(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError>;

    /// Puts members into a team, all of them or none.
    fn add_to_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError>;

    /// Takes members out of a team, all of them or none.
    fn remove_from_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError>;
}

wraps_failure!(ServiceError: TeamError);
