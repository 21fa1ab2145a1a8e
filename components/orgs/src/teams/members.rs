//! Putting members into teams, and taking them out.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction};

use crate::audit_trail::AuditedOperations as _;
use crate::identifier::is_identifier;
use crate::owned_keys::{self, PointerRecord, kind};
use crate::team::{MEMBERSHIP_PREFIX, MembershipRecord, TeamRecord};
use crate::users::username_key;
use crate::{
    Caller, DelegationScope, MAXIMUM_MEMBERS_AT_ONCE, MemberNames, Orgs, Resource, ServiceError,
    TeamError,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn try_add_to_team(
        &self,
        organization: &str,
        id: &str,
        names: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<()>, TeamError> {
        let team = self.team_within_reach(organization, id, scope)?;
        let mut joining = self.named_members(organization, names)?;
        joining.retain(|_, member| !member.record.is_of(id));
        if joining.is_empty() {
            return Ok(Attempt::Done(()));
        }
        let mut transaction = Transaction::new();
        // So that no user joins a team that is just going, or that just got rights beyond the scope.
        transaction.require(owned_keys::key(organization, kind::TEAM, id), team.version);
        let most = self.bounds()?.teams_per_membership;
        for member in joining.values_mut() {
            if member.record.teams.len() >= most as usize {
                self.forget_teams_that_are_gone(organization, &mut member.record)?;
            }
            if member.record.teams.len() >= most as usize {
                return Err(TeamError::TooManyTeamsOfMember(most));
            }
            member.record.teams.push(id.to_owned());
            put_changed(&mut transaction, organization, member)?;
        }
        if team.record.is_owners() {
            let active = joining.values().map(|member| &member.record);
            let active = active.filter(|member| member.is_active());
            let members =
                active.filter_map(|member| Some((member.id.as_str(), member.user.as_deref()?)));
            self.owners_join(&mut transaction, organization, id, members)?;
        }
        self.note(
            &mut transaction,
            organization,
            by,
            Resource::Team.updated(id),
        )?;
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }

    pub(super) fn try_remove_from_team(
        &self,
        organization: &str,
        id: &str,
        names: &MemberNames,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<()>, TeamError> {
        let team = self.team_within_reach(organization, id, scope)?;
        let mut leaving = self.named_members(organization, names)?;
        leaving.retain(|_, member| member.record.is_of(id));
        if leaving.is_empty() {
            return Ok(Attempt::Done(()));
        }
        let mut transaction = Transaction::new();
        if !team.record.is_owners() {
            transaction.require(owned_keys::key(organization, kind::TEAM, id), team.version);
        } else if !self.keep_an_owner(&mut transaction, organization, &team, |id| {
            leaving.contains_key(id)
        })? {
            return Err(TeamError::LastOwner);
        }
        for mut member in leaving.into_values() {
            member.record.teams.retain(|team| team != id);
            put_changed(&mut transaction, organization, &member)?;
        }
        self.note(
            &mut transaction,
            organization,
            by,
            Resource::Team.updated(id),
        )?;
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }

    /// Takes out of a membership the teams that are not there any more, which upkeep has not come to yet.
    fn forget_teams_that_are_gone(
        &self,
        organization: &str,
        member: &mut MembershipRecord,
    ) -> Result<(), ServiceError> {
        let key = |id: &String| owned_keys::key(organization, kind::TEAM, id);
        let keys: Vec<String> = member.teams.iter().map(key).collect();
        let mut teams = self.get_many::<TeamRecord>(&keys)?.into_iter();
        member
            .teams
            .retain(|_| teams.next().is_some_and(|team| team.is_some()));
        Ok(())
    }

    /// The memberships that a request names, by their ids.
    fn named_members(
        &self,
        organization: &str,
        names: &MemberNames,
    ) -> Result<BTreeMap<String, Loaded<MembershipRecord>>, TeamError> {
        let (MemberNames::Usernames(named) | MemberNames::Memberships(named)) = names;
        if named.len() > MAXIMUM_MEMBERS_AT_ONCE {
            return Err(TeamError::TooManyMembers);
        }
        let ids = match names {
            MemberNames::Usernames(names) => self.memberships_of_usernames(organization, names)?,
            MemberNames::Memberships(ids) => ids.iter().cloned().map(Some).collect(),
        };
        let keys: Vec<String> = ids
            .iter()
            .map(|id| {
                let id = id.as_deref().unwrap_or_default();
                let id = is_identifier(MEMBERSHIP_PREFIX, id).then_some(id);
                owned_keys::key(organization, kind::MEMBERSHIP, id.unwrap_or("-"))
            })
            .collect();
        let mut members = BTreeMap::new();
        let mut unknown = Vec::new();
        for (place, found) in (0..).zip(self.get_many::<MembershipRecord>(&keys)?) {
            match found {
                Some(found) => {
                    members.insert(found.record.id.clone(), found);
                }
                None => unknown.push(place),
            }
        }
        if unknown.is_empty() {
            Ok(members)
        } else {
            Err(TeamError::UnknownMembers(unknown))
        }
    }

    /// The ids of the memberships of users, in their order; `None` for who has none.
    fn memberships_of_usernames(
        &self,
        organization: &str,
        names: &[String],
    ) -> Result<Vec<Option<String>>, ServiceError> {
        let keys: Vec<String> = names.iter().map(|name| username_key(name)).collect();
        let users = self.get_many::<PointerRecord>(&keys)?;
        let keys: Vec<String> = users
            .into_iter()
            .map(|user| {
                let user = user.map_or_else(|| "-".to_owned(), |user| user.record.id);
                owned_keys::key(organization, kind::MEMBER, &user)
            })
            .collect();
        let members = self.get_many::<PointerRecord>(&keys)?;
        let id = |member: Loaded<PointerRecord>| member.record.id;
        Ok(members.into_iter().map(|member| member.map(id)).collect())
    }
}

/// Adds to `transaction` a membership that was read and changed.
pub(super) fn put_changed(
    transaction: &mut Transaction,
    organization: &str,
    member: &Loaded<MembershipRecord>,
) -> Result<(), ServiceError> {
    let key = owned_keys::key(organization, kind::MEMBERSHIP, &member.record.id);
    transaction
        .require(&key, member.version)
        .put(key, &member.record)?;
    Ok(())
}
