//! Teams in the store.
//!
//! - `of/<external id>/team/<id>`: the team.
//! - `of/<external id>/team-name/<segment of the folded name>`: its id, which makes its name unique.
//! - `removed-team/<id>`: that the team is gone and what it left is being cleared away.

use std::collections::HashSet;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::reading::{TeamMembers, team_with_members};
use super::rules;
use crate::audit_trail::AuditedOperations as _;
use crate::authority::TeamsInScope as _;
use crate::identifier::{is_identifier, random_identifier};
use crate::initial_resources::team_name_key;
use crate::name::FoldedTeamName;
use crate::owned_keys::{self, PointerRecord, kind, put_new};
use crate::paging::page;
use crate::team::Rights;
use crate::team::{TEAM_PREFIX, TeamRecord};
use crate::{
    AttributeIssue, Caller, DelegationScope, Fault, MemberNames, MemberPage, Orgs, RelatedTeam,
    Relations, Resource, ServiceError, Team, TeamChanges, TeamError, TeamFilter, TeamPage, Teams,
    Visibility,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// A team that the caller sees.
    pub(super) fn visible_team(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
    ) -> Result<Option<Loaded<TeamRecord>>, ServiceError> {
        if !is_identifier(TEAM_PREFIX, id) {
            return Ok(None);
        }
        let key = owned_keys::key(organization, kind::TEAM, id);
        let team = self.records.get::<TeamRecord>(&key)?;
        Ok(team.filter(|team| scope.sees(&team.record)))
    }

    /// A team that the caller may change.
    pub(super) fn team_within_reach(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
    ) -> Result<Loaded<TeamRecord>, TeamError> {
        let team = self.visible_team(organization, id, scope)?;
        let team = team.ok_or(TeamError::NotFound)?;
        if scope.covers(&team.record) {
            Ok(team)
        } else {
            Err(TeamError::NotAllowed)
        }
    }

    /// True if another team than this one has the name.
    fn is_name_taken(
        &self,
        organization: &str,
        name: &FoldedTeamName,
        team: &str,
    ) -> Result<bool, ServiceError> {
        let key = team_name_key(organization, name);
        let found = self.records.get::<PointerRecord>(&key)?;
        Ok(found.is_some_and(|found| found.record.id != team))
    }

    fn try_create_team(
        &self,
        organization: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<TeamRecord>, TeamError> {
        let mut team = TeamRecord {
            id: random_identifier(TEAM_PREFIX, &self.random).map_err(ServiceError::from)?,
            name: String::new(),
            created_at: self.clock.now_milliseconds(),
            visibility: Visibility::Secret,
            rights: Rights::new(),
            sso_team_id: None,
            allow_member_token_management: true,
        };
        let (name, mut issues) = rules::judge_name(&changes.name, None);
        if let Some((_, folded)) = &name
            && self.is_name_taken(organization, folded, &team.id)?
        {
            issues.push(AttributeIssue::new("name", Fault::Taken));
        }
        issues.extend(rules::apply(changes, &mut team, scope)?);
        let Some((name, folded)) = name.filter(|_| issues.is_empty()) else {
            return Err(TeamError::Invalid(issues));
        };
        name.clone_into(&mut team.name);
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, organization)? {
            return Err(TeamError::NotFound);
        }
        let most = self.bounds()?.teams_per_organization;
        if !self.count_one_more(&mut transaction, organization, kind::TEAM, most)? {
            return Err(TeamError::TooManyTeams(most));
        }
        let name_key = team_name_key(organization, &folded);
        put_new(&mut transaction, organization, kind::TEAM, &team.id, &team)?;
        transaction
            .require_absent(&name_key)
            .put(name_key, &PointerRecord::to(&team.id))?;
        self.note(
            &mut transaction,
            organization,
            by,
            Resource::Team.created(&team.id),
        )?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, team)?)
    }

    fn try_update_team(
        &self,
        organization: &str,
        id: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<()>, TeamError> {
        let stored = self.team_within_reach(organization, id, scope)?;
        let mut team = stored.record.clone();
        let (name, mut issues) = rules::judge_name(&changes.name, Some(&team));
        if let Some((_, folded)) = &name
            && self.is_name_taken(organization, folded, id)?
        {
            issues.push(AttributeIssue::new("name", Fault::Taken));
        }
        issues.extend(rules::apply(changes, &mut team, scope)?);
        if !issues.is_empty() {
            return Err(TeamError::Invalid(issues));
        }
        if let Some((name, _)) = &name {
            (*name).clone_into(&mut team.name);
        }
        if team == stored.record {
            return Ok(Attempt::Done(()));
        }
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, organization)? {
            return Err(TeamError::NotFound);
        }
        let key = owned_keys::key(organization, kind::TEAM, id);
        transaction.require(&key, stored.version).put(key, &team)?;
        let old_name = FoldedTeamName::fold(&stored.record.name);
        if let Some((_, folded)) = name
            && old_name.as_ref() != Some(&folded)
        {
            let name_key = team_name_key(organization, &folded);
            transaction
                .require_absent(&name_key)
                .put(name_key, &PointerRecord::to(id))?;
            if let Some(old_name) = old_name {
                transaction.delete(team_name_key(organization, &old_name));
            }
        }
        self.note(
            &mut transaction,
            organization,
            by,
            Resource::Team.updated(id),
        )?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, ())?)
    }

    /// A team with its members.
    fn team_with_members(
        &self,
        organization: &str,
        team: &TeamRecord,
        scope: &DelegationScope,
    ) -> Result<Team, ServiceError> {
        let teams = std::slice::from_ref(team);
        let team = self.with_members(organization, teams, scope)?.pop();
        team.ok_or_else(|| ServiceError::Damaged("a team without members".to_owned()))
    }
}

impl<S: Store, C: Clock, R: Random> Teams for Orgs<S, C, R> {
    fn create_team(
        &self,
        organization: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        let team = commit_with_retries(&self.clock, &self.random, || {
            self.try_create_team(organization, changes, scope, by)
        })?;
        Ok(team_with_members(
            &team,
            TeamMembers::default(),
            true,
            scope,
        ))
    }

    fn read_team(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedTeam>, ServiceError> {
        let Some(team) = self.visible_team(organization, id, scope)? else {
            return Ok(None);
        };
        let team = self.team_with_members(organization, &team.record, scope)?;
        let teams = std::slice::from_ref(&team);
        let related = self.related_to_teams(organization, teams, wanted, scope)?;
        Ok(Some(RelatedTeam { team, related }))
    }

    fn list_team_members(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<Option<MemberPage>, ServiceError> {
        let Some(team) = self.visible_team(organization, id, scope)? else {
            return Ok(None);
        };
        let mut team = self.team_with_members(organization, &team.record, scope)?;
        let (users, memberships) = (team.users.into_iter(), team.memberships.into_iter());
        let total;
        (team.users, team.memberships, total) = if wanted.memberships {
            let (memberships, total) = page(memberships, number, size);
            (Vec::new(), memberships, total)
        } else {
            let (users, total) = page(users, number, size);
            (users, Vec::new(), total)
        };
        let members = self.related_to_teams(organization, &[team], wanted, scope)?;
        Ok(Some(MemberPage { members, total }))
    }

    fn list_teams(
        &self,
        organization: &str,
        filter: &TeamFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<TeamPage, ServiceError> {
        let teams = self.visible_teams(organization, scope)?.into_iter();
        let matcher = Matcher::new(filter);
        let matching = teams.filter(|team| matcher.accepts(&team.name));
        let (teams, total) = page(matching, number, size);
        let teams = self.with_members(organization, &teams, scope)?;
        let related = self.related_to_teams(organization, &teams, wanted, scope)?;
        Ok(TeamPage {
            teams,
            total,
            related,
        })
    }

    fn update_team(
        &self,
        organization: &str,
        id: &str,
        changes: &TeamChanges,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Team, TeamError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_update_team(organization, id, changes, scope, by)
        })?;
        // A caller that makes a team secret may not see it any more, but may learn that it was changed.
        let key = owned_keys::key(organization, kind::TEAM, id);
        let team = self.records.get::<TeamRecord>(&key)?;
        let team = team.ok_or(TeamError::NotFound)?;
        Ok(self.team_with_members(organization, &team.record, scope)?)
    }

    fn delete_team(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_delete_team(organization, id, scope, by)
        })?;
        // It is gone; what cannot be cleared away now is cleared away later.
        let _ = self.sweep_team(id);
        let _ = self.sweep(id);
        Ok(())
    }

    fn add_to_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_add_to_team(organization, id, members, scope, by)
        })
    }

    fn remove_from_team(
        &self,
        organization: &str,
        id: &str,
        members: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), TeamError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_remove_from_team(organization, id, members, scope, by)
        })
    }
}

/// A filter in lower case, made once for all teams.
struct Matcher {
    names: HashSet<String>,
    text: Option<String>,
}

impl Matcher {
    fn new(filter: &TeamFilter) -> Self {
        Self {
            names: filter
                .names
                .iter()
                .map(|name| name.to_lowercase())
                .collect(),
            text: filter.text.as_ref().map(|text| text.to_lowercase()),
        }
    }

    fn accepts(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let is_named = self.names.is_empty() || self.names.contains(&name);
        is_named && self.text.as_ref().is_none_or(|text| name.contains(text))
    }
}
