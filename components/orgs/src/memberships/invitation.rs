//! Inviting members.
//!
//! An invitation to an address reads and stores the same whether or not a user has the address (contract 4.11).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Transaction};

use super::acceptance::{InvitationRecord, invitation_key, invited_key};
use crate::audit_trail::AuditedOperations as _;
use crate::authority::TeamsInScope as _;
use crate::identifier::{is_identifier, random_identifier};
use crate::owned_keys::{self, PointerRecord, kind, put_new};
use crate::rules::is_email_address;
use crate::team::{
    MEMBERSHIP_PREFIX, MembershipRecord, TEAM_PREFIX, TeamRecord, membership_of_key,
};
use crate::users::{id_of_user, is_reserved_address};
use crate::{
    Attribute, AttributeIssue, Caller, DelegationScope, Fault, Invitation, MembershipError,
    MembershipStatus, Orgs, Resource, ServiceError, Subject, User,
};

/// The user that an invitation means.
enum Invitee {
    /// A user who belongs to the organization by it; they may only come to be with it.
    User(User),
    /// The person who has this address, or will have it.
    Address(String),
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn try_invite(
        &self,
        organization: &str,
        invitation: &Invitation,
        scope: &DelegationScope,
        by: &Caller,
    ) -> Result<Attempt<MembershipRecord>, MembershipError> {
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, organization)? {
            return Err(MembershipError::NotFound);
        }
        let bounds = self.bounds()?;
        let most = bounds.teams_per_membership;
        if let Attribute::Value(teams) = &invitation.teams
            && teams.len() > most as usize
        {
            return Err(MembershipError::TooManyTeams(most));
        }
        let mut issues = Vec::new();
        let is_active = invitation.active && by.identity.is_site_administrator();
        let invitee = self.invitee(&mut transaction, invitation, is_active)?;
        let invitee = match invitee {
            Ok(invitee) if self.is_here(organization, &invitee)? => {
                issues.push(AttributeIssue::new(attribute(invitation), Fault::Taken));
                None
            }
            Ok(invitee) => Some(invitee),
            Err(issue) => {
                issues.push(issue);
                None
            }
        };
        let teams = self.teams_to_join(organization, &invitation.teams, scope)?;
        issues.extend(teams.is_none().then(unknown_team));
        let (Some(invitee), Some(teams), true) = (invitee, teams, issues.is_empty()) else {
            return Err(MembershipError::Invalid(issues));
        };
        let most = bounds.memberships_per_organization;
        if !self.count_one_more(&mut transaction, organization, kind::MEMBERSHIP, most)? {
            return Err(MembershipError::TooMany(most));
        }
        for team in &teams {
            let key = owned_keys::key(organization, kind::TEAM, &team.record.id);
            transaction.require(key, team.version);
        }
        let owners = teams.iter().find(|team| team.record.is_owners());
        let owners = owners.map(|team| team.record.id.clone());
        let teams = teams.into_iter().map(|team| team.record.id).collect();
        let membership = self.put_membership(&mut transaction, organization, invitee, teams)?;
        if let (Some(team), Some(user)) = (owners, &membership.user) {
            let joining = [(membership.id.as_str(), user.as_str())];
            self.owners_join(&mut transaction, organization, &team, joining)?;
        }
        let audited = Resource::OrganizationUser.created(&membership.id);
        self.note(&mut transaction, organization, by, audited)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, membership)?)
    }

    /// The user that the invitation means, or what is wrong with it. An entity that is not a user yet is made one by `transaction`.
    fn invitee(
        &self,
        transaction: &mut Transaction,
        invitation: &Invitation,
        is_active: bool,
    ) -> Result<Result<Invitee, AttributeIssue>, ServiceError> {
        match &invitation.entity_id {
            Attribute::Absent | Attribute::Null => {}
            Attribute::WrongType => return Ok(Err(issue("entity-id", Fault::NotText))),
            Attribute::Value(id) => return self.invited_entity(transaction, id),
        }
        let email = match &invitation.email {
            Attribute::Value(email) if !email.is_empty() => email,
            Attribute::WrongType => return Ok(Err(issue("email", Fault::NotText))),
            _ => return Ok(Err(issue("email", Fault::Blank))),
        };
        if !is_email_address(email) {
            return Ok(Err(issue("email", Fault::NotAnAddress)));
        }
        // A workload is invited by its entity.
        if is_reserved_address(email) {
            return Ok(Err(issue("email", Fault::Taken)));
        }
        let user = if is_active {
            self.user_of_email(email)?
        } else {
            None
        };
        let address = || Invitee::Address(email.clone());
        Ok(Ok(user.map_or_else(address, Invitee::User)))
    }

    fn invited_entity(
        &self,
        transaction: &mut Transaction,
        id: &str,
    ) -> Result<Result<Invitee, AttributeIssue>, ServiceError> {
        if !is_entity_id(id) {
            return Ok(Err(issue("entity-id", Fault::UnknownEntity)));
        }
        let subject = Subject::Entity(id.to_owned());
        if let Some(user) = self.user_of_subject(&subject)? {
            return Ok(Ok(Invitee::User(user)));
        }
        let new = self.new_user_of(subject)?;
        new.put(transaction, self.email_key(&new.0.email)?)?;
        Ok(Ok(Invitee::User(new.0)))
    }

    /// True if they belong to the organization already, or are invited.
    fn is_here(&self, organization: &str, invitee: &Invitee) -> Result<bool, ServiceError> {
        let found = self.get_many::<PointerRecord>(&self.places_of(organization, invitee)?)?;
        Ok(found.iter().any(Option::is_some))
    }

    /// The keys that are taken where they are invited, or belong to the organization.
    fn places_of(
        &self,
        organization: &str,
        invitee: &Invitee,
    ) -> Result<Vec<String>, ServiceError> {
        let (user, email) = match invitee {
            Invitee::User(user) => (user.id.clone(), &user.email),
            Invitee::Address(email) => {
                let known = self.records.get::<PointerRecord>(&self.email_key(email)?)?;
                let to_be = || Ok::<_, ServiceError>(id_of_user(&self.hasher()?, email));
                let user = known.map_or_else(to_be, |known| Ok(known.record.id))?;
                (user, email)
            }
        };
        Ok(vec![
            invited_key(organization, &self.email_hash(email)?),
            owned_keys::key(organization, kind::MEMBER, &user),
        ])
    }

    /// The teams with these ids, each once; `None` if the caller sees no such team.
    fn teams_to_join(
        &self,
        organization: &str,
        ids: &Attribute<Vec<String>>,
        scope: &DelegationScope,
    ) -> Result<Option<Vec<Loaded<TeamRecord>>>, MembershipError> {
        let mut ids = match ids {
            Attribute::Absent | Attribute::Null => Vec::new(),
            Attribute::WrongType => return Ok(None),
            Attribute::Value(ids) => ids.clone(),
        };
        ids.sort();
        ids.dedup();
        if !ids.iter().all(|id| is_identifier(TEAM_PREFIX, id)) {
            return Ok(None);
        }
        let key = |id: &String| owned_keys::key(organization, kind::TEAM, id);
        let keys: Vec<String> = ids.iter().map(key).collect();
        let teams = self.get_many::<TeamRecord>(&keys)?.into_iter();
        let visible = teams.map(|team| team.filter(|team| scope.sees(&team.record)));
        let Some(teams) = visible.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        if teams.iter().all(|team| scope.covers(&team.record)) {
            Ok(Some(teams))
        } else {
            Err(MembershipError::NotAllowed)
        }
    }

    /// Adds the membership to `transaction`, under the condition that no other request has added the invitee here meanwhile.
    fn put_membership(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        invitee: Invitee,
        teams: Vec<String>,
    ) -> Result<MembershipRecord, ServiceError> {
        let id = random_identifier(MEMBERSHIP_PREFIX, &self.random)?;
        let pointer = PointerRecord::to(&id);
        for place in self.places_of(organization, &invitee)? {
            transaction.require_absent(place);
        }
        let (user, email, status) = match invitee {
            Invitee::User(user) => {
                transaction
                    .put(
                        owned_keys::key(organization, kind::MEMBER, &user.id),
                        &pointer,
                    )?
                    .put(membership_of_key(&user.id, organization), &pointer)?;
                (Some(user.id), user.email, MembershipStatus::Active)
            }
            Invitee::Address(email) => {
                let hash = self.email_hash(&email)?;
                let record = InvitationRecord {
                    organization: organization.to_owned(),
                };
                transaction
                    .put(invited_key(organization, &hash), &pointer)?
                    .put(invitation_key(&hash, &id), &record)?;
                (None, email, MembershipStatus::Invited)
            }
        };
        let membership = MembershipRecord {
            id,
            user,
            email,
            status,
            teams,
            created_at: self.clock.now_milliseconds(),
        };
        put_new(
            transaction,
            organization,
            kind::MEMBERSHIP,
            &membership.id,
            &membership,
        )?;
        Ok(membership)
    }
}

/// The attribute by which an invitation names the invitee.
const fn attribute(invitation: &Invitation) -> &'static str {
    match invitation.entity_id {
        Attribute::Value(_) => "entity-id",
        _ => "email",
    }
}

fn issue(attribute: &'static str, fault: Fault) -> AttributeIssue {
    AttributeIssue::new(attribute, fault)
}

fn unknown_team() -> AttributeIssue {
    issue("teams", Fault::UnknownTeam)
}

/// True if `text` is written as ids of entities are: 32 hexadecimal digits in lower case, in five groups.
fn is_entity_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    lengths == [8, 4, 4, 4, 12] && groups.concat().bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_entities_are_told_from_other_texts() {
        assert!(is_entity_id("0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2e"));
        for text in [
            "",
            "0f6b2c1e",
            "0F6B2C1E-9a41-4c52-8d0e-5f3a7b9c1d2e",
            "0f6b2c1e9a414c528d0e5f3a7b9c1d2e",
            "0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2/",
            "0f6b2c1e-9a41-4c52-8d0e-5f3a7b9c1d2e-",
        ] {
            assert!(!is_entity_id(text), "{text}");
        }
    }
}
