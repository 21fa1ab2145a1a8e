//! The decision about what a caller may do with an organization.

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::ReadAhead;

use super::TeamsInScope as _;
use crate::identifier::is_identifier;
use crate::name::FoldedName;
use crate::owned_keys::{PointerRecord, key, kind};
use crate::record::{EXTERNAL_ID_PREFIX, OrganizationRecord, organization_key};
use crate::team::MembershipRecord;
use crate::users::{subject_key, user_key};
use crate::{
    AccessDecision, AccessQuestion, AgentPools as _, Authority as _, Credential, Decision,
    Identity, OrganizationTarget, Orgs, Principal, Right, ServiceError, Subject, plans,
};

/// An external id that no organization has.
const NO_ORGANIZATION: &str = "org-";

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The answer to a caller's question about an organization; `None` where there is no such organization.
    pub(super) fn decide_access(
        &self,
        identity: &Identity,
        question: &AccessQuestion,
        ahead: &ReadAhead,
    ) -> Result<Option<AccessDecision>, ServiceError> {
        let target = &question.target;
        let record = self.record_meant(identity, target, ahead)?;
        // This is looked up even without an organization, so that an absent one takes as long as a hidden one (SEC-A6).
        let external_id = record
            .as_ref()
            .map_or(NO_ORGANIZATION, |record| &record.external_id);
        let affiliation = self.affiliation_with(identity, external_id, ahead)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let decision = affiliation.decide(identity, &record, question.action, question.granted);
        let also_allowed = question.also.is_some_and(|also| {
            let decision = affiliation.decide(identity, &record, also.action, also.granted);
            decision == Decision::Allowed
        });
        let mut found = AccessDecision {
            organization: Arc::unwrap_or_clone(record).into_organization(self.view()),
            role: affiliation.column(identity).role(),
            rights: affiliation.rights.into_iter().collect(),
            teams: affiliation.teams,
            decision,
            entitlements: Vec::new(),
            permissions: Vec::new(),
            also_allowed,
            own_membership: match target {
                OrganizationTarget::Membership(id) => {
                    let own = self.own_membership(identity, id)?;
                    own.map(|own| own.membership.record.status)
                }
                _ => None,
            },
        };
        if found.decision == Decision::Allowed && !self.covers_target(&found, question)? {
            found.decision = Decision::Hidden;
        }
        // Only a caller that may see the organization waits for values that its record does not have (SEC-A6).
        if found.decision == Decision::Allowed {
            self.complete(std::slice::from_mut(&mut found.organization))?;
            plans::describe(&mut found, question.described, question.role_by_policies);
        }
        Ok(Some(found))
    }

    /// True if a caller who may do something with an organization may do it with the part of it that is the target.
    fn covers_target(
        &self,
        found: &AccessDecision,
        question: &AccessQuestion,
    ) -> Result<bool, ServiceError> {
        let external_id = &found.organization.external_id;
        Ok(match &question.target {
            OrganizationTarget::Team(id) => {
                let mut scope = found.delegation_scope();
                if question.granted {
                    let right = Some(Right::ManageTeams);
                    scope = scope.with_policies(right, question.role_by_policies);
                }
                let team = self.team(external_id, id)?;
                team.is_some_and(|team| scope.speaks_for(&team))
            }
            OrganizationTarget::AgentPool(id) => self.find_agent_pool(external_id, id)?.is_some(),
            _ => true,
        })
    }

    /// The record of the organization that a request is about.
    fn record_meant(
        &self,
        identity: &Identity,
        target: &OrganizationTarget,
        ahead: &ReadAhead,
    ) -> Result<Option<Arc<OrganizationRecord>>, ServiceError> {
        let id = match target {
            OrganizationTarget::Name(name) => return self.record_named(name, ahead),
            OrganizationTarget::OwnerOf(id)
            | OrganizationTarget::Team(id)
            | OrganizationTarget::AgentPool(id)
            | OrganizationTarget::Membership(id) => id,
            OrganizationTarget::OfToken => match &identity.principal {
                Principal::Team(team) => &team.organization,
                Principal::Organization(id) | Principal::AuditReader(id) => id,
                _ => return Ok(None),
            },
        };
        let Some(owner) = self.organization_of(id)? else {
            // This takes as many reads as an existing owner: one for its place, unless the identifier is its own, and one for its record
            // (SEC-A6).
            let missing = if is_identifier(EXTERNAL_ID_PREFIX, id) {
                1
            } else {
                2
            };
            for _ in 0..missing {
                self.existing(NO_ORGANIZATION.to_owned())?;
            }
            return Ok(None);
        };
        let record = self.record_named(&owner.name, ahead)?;
        // Another organization can have the name by now.
        Ok(record.filter(|record| owner.external_id == record.external_id))
    }

    /// The record of the organization of this name.
    fn record_named(
        &self,
        name: &str,
        ahead: &ReadAhead,
    ) -> Result<Option<Arc<OrganizationRecord>>, ServiceError> {
        let key = FoldedName::fold(name).map(|name| organization_key(&name));
        Ok(self
            .known::<OrganizationRecord>(ahead, key)?
            .pop()
            .flatten())
    }

    /// The keys of the records by which a request is going to be decided, as far as recent requests show them: those of the user behind an
    /// entity, the organization of a name, and the user's membership there with its teams.
    ///
    /// A membership is foreseen only for users who have been members, so that a hidden organization takes as many reads as an absent one
    /// (SEC-A6).
    pub(super) fn foresee(
        &self,
        credential: &Credential,
        target: &OrganizationTarget,
    ) -> Vec<String> {
        let mut keys = Vec::new();
        let mut user = None;
        if let Credential::Entity(entity) = credential {
            let pointer = subject_key(&Subject::Entity(entity.clone()));
            user = self.late.last_read::<PointerRecord>(&pointer);
            keys.extend(user.as_ref().map(|user| user_key(&user.id)));
            keys.push(pointer);
        }
        let organization = match target {
            OrganizationTarget::Name(name) => FoldedName::fold(name),
            _ => None,
        };
        let Some(organization) = organization.map(|name| organization_key(&name)) else {
            return keys;
        };
        let record = self.late.last_read::<OrganizationRecord>(&organization);
        keys.push(organization);
        if let (Some(user), Some(record)) = (user, record) {
            let external_id = &record.external_id;
            let pointer = key(external_id, kind::MEMBER, &user.id);
            if let Some(membership) = self.late.last_read::<PointerRecord>(&pointer) {
                let membership = key(external_id, kind::MEMBERSHIP, &membership.id);
                let last_read = self.late.last_read::<MembershipRecord>(&membership);
                let teams = last_read.iter().flat_map(|membership| &membership.teams);
                keys.extend(teams.map(|id| key(external_id, kind::TEAM, id)));
                keys.extend([pointer, membership]);
            }
        }
        keys
    }
}
