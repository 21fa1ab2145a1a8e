//! Memberships in the store.
//!
//! - `of/<external id>/membership/<id>`: the membership, with the ids of its teams.
//! - `of/<external id>/member/<user id>`: the membership of a user.
//!
//! Those that wait for a user say their keys in [`super::acceptance`].

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction, commit_with_retries};

use super::reading::membership_of;
use crate::audit_trail::AuditedOperations as _;
use crate::authority::TeamsInScope as _;
use crate::identifier::is_identifier;
use crate::owned_keys::{self, kind};
use crate::team::{MEMBERSHIP_PREFIX, MembershipRecord, TeamRecord, membership_of_key};
use crate::{
    Caller, DelegationScope, Identity, Invitation, Membership, MembershipError, MembershipFilter,
    MembershipPage, Memberships, Orgs, OwnMembership, RelatedMembership, Relations, Resource,
    ServiceError,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn try_remove_membership(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<()>, MembershipError> {
        if !is_identifier(MEMBERSHIP_PREFIX, id) {
            return Err(MembershipError::NotFound);
        }
        let key = owned_keys::key(organization, kind::MEMBERSHIP, id);
        let stored = self.records.get::<MembershipRecord>(&key)?;
        let stored = stored.ok_or(MembershipError::NotFound)?;
        self.end_membership(organization, &stored, Some(scope), by)
    }

    /// A membership with its relations.
    fn with_related(
        &self,
        organization: &str,
        membership: Membership,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<RelatedMembership, ServiceError> {
        let memberships = std::slice::from_ref(&membership);
        let related = self.related_to_memberships(organization, memberships, wanted, scope)?;
        Ok(RelatedMembership {
            membership,
            related,
        })
    }

    fn try_decline(&self, id: &str, by: &Caller) -> Result<Attempt<()>, MembershipError> {
        let own = self
            .own_membership(&by.identity, id)?
            .filter(|own| !own.membership.record.is_active())
            .ok_or(MembershipError::NotFound)?;
        self.end_membership(&own.organization.external_id, &own.membership, None, by)
    }

    fn try_leave(&self, id: &str, by: &Caller) -> Result<Attempt<()>, MembershipError> {
        let own = self
            .own_membership(&by.identity, id)?
            .ok_or(MembershipError::NotFound)?;
        self.end_membership(&own.organization.external_id, &own.membership, None, by)
    }

    /// Ends a membership by a scope, or without one by the user it is of.
    fn end_membership(
        &self,
        organization: &str,
        stored: &Loaded<MembershipRecord>,
        scope: Option<&DelegationScope>,
        by: &Caller,
    ) -> Result<Attempt<()>, MembershipError> {
        let membership = &stored.record;
        let id = membership.id.as_str();
        let team_key = |id: &String| owned_keys::key(organization, kind::TEAM, id);
        let keys: Vec<String> = membership.teams.iter().map(team_key).collect();
        let teams: Vec<_> = self
            .get_many::<TeamRecord>(&keys)?
            .into_iter()
            .flatten()
            .collect();
        let covers = |team: &TeamRecord| scope.is_none_or(|scope| scope.covers(team));
        if !teams.iter().all(|team| covers(&team.record)) {
            return Err(MembershipError::NotAllowed);
        }
        let mut transaction = Transaction::new();
        transaction.require(
            owned_keys::key(organization, kind::MEMBERSHIP, id),
            stored.version,
        );
        for team in &teams {
            if !team.record.is_owners() {
                transaction.require(team_key(&team.record.id), team.version);
            } else if membership.is_active()
                && !self.keep_an_owner(&mut transaction, organization, team, |it| it == id)?
            {
                return Err(MembershipError::LastOwner);
            }
        }
        owned_keys::delete(&mut transaction, organization, kind::MEMBERSHIP, id);
        self.count_one_less(&mut transaction, organization, kind::MEMBERSHIP)?;
        match &membership.user {
            Some(user) => {
                transaction
                    .delete(owned_keys::key(organization, kind::MEMBER, user))
                    .delete(membership_of_key(user, organization));
            }
            None => self.end_invitation(&mut transaction, organization, membership)?,
        }
        let audited = Resource::OrganizationUser.destroyed(id);
        self.note(&mut transaction, organization, by, audited)?;
        Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
    }
}

impl<S: Store, C: Clock, R: Random> Memberships for Orgs<S, C, R> {
    fn invite(
        &self,
        organization: &str,
        invitation: &Invitation,
        wanted: Relations,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<RelatedMembership, MembershipError> {
        let membership = commit_with_retries(&self.clock, &self.random, || {
            self.try_invite(organization, invitation, scope, by)
        })?;
        let membership = membership_of(&membership, &self.hasher()?, |_| true);
        Ok(self.with_related(organization, membership, wanted, scope)?)
    }

    fn read_membership(
        &self,
        organization: &str,
        id: &str,
        wanted: Relations,
        scope: &DelegationScope,
    ) -> Result<Option<RelatedMembership>, ServiceError> {
        let found = self.memberships_seen(organization, &[id.to_owned()], scope)?;
        let found = found.into_iter().next();
        found
            .map(|membership| self.with_related(organization, membership, wanted, scope))
            .transpose()
    }

    fn list_memberships(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        wanted: Relations,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, ServiceError> {
        let mut page = self.membership_page(organization, filter, scope, number, size)?;
        page.related =
            self.related_to_memberships(organization, &page.memberships, wanted, scope)?;
        Ok(page)
    }

    fn own_memberships(&self, identity: &Identity) -> Result<Vec<OwnMembership>, ServiceError> {
        self.own_memberships_of(identity)
    }

    fn accept_invitation(&self, id: &str, by: &Caller) -> Result<OwnMembership, MembershipError> {
        commit_with_retries(&self.clock, &self.random, || self.try_accept(id, by))
    }

    fn decline_invitation(&self, id: &str, by: &Caller) -> Result<(), MembershipError> {
        commit_with_retries(&self.clock, &self.random, || self.try_decline(id, by))
    }

    fn leave(&self, id: &str, by: &Caller) -> Result<(), MembershipError> {
        commit_with_retries(&self.clock, &self.random, || self.try_leave(id, by))
    }

    fn remove_membership(
        &self,
        organization: &str,
        id: &str,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<(), MembershipError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_remove_membership(organization, id, scope, by)
        })
    }
}
