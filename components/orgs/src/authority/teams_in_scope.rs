//! The teams and members that a caller may manage without gaining rights they lack.
//!
//! The table says which callers may manage teams or members at all; a scope says which teams and members. No caller can give rights by a
//! team that they lack themselves, or take rights from members who have more.

use crate::team::TeamRecord;
use crate::{DelegationScope, OrganizationRole, Right, Visibility};

/// Says with which teams a scope lets its holder deal.
///
/// - Owners and site administrators deal with all.
/// - The organization's token has every right, but does not decide who owns the organization.
/// - Every other caller deals with teams whose rights they have all of themselves, except the owners.
pub(crate) trait TeamsInScope {
    /// True if the holder stands for the whole organization.
    fn is_owner(&self) -> bool;

    /// True if the holder has this right.
    fn has(&self, right: Right) -> bool;

    /// True if the holder has all of these rights.
    fn has_all<'r>(&self, rights: impl IntoIterator<Item = &'r Right>) -> bool {
        rights.into_iter().all(|right| self.has(*right))
    }

    /// True if this team is within the holder's reach: to change it or its members, or to speak for it.
    fn covers(&self, team: &TeamRecord) -> bool {
        self.is_owner() || (!team.is_owners() && self.has_all(&team.rights))
    }

    /// True if the holder may have tokens of this team, provided that they may manage teams.
    fn speaks_for(&self, team: &TeamRecord) -> bool {
        self.sees(team) && self.covers(team)
    }

    /// True if the holder sees that this team exists.
    fn sees(&self, team: &TeamRecord) -> bool;
}

impl TeamsInScope for DelegationScope {
    fn is_owner(&self) -> bool {
        matches!(
            self.role,
            OrganizationRole::SiteAdministrator | OrganizationRole::Owner
        )
    }

    fn has(&self, right: Right) -> bool {
        self.is_owner()
            || self.role == OrganizationRole::OrganizationToken
            || self.rights.contains(&right)
    }

    fn sees(&self, team: &TeamRecord) -> bool {
        team.visibility == Visibility::Organization
            || self.teams.contains(&team.id)
            || self.has(Right::AccessSecretTeams)
            || self.has(Right::ManageTeams)
    }
}
