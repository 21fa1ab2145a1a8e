//! The resources that an organization has from its first moment (contract 2.10): the team of its owners, a membership of its maker, a
//! project, a subscription, and how long tokens may live.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::Transaction;

use crate::identifier::random_identifier;
use crate::name::FoldedTeamName;
use crate::owned_keys::{self, PointerRecord, kind, put_new};
use crate::record::OrganizationRecord;
use crate::team::{MEMBERSHIP_PREFIX, MembershipRecord, TeamRecord, membership_of_key};
use crate::tokens::{LifetimesRecord, lifetimes_key};
use crate::{
    Caller, MembershipStatus, OWNERS, Orgs, Principal, Right, ServiceError, Subject, User,
    Visibility,
};

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Adds to `transaction` what belongs to a new organization.
    pub(crate) fn add_initial_resources(
        &self,
        transaction: &mut Transaction,
        organization: &OrganizationRecord,
        by: &Caller,
    ) -> Result<(), ServiceError> {
        let owner = self.founder(transaction, by)?;
        let external_id = &organization.external_id;
        let created_at = organization.created_at;
        let team = TeamRecord {
            id: organization.owners_team_id.clone(),
            name: OWNERS.to_owned(),
            created_at,
            visibility: Visibility::Organization,
            rights: Right::ALL.into(),
            sso_team_id: None,
            allow_member_token_management: true,
        };
        let membership = MembershipRecord {
            id: random_identifier(MEMBERSHIP_PREFIX, &self.random)?,
            user: Some(owner.id.clone()),
            email: owner.email,
            status: MembershipStatus::Active,
            teams: vec![team.id.clone()],
            created_at,
        };
        put_new(transaction, external_id, kind::TEAM, &team.id, &team)?;
        put_new(
            transaction,
            external_id,
            kind::MEMBERSHIP,
            &membership.id,
            &membership,
        )?;
        for (kind, id) in [
            (kind::PROJECT, &organization.default_project_id),
            (kind::SUBSCRIPTION, &organization.subscription.id),
        ] {
            put_new(transaction, external_id, kind, id, &PointerRecord::to(id))?;
        }
        let lifetimes = LifetimesRecord::new(&self.random, created_at)?;
        let to_membership = PointerRecord::to(&membership.id);
        transaction
            .put(
                owned_keys::key(external_id, kind::TEAM_NAME, OWNERS),
                &PointerRecord::to(&team.id),
            )?
            .put(
                owned_keys::key(external_id, kind::MEMBER, &owner.id),
                &to_membership,
            )?
            .put(membership_of_key(&owner.id, external_id), &to_membership)?
            .put(lifetimes_key(external_id), &lifetimes)?;
        Ok(())
    }

    /// The user who owns what the caller makes. Who has been no user becomes one by it; a caller without identity makes it for the
    /// installation.
    fn founder(&self, transaction: &mut Transaction, by: &Caller) -> Result<User, ServiceError> {
        let subject = match &by.identity.principal {
            Principal::User(user) => return Ok(user.clone()),
            Principal::Workload(Some(entity)) => Subject::Entity(entity.clone()),
            _ => Subject::Installation,
        };
        if let Some(user) = self.user_of_subject(&subject)? {
            return Ok(user);
        }
        let new = self.new_user_of(subject)?;
        new.put(transaction, self.email_key(&new.0.email)?)?;
        Ok(new.0)
    }
}

/// The folded name of a team's key.
pub(crate) fn team_name_key(external_id: &str, name: &FoldedTeamName) -> String {
    owned_keys::key(external_id, kind::TEAM_NAME, &name.segment())
}
