//! Everybody in an organization, read at once.

use std::collections::HashMap;

use gatehouse_ports::{Clock, Random, Store};

use super::Team;
use crate::belonging::kind;
use crate::team::{MembershipRecord, TeamRecord};
use crate::{Failure, Mandate, Orgs, Permission, Right};

/// The teams and memberships of an organization as somebody sees them.
pub(crate) struct Roll<'m> {
    mandate: &'m Mandate,
    /// Those that they see, by name without case.
    pub teams: Vec<TeamRecord>,
    /// By address without case.
    pub memberships: Vec<MembershipRecord>,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Reads who is in an organization, and which of its teams the caller sees.
    pub(crate) fn roll<'m>(
        &self,
        organization: &str,
        mandate: &'m Mandate,
    ) -> Result<Roll<'m>, Failure> {
        let teams = self.all_of::<TeamRecord>(organization, kind::TEAM)?;
        let teams = teams.into_iter().map(|team| team.record);
        let mut teams: Vec<_> = teams.filter(|team| mandate.sees(team)).collect();
        teams.sort_by_cached_key(|team| team.name.to_ascii_lowercase());
        let memberships = self.all_of::<MembershipRecord>(organization, kind::MEMBERSHIP)?;
        let mut memberships: Vec<_> = memberships.into_iter().map(|found| found.record).collect();
        memberships.sort_by_cached_key(|found| (found.email.to_lowercase(), found.id.clone()));
        Ok(Roll {
            mandate,
            teams,
            memberships,
        })
    }
}

impl Roll<'_> {
    /// These teams with their members, in their order.
    pub fn with_members<'t>(&self, teams: impl IntoIterator<Item = &'t TeamRecord>) -> Vec<Team> {
        let mut members: HashMap<&str, Vec<&MembershipRecord>> = HashMap::new();
        for membership in &self.memberships {
            for team in &membership.teams {
                members.entry(team).or_default().push(membership);
            }
        }
        let shown = |team: &TeamRecord| {
            let members = members.get(team.id.as_str()).map(Vec::as_slice);
            shown(team, members.unwrap_or_default(), self.mandate)
        };
        teams.into_iter().map(shown).collect()
    }
}

/// A team with these members.
pub(super) fn shown(team: &TeamRecord, members: &[&MembershipRecord], mandate: &Mandate) -> Team {
    let active = members.iter().filter(|membership| membership.is_active());
    Team {
        id: team.id.clone(),
        name: team.name.clone(),
        visibility: team.visibility,
        rights: team.rights_in_force(),
        sso_team_id: team.sso_team_id.clone(),
        allow_member_token_management: team.allow_member_token_management,
        memberships: members.iter().map(|found| found.id.clone()).collect(),
        users: active.filter_map(|found| found.user.clone()).collect(),
        permissions: permissions(team, mandate),
    }
}

/// What the caller may do with a team, in the order of the contract.
fn permissions(team: &TeamRecord, mandate: &Mandate) -> Vec<Permission> {
    let is_covered = mandate.covers(team);
    let manages = is_covered && mandate.has(Right::ManageTeams);
    let is_free = manages && !team.is_owners();
    [
        (
            "can-update-membership",
            manages || (is_covered && mandate.has(Right::ManageMembership)),
        ),
        ("can-destroy", is_free),
        (
            "can-update-organization-access",
            is_free && mandate.has(Right::ManageOrganizationAccess),
        ),
        ("can-update-api-token", manages),
        ("can-update-visibility", is_free),
        ("can-update-name", is_free),
        ("can-update-sso-team-id", manages),
        ("can-update-member-token-management", manages),
        ("can-view-api-token", manages),
    ]
    .into_iter()
    .map(|(key, granted)| Permission {
        key: key.into(),
        granted,
    })
    .collect()
}
