//! Teams with their members, read in rounds.

use std::collections::HashMap;

use gatehouse_ports::{Clock, Random, Store};

use crate::authority::TeamsInScope as _;
use crate::owned_keys::{self, kind};
use crate::team::{MembershipRecord, TeamRecord};
use crate::{
    DelegationScope, MAXIMUM_MEMBERS_TOLD, Orgs, Right, ServiceError, Team, TeamPermissions,
};

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
        scope: &DelegationScope,
    ) -> Result<Vec<TeamRecord>, ServiceError> {
        let mut teams = Vec::new();
        let prefix = owned_keys::prefix(organization, kind::TEAM);
        self.for_each_record::<TeamRecord>(&prefix, |team| {
            if scope.sees(&team.record) {
                teams.push(team.record);
            }
            Ok(())
        })?;
        teams.sort_by_cached_key(|team| team.name.to_ascii_lowercase());
        Ok(teams)
    }

    /// These teams with their members, in their order. Where they have more than [`MAXIMUM_MEMBERS_TOLD`] together, of none of
    /// them it is told who they are.
    pub(crate) fn with_members(
        &self,
        organization: &str,
        teams: &[TeamRecord],
        scope: &DelegationScope,
    ) -> Result<Vec<Team>, ServiceError> {
        if teams.is_empty() {
            return Ok(Vec::new());
        }
        let places: HashMap<&str, usize> = (0..)
            .zip(teams)
            .map(|(place, team)| (team.id.as_str(), place))
            .collect();
        let is_one = teams.len() == 1;
        let mut members_of_teams: Vec<TeamMembers> =
            teams.iter().map(|_| TeamMembers::default()).collect();
        let mut told = 0;
        let prefix = owned_keys::prefix(organization, kind::MEMBERSHIP);
        self.for_each_record::<MembershipRecord>(&prefix, |member| {
            let member = member.record;
            for team in &member.teams {
                let place = places.get(team.as_str());
                let Some(team_members) = place.and_then(|place| members_of_teams.get_mut(*place))
                else {
                    continue;
                };
                team_members.active += u32::from(member.is_active());
                told += 1;
                if is_one || told <= MAXIMUM_MEMBERS_TOLD {
                    team_members.members.push(Listed::from_record(&member));
                }
            }
            Ok(())
        })?;
        let are_told = is_one || told <= MAXIMUM_MEMBERS_TOLD;
        let teams = teams.iter().zip(members_of_teams);
        Ok(teams
            .map(|(team, mut team_members)| {
                if !are_told {
                    team_members.members.clear();
                }
                team_with_members(team, team_members, are_told, scope)
            })
            .collect())
    }
}

/// The members of a team.
#[derive(Debug, Default)]
pub(super) struct TeamMembers {
    members: Vec<Listed>,
    /// How many of them are active.
    active: u32,
}

impl Listed {
    fn from_record(member: &MembershipRecord) -> Self {
        Self {
            email: member.email.to_lowercase(),
            id: member.id.clone(),
            user: member.user.clone().filter(|_| member.is_active()),
        }
    }
}

/// A team with these members.
pub(super) fn team_with_members(
    team: &TeamRecord,
    team_members: TeamMembers,
    members_told: bool,
    scope: &DelegationScope,
) -> Team {
    let TeamMembers {
        mut members,
        active,
    } = team_members;
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
        permissions: permissions(team, scope),
    }
}

/// The permissions of the caller about a team.
fn permissions(team: &TeamRecord, scope: &DelegationScope) -> TeamPermissions {
    let is_covered = scope.covers(team);
    let manages = is_covered && scope.has(Right::ManageTeams);
    let is_free = manages && !team.is_owners();
    TeamPermissions {
        can_update_membership: manages || (is_covered && scope.has(Right::ManageMembership)),
        can_destroy: is_free,
        can_update_organization_access: is_free && scope.has(Right::ManageOrganizationAccess),
        can_update_api_token: manages,
        can_update_visibility: is_free,
        can_update_name: is_free,
        can_update_sso_team_id: manages,
        can_update_member_token_management: manages,
        can_view_api_token: manages,
    }
}
