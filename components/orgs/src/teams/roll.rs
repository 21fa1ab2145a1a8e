//! Teams with their members, read in rounds.

use std::collections::HashMap;

use gatehouse_ports::{Clock, Random, Store};

use crate::authority::MandateOverTeams as _;
use crate::belonging::{self, kind};
use crate::team::{MembershipRecord, TeamRecord};
use crate::{Failure, MAXIMUM_MEMBERS_TOLD, Mandate, Orgs, Permission, Right, Team};

/// A member as teams list them.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// The address without case.
    email: String,
    /// The id of the membership.
    id: String,
    /// The user, once the membership is active.
    user: Option<String>,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The teams of an organization that the caller sees, by name without case.
    pub(crate) fn visible_teams(
        &self,
        organization: &str,
        mandate: &Mandate,
    ) -> Result<Vec<TeamRecord>, Failure> {
        let mut teams = Vec::new();
        let prefix = belonging::prefix(organization, kind::TEAM);
        self.for_each_record::<TeamRecord>(&prefix, |team| {
            if mandate.sees(&team.record) {
                teams.push(team.record);
            }
            Ok(())
        })?;
        teams.sort_by_cached_key(|team| team.name.to_ascii_lowercase());
        Ok(teams)
    }

    /// These teams with their members, in their order. Where they have more than [`MAXIMUM_MEMBERS_TOLD`] together, of none of
    /// them it is told who they are.
    pub(super) fn with_members(
        &self,
        organization: &str,
        teams: &[TeamRecord],
        mandate: &Mandate,
    ) -> Result<Vec<Team>, Failure> {
        if teams.is_empty() {
            return Ok(Vec::new());
        }
        let places: HashMap<&str, usize> = (0..)
            .zip(teams)
            .map(|(place, team)| (team.id.as_str(), place))
            .collect();
        let is_one = teams.len() == 1;
        let mut rolls: Vec<TeamRoll> = teams.iter().map(|_| TeamRoll::default()).collect();
        let mut told = 0;
        let prefix = belonging::prefix(organization, kind::MEMBERSHIP);
        self.for_each_record::<MembershipRecord>(&prefix, |member| {
            let member = member.record;
            for team in &member.teams {
                let place = places.get(team.as_str());
                let Some(roll) = place.and_then(|place| rolls.get_mut(*place)) else {
                    continue;
                };
                roll.active += u32::from(member.is_active());
                told += 1;
                if is_one || told <= MAXIMUM_MEMBERS_TOLD {
                    roll.members.push(Listed::of(&member));
                }
            }
            Ok(())
        })?;
        let are_told = is_one || told <= MAXIMUM_MEMBERS_TOLD;
        let teams = teams.iter().zip(rolls);
        Ok(teams
            .map(|(team, mut roll)| {
                if !are_told {
                    roll.members.clear();
                }
                shown(team, roll, are_told, mandate)
            })
            .collect())
    }
}

/// Who is in a team.
#[derive(Debug, Default)]
pub(super) struct TeamRoll {
    members: Vec<Listed>,
    /// How many of them are active.
    active: u32,
}

impl Listed {
    fn of(member: &MembershipRecord) -> Self {
        Self {
            email: member.email.to_lowercase(),
            id: member.id.clone(),
            user: member.user.clone().filter(|_| member.is_active()),
        }
    }
}

/// A team with these members.
pub(super) fn shown(
    team: &TeamRecord,
    roll: TeamRoll,
    members_told: bool,
    mandate: &Mandate,
) -> Team {
    let TeamRoll {
        mut members,
        active,
    } = roll;
    members.sort_unstable_by(|one, other| (&one.email, &one.id).cmp(&(&other.email, &other.id)));
    Team {
        id: team.id.clone(),
        name: team.name.clone(),
        visibility: team.visibility,
        rights: team.rights_in_force().into_iter().collect(),
        sso_team_id: team.sso_team_id.clone(),
        allow_member_token_management: team.allow_member_token_management,
        memberships: members.iter().map(|found| found.id.clone()).collect(),
        users: members.into_iter().filter_map(|found| found.user).collect(),
        users_count: active,
        members_told,
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
