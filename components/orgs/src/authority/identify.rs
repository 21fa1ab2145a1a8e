//! From a credential to its bearer, and what a caller is to organizations.

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::ReadAhead;

use crate::identifier::is_identifier;
use crate::record::EXTERNAL_ID_PREFIX;
use crate::tokens::record::TokenRecord;
use crate::{
    AccessQuestion, Authority, Authorization, Credential, Decision, Edition, Identification,
    Identity, ListedOrganization, MembershipSummaries, MembershipSummary, Orgs, OwningOrganization,
    Principal, Right, ServiceError, Site as _, TokenOwner, plans,
};

impl<S: Store, C: Clock, R: Random> Authority for Orgs<S, C, R> {
    fn identify(
        &self,
        credential: &Credential,
        with_api_rate: bool,
    ) -> Result<Identification, ServiceError> {
        self.identify_with(credential, with_api_rate, &ReadAhead::default())
    }

    fn authorize(
        &self,
        credential: &Credential,
        question: &AccessQuestion,
        with_api_rate: bool,
    ) -> Result<Authorization, ServiceError> {
        let ahead = self.foresee(credential, &question.target);
        let ahead = self.late.read_ahead(self.records.store(), ahead)?;
        let identification = self.identify_with(credential, with_api_rate, &ahead)?;
        let access = match &identification.identity {
            Some(identity) => self.decide_access(identity, question, &ahead)?,
            None => None,
        };
        Ok(Authorization {
            identification,
            access,
        })
    }

    fn summarize_memberships(
        &self,
        identity: &Identity,
        organizations: &[ListedOrganization],
    ) -> Result<MembershipSummaries, ServiceError> {
        let external_ids: Vec<&str> = organizations
            .iter()
            .map(|organization| organization.external_id.as_str())
            .collect();
        let ahead = ReadAhead::default();
        let affiliations = self.affiliations_with(identity, &external_ids, &ahead)?;
        let mut summaries = MembershipSummaries {
            memberships: Vec::with_capacity(organizations.len()),
            permissions: Vec::new(),
        };
        let mut known = BTreeMap::new();
        for (organization, affiliation) in organizations.iter().zip(affiliations) {
            let role = affiliation.column(identity).role();
            let greater = plans::greater(role, organization.role_by_policies);
            let rights: Vec<Right> = affiliation.rights.into_iter().collect();
            let of_the_same = (organization.plan.as_str(), greater as u8, rights);
            let permissions = *known
                .entry(of_the_same)
                .or_insert_with_key(|(_, _, rights)| {
                    let all = plans::permissions(organization.plan, greater, rights);
                    summaries.permissions.push(all);
                    summaries.permissions.len() - 1
                });
            summaries.memberships.push(MembershipSummary {
                role,
                permissions: u32::try_from(permissions).unwrap_or(u32::MAX),
            });
        }
        Ok(summaries)
    }

    fn creation(&self, identity: &Identity, granted: bool) -> Result<Decision, ServiceError> {
        let allowed = match &identity.principal {
            Principal::Installation => true,
            Principal::User(user) => granted || user.site_administrator || user.subject.is_none(),
            Principal::Workload(_) => granted,
            Principal::Team(_) | Principal::Organization(_) | Principal::AuditReader(_) => false,
        };
        if !allowed {
            return Ok(Decision::Hidden);
        }
        let is_restricted = self.edition == Edition::SelfHosted
            && !identity.is_site_administrator()
            && self
                .read_general_settings()?
                .limit_user_organization_creation;
        Ok(if is_restricted {
            Decision::Forbidden
        } else {
            Decision::Allowed
        })
    }

    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, ServiceError> {
        let found = if is_identifier(EXTERNAL_ID_PREFIX, id) {
            self.existing(id.to_owned())?
        } else {
            self.owner_of(id)?
        };
        Ok(found.map(|found| OwningOrganization {
            external_id: found.external_id,
            name: found.name,
        }))
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn identify_with(
        &self,
        credential: &Credential,
        with_api_rate: bool,
        ahead: &ReadAhead,
    ) -> Result<Identification, ServiceError> {
        let identity = self.bearer_of(credential, ahead)?;
        // A damaged record of settings keeps no caller out.
        let api_rate = with_api_rate.then(|| self.read_api_rate().ok()).flatten();
        Ok(Identification { identity, api_rate })
    }

    /// The identity that presents a credential; `None` if it is not valid.
    fn bearer_of(
        &self,
        credential: &Credential,
        ahead: &ReadAhead,
    ) -> Result<Option<Identity>, ServiceError> {
        let principal = match credential {
            Credential::ApiToken(secret) => return self.identify_token(secret),
            Credential::Root => Principal::Installation,
            Credential::WithoutEntity => Principal::Workload(None),
            Credential::Entity(entity) => match self.user_of_entity(entity, ahead)? {
                Some(user) if user.suspended => return Ok(None),
                Some(user) => Principal::User(user),
                None => Principal::Workload(Some(entity.clone())),
            },
        };
        Ok(Some(Identity {
            principal,
            token_id: None,
        }))
    }

    fn identify_token(&self, secret: &str) -> Result<Option<Identity>, ServiceError> {
        let Some(token) = self.live_token(secret)? else {
            return Ok(None);
        };
        let Some(principal) = self.principal_of(&token.record)? else {
            return Ok(None);
        };
        // A store that takes no writes now can still be read: no caller is shut out for it.
        let _ = self.note_use(&token);
        Ok(Some(Identity {
            principal,
            token_id: Some(token.record.id),
        }))
    }

    /// The principal that a token acts as; `None` if they are gone or suspended, or the token is none for this API.
    fn principal_of(&self, token: &TokenRecord) -> Result<Option<Principal>, ServiceError> {
        let exists = |external_id: &str| {
            Ok::<_, ServiceError>(self.existing(external_id.to_owned())?.is_some())
        };
        Ok(match &token.owner {
            TokenOwner::User(id) => {
                let user = self.load_user(id)?.filter(|user| !user.suspended);
                user.map(Principal::User)
            }
            TokenOwner::Team(reference) | TokenOwner::TeamNamed(reference) => {
                let team = self.team(&reference.organization, &reference.id)?;
                (team.is_some() && exists(&reference.organization)?)
                    .then(|| Principal::Team(reference.clone()))
            }
            TokenOwner::Organization(organization) => {
                exists(organization)?.then(|| Principal::Organization(organization.clone()))
            }
            TokenOwner::AuditTrail(organization) => {
                exists(organization)?.then(|| Principal::AuditReader(organization.clone()))
            }
            // The workers of a pool have an API of their own (contract 1.6).
            TokenOwner::AgentPool(_) => None,
        })
    }
}
