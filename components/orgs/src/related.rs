//! The resources that answers about teams and memberships tell with them.

use std::collections::{BTreeSet, HashSet};

use gatehouse_ports::{Clock, Random, Store};

use crate::{
    DelegationScope, Membership, MembershipStatus, Orgs, Related, Relations, ServiceError, Team,
    User,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The resources that are related to teams of an organization.
    pub(crate) fn related_to_teams(
        &self,
        organization: &str,
        teams: &[Team],
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Related, ServiceError> {
        let mut related = Related::default();
        if wanted.users {
            related.users = self.users_each_once(teams.iter().flat_map(|team| &team.users))?;
        }
        if wanted.memberships {
            let ids = teams.iter().flat_map(|team| &team.memberships).cloned();
            let ids: Vec<String> = ids.collect();
            related.memberships = self.memberships_seen(organization, &ids, scope)?;
        }
        Ok(related)
    }

    /// The resources that are related to memberships of an organization. Of one that waits for its user nothing is told but the address.
    pub(crate) fn related_to_memberships(
        &self,
        organization: &str,
        memberships: &[Membership],
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Related, ServiceError> {
        let mut related = Related::default();
        if wanted.users {
            let is_active = |found: &&Membership| found.status == MembershipStatus::Active;
            let active = memberships.iter().filter(is_active);
            related.users = self.users_each_once(active.map(|found| &found.user))?;
        }
        if wanted.teams {
            let ids = memberships.iter().flat_map(|found| &found.teams);
            let ids: HashSet<&str> = ids.map(String::as_str).collect();
            let mut teams = self.visible_teams(organization, scope)?;
            teams.retain(|team| ids.contains(team.id.as_str()));
            related.teams = self.with_members(organization, &teams, scope)?;
        }
        Ok(related)
    }

    /// The users with these ids who exist, each once, by their ids.
    fn users_each_once<'i>(
        &self,
        ids: impl Iterator<Item = &'i String>,
    ) -> Result<Vec<User>, ServiceError> {
        let ids: BTreeSet<&String> = ids.collect();
        let ids: Vec<String> = ids.into_iter().cloned().collect();
        Ok(self.users_with_ids(&ids)?.into_iter().flatten().collect())
    }
}
