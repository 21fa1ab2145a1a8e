//! Invitations, and the users that they are for: no user becomes a member without agreeing (contract 4.11).
//!
//! - `of/<external id>/invited/<hash of the address>`: the membership that waits for the address.
//! - `invitation/<hash>/<membership id>`: that it waits, and in which organization.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Record, Transaction};
use serde::{Deserialize, Serialize};

use crate::audit_trail::AuditedOperations as _;
use crate::identifier::is_identifier;
use crate::owned_keys::{self, PointerRecord, kind};
use crate::record::OrganizationRecord;
use crate::team::{MEMBERSHIP_PREFIX, MembershipRecord, membership_of_key};
use crate::{
    Caller, Identity, MembershipError, MembershipStatus, Orgs, OwnMembership, Principal, Resource,
    ServiceError, User,
};

/// The organization in which a membership waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InvitationRecord {
    /// The external id.
    pub organization: String,
}

impl Record for InvitationRecord {
    const SCHEMA: u16 = 1;
}

/// A membership of the caller, and the organization that it is in.
pub(crate) struct Own<'i> {
    pub user: &'i User,
    pub organization: OrganizationRecord,
    pub membership: Loaded<MembershipRecord>,
}

pub(super) fn invited_key(organization: &str, hash: &str) -> String {
    owned_keys::key(organization, kind::INVITED, hash)
}

pub(super) fn invitation_key(hash: &str, membership: &str) -> String {
    format!("{}{membership}", invitations_prefix(hash))
}

/// The beginning of the keys of invitations to the address with this hash.
pub(super) fn invitations_prefix(hash: &str) -> String {
    format!("invitation/{hash}/")
}

/// Adds to `transaction` the end of an invitation whose organization is gone.
pub(crate) fn end_invitation_of_sweep(transaction: &mut Transaction, hash: &str, membership: &str) {
    transaction.delete(invitation_key(hash, membership));
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The membership with this id, if it is the caller's or an invitation to the caller's address.
    pub(crate) fn own_membership<'i>(
        &self,
        identity: &'i Identity,
        id: &str,
    ) -> Result<Option<Own<'i>>, ServiceError> {
        let Principal::User(user) = &identity.principal else {
            return Ok(None);
        };
        if !is_identifier(MEMBERSHIP_PREFIX, id) {
            return Ok(None);
        }
        let Some(owner) = self.owner_of(id)? else {
            return Ok(None);
        };
        let external_id = owner.external_id.as_str();
        let key = owned_keys::key(external_id, kind::MEMBERSHIP, id);
        let membership = self.records.get::<MembershipRecord>(&key)?;
        let is_own = |found: &MembershipRecord| match found.status {
            MembershipStatus::Active => found.user.as_ref() == Some(&user.id),
            MembershipStatus::Invited => found.email.to_lowercase() == user.email.to_lowercase(),
        };
        let Some(membership) = membership.filter(|found| is_own(&found.record)) else {
            return Ok(None);
        };
        let organization = self.organizations_of(&[external_id])?.pop().flatten();
        Ok(organization.map(|organization| Own {
            user,
            organization,
            membership,
        }))
    }

    pub(super) fn try_accept(
        &self,
        id: &str,
        by: &Caller,
    ) -> Result<Attempt<OwnMembership>, MembershipError> {
        let own = self.own_membership(&by.identity, id)?;
        let own = own.filter(|own| {
            !own.organization.disabled && own.membership.record.status == MembershipStatus::Invited
        });
        let Some(Own {
            user,
            organization,
            membership,
        }) = own
        else {
            return Err(MembershipError::NotFound);
        };
        let external_id = organization.external_id.as_str();
        let mut transaction = Transaction::new();
        if !self.require_existing(&mut transaction, external_id)? {
            return Err(MembershipError::NotFound);
        }
        let key = owned_keys::key(external_id, kind::MEMBERSHIP, id);
        transaction.require(&key, membership.version);
        self.end_invitation(&mut transaction, external_id, &membership.record)?;
        let accepted = MembershipRecord {
            user: Some(user.id.clone()),
            email: user.email.clone(),
            status: MembershipStatus::Active,
            ..membership.record
        };
        let pointer = PointerRecord::to(id);
        let member_key = owned_keys::key(external_id, kind::MEMBER, &user.id);
        transaction
            .require_absent(&member_key)
            .put(member_key, &pointer)?
            .put(membership_of_key(&user.id, external_id), &pointer)?
            .put(key, &accepted)?;
        if accepted.is_of(&organization.owners_team_id) {
            let team = &organization.owners_team_id;
            let joining = [(id, user.id.as_str())];
            self.owners_join(&mut transaction, external_id, team, joining)?;
        }
        let audited = Resource::OrganizationUser.updated(id);
        self.note(&mut transaction, external_id, by, audited)?;
        let own = self.own_membership_of(accepted, organization.clone(), &self.hasher()?)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, own)?)
    }

    /// Adds to `transaction` the end of an invitation, but not of the membership that waits.
    pub(super) fn end_invitation(
        &self,
        transaction: &mut Transaction,
        organization: &str,
        membership: &MembershipRecord,
    ) -> Result<(), ServiceError> {
        let hash = self.email_hash(&membership.email)?;
        transaction
            .delete(invited_key(organization, &hash))
            .delete(invitation_key(&hash, &membership.id));
        Ok(())
    }
}
