//! How far somebody's word goes among the people of an organization.
//!
//! Whether somebody may manage teams or members at all is a matter of the table; a mandate says with which of them. Nobody can
//! give by a team what they could not do themselves, nor take from those who can do more.

use super::Position;
use crate::team::{TeamRecord, Visibility};
use crate::{Right, Rights, Standing};

/// What somebody can pass on to others, and take from them.
///
/// - Owners and site administrators: everything.
/// - The organization's token: every right, but who owns the organization is not for it to say.
/// - Anybody else: teams whose rights they have all of themselves, except the owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    /// What they are to the organization.
    pub standing: Standing,
    /// What their teams, or the policies of their service token, let them do.
    pub rights: Rights,
    /// The ids of their teams.
    pub teams: Vec<String>,
}

impl Position {
    /// What somebody in this position can pass on by what they are to the organization. By policies it may be more.
    #[must_use]
    pub fn mandate(&self) -> Mandate {
        Mandate {
            standing: self.standing.unwrap_or(Standing::Member),
            rights: self.rights.clone(),
            teams: self.teams.clone(),
        }
    }
}

impl Mandate {
    /// Whether they stand for the whole organization.
    pub(crate) const fn is_owner(&self) -> bool {
        matches!(self.standing, Standing::SiteAdministrator | Standing::Owner)
    }

    /// Whether they have this right.
    pub(crate) fn has(&self, right: Right) -> bool {
        self.is_owner()
            || self.standing == Standing::OrganizationToken
            || self.rights.contains(&right)
    }

    /// Whether they have all of these rights.
    pub(crate) fn has_all(&self, rights: &Rights) -> bool {
        rights.iter().all(|right| self.has(*right))
    }

    /// Whether this team is within their reach: to change it or its members, or to speak for it.
    pub(crate) fn covers(&self, team: &TeamRecord) -> bool {
        self.is_owner() || (!team.is_owners() && self.has_all(&team.rights))
    }

    /// Whether they may have tokens of this team, provided that they may manage teams.
    pub(crate) fn speaks_for(&self, team: &TeamRecord) -> bool {
        self.sees(team) && self.covers(team)
    }

    /// Whether they see that there is this team.
    pub(crate) fn sees(&self, team: &TeamRecord) -> bool {
        team.visibility == Visibility::Organization
            || self.teams.contains(&team.id)
            || self.has(Right::AccessSecretTeams)
            || self.has(Right::ManageTeams)
    }
}
