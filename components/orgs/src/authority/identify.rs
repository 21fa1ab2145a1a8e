//! From a credential to its bearer, and from a caller to their role in an organization.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};

use super::table::{Column, decide};
use crate::identifier::is_identifier;
use crate::name::FoldedName;
use crate::owned_keys::{key, kind};
use crate::record::{EXTERNAL_ID_PREFIX, OrganizationRecord, organization_key};
use crate::team::Rights;
use crate::team::{MembershipRecord, TeamRecord};
use crate::tokens::record::TokenRecord;
use crate::{
    AccessDecision, Action, Authority, Credential, Decision, Description, Edition, Failure,
    Identification, Identity, ListedOrganization, MembershipStatus, MembershipSummaries,
    MembershipSummary, OrganizationRole, OrganizationTarget, Orgs, OwningOrganization, Principal,
    Right, Site, TokenOwner, plans,
};

impl<S: Store, C: Clock, R: Random> Authority for Orgs<S, C, R> {
    fn identify(
        &self,
        credential: &Credential,
        with_api_rate: bool,
    ) -> Result<Identification, Failure> {
        let identity = self.bearer_of(credential)?;
        // A damaged record of settings keeps no caller out.
        let api_rate = with_api_rate.then(|| self.read_api_rate().ok()).flatten();
        Ok(Identification { identity, api_rate })
    }

    fn decide_access(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
        target: &OrganizationTarget,
        action: Action,
        described: Description,
    ) -> Result<Option<AccessDecision>, Failure> {
        let record = self.record_meant(target)?;
        // Looked up of nothing too, so that what is not there takes as long as what is hidden (SEC-A6).
        let external_id = record
            .as_ref()
            .map_or(NO_ORGANIZATION, |record| &record.external_id);
        let affiliation = self.affiliation_with(identity, external_id)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let column = affiliation.column(identity);
        let decision = if record.disabled && column != Column::SiteAdministrator {
            Decision::Hidden
        } else if granted {
            Decision::Allowed
        } else if column != Column::Outsider
            && !record.settings.user_tokens_enabled
            && is_user_token(identity)
        {
            // Not to outsiders: it would tell them that there is such an organization (SEC-A6).
            Decision::UserTokensOff
        } else {
            decide(column, &affiliation.rights, action)
        };
        // Only a caller that may see it waits for what its record does not tell (SEC-A6).
        let is_allowed = decision == Decision::Allowed;
        let record = Arc::unwrap_or_clone(record);
        let organization = if is_allowed {
            self.to_organization(edition, record)?
        } else {
            record.into_organization(self.view(edition))
        };
        let mut found = AccessDecision {
            organization,
            role: column.role(),
            rights: affiliation.rights.into_iter().collect(),
            teams: affiliation.teams,
            decision,
            entitlements: Vec::new(),
            permissions: Vec::new(),
        };
        if is_allowed {
            plans::describe(&mut found, described);
        }
        Ok(Some(found))
    }

    fn summarize_memberships(
        &self,
        identity: &Identity,
        organizations: &[ListedOrganization],
    ) -> Result<MembershipSummaries, Failure> {
        let external_ids: Vec<&str> = organizations
            .iter()
            .map(|organization| organization.external_id.as_str())
            .collect();
        let affiliations = self.affiliations_with(identity, &external_ids)?;
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

    fn creation(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
    ) -> Result<Decision, Failure> {
        let allowed = match &identity.principal {
            Principal::Installation => true,
            Principal::User(user) => granted || user.site_administrator || user.subject.is_none(),
            Principal::Workload(_) => granted,
            Principal::Team(_) | Principal::Organization(_) | Principal::AuditReader(_) => false,
        };
        if !allowed {
            return Ok(Decision::Hidden);
        }
        let is_restricted = edition == Edition::SelfHosted
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

    fn organization_of(&self, id: &str) -> Result<Option<OwningOrganization>, Failure> {
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

/// An external id that no organization has.
const NO_ORGANIZATION: &str = "org-";

/// True if the identity is a person's token of this capability. A workload that is a user comes with a service token.
const fn is_user_token(identity: &Identity) -> bool {
    identity.token_id.is_some() && matches!(identity.principal, Principal::User(_))
}

/// The membership, team or token by which a caller belongs to an organization.
#[derive(Default)]
struct Affiliation {
    is_member: bool,
    is_owner: bool,
    is_organization_token: bool,
    is_audit_reader: bool,
    teams: Vec<String>,
    rights: Rights,
}

impl Affiliation {
    /// How a caller belongs to an organization by the token alone.
    fn by_token(principal: &Principal, external_id: &str) -> Self {
        match principal {
            Principal::Team(team) if team.organization == external_id => Self {
                is_member: true,
                teams: vec![team.id.clone()],
                ..Self::default()
            },
            Principal::Organization(own) => Self {
                is_organization_token: own == external_id,
                ..Self::default()
            },
            Principal::AuditReader(own) => Self {
                is_audit_reader: own == external_id,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    const fn column(&self, identity: &Identity) -> Column {
        if identity.is_site_administrator() {
            Column::SiteAdministrator
        } else if self.is_owner {
            Column::Owner
        } else if self.is_member {
            Column::Member
        } else if self.is_organization_token {
            Column::OrganizationToken
        } else if self.is_audit_reader {
            Column::AuditReader
        } else {
            Column::Outsider
        }
    }
}

impl Column {
    const fn role(self) -> Option<OrganizationRole> {
        match self {
            Self::SiteAdministrator => Some(OrganizationRole::SiteAdministrator),
            Self::Owner => Some(OrganizationRole::Owner),
            Self::Member => Some(OrganizationRole::Member),
            Self::OrganizationToken => Some(OrganizationRole::OrganizationToken),
            Self::AuditReader | Self::Outsider => None,
        }
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The record of the organization that a request is about.
    fn record_meant(
        &self,
        target: &OrganizationTarget,
    ) -> Result<Option<Arc<OrganizationRecord>>, Failure> {
        let owner = match target {
            OrganizationTarget::Name(_) => None,
            OrganizationTarget::OwnerOf(id) => self.organization_of(id)?,
        };
        let name = match (target, &owner) {
            (OrganizationTarget::Name(name), _) => name.as_str(),
            (OrganizationTarget::OwnerOf(_), Some(owner)) => owner.name.as_str(),
            (OrganizationTarget::OwnerOf(id), None) => {
                // As many reads as an owner takes that is there: where it is, unless the identifier is its own, and its record (SEC-A6).
                let missing = if is_identifier(EXTERNAL_ID_PREFIX, id) {
                    1
                } else {
                    2
                };
                for _ in 0..missing {
                    self.existing(NO_ORGANIZATION.to_owned())?;
                }
                return Ok(None);
            }
        };
        let key = FoldedName::of(name).map(|name| organization_key(&name));
        let record = self.known::<OrganizationRecord>(key)?.pop().flatten();
        // Another organization can have the name by now.
        Ok(record.filter(|record| {
            let owner = owner.as_ref();
            owner.is_none_or(|owner| owner.external_id == record.external_id)
        }))
    }

    /// The identity that presents a credential; `None` if it is not valid.
    fn bearer_of(&self, credential: &Credential) -> Result<Option<Identity>, Failure> {
        let principal = match credential {
            Credential::ApiToken(secret) => return self.identify_token(secret),
            Credential::Root => Principal::Installation,
            Credential::WithoutEntity => Principal::Workload(None),
            Credential::Entity(entity) => match self.user_of_entity(entity)? {
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

    fn identify_token(&self, secret: &str) -> Result<Option<Identity>, Failure> {
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
    fn principal_of(&self, token: &TokenRecord) -> Result<Option<Principal>, Failure> {
        let exists =
            |external_id: &str| Ok::<_, Failure>(self.existing(external_id.to_owned())?.is_some());
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

    fn affiliation_with(
        &self,
        identity: &Identity,
        external_id: &str,
    ) -> Result<Affiliation, Failure> {
        let affiliations = self.affiliations_with(identity, &[external_id])?;
        Ok(affiliations.into_iter().next().unwrap_or_default())
    }

    /// How a caller belongs to each of these organizations, in their order.
    fn affiliations_with(
        &self,
        identity: &Identity,
        external_ids: &[&str],
    ) -> Result<Vec<Affiliation>, Failure> {
        let mut affiliations: Vec<Affiliation> = external_ids
            .iter()
            .map(|external_id| Affiliation::by_token(&identity.principal, external_id))
            .collect();
        if let Principal::User(user) = &identity.principal {
            let memberships = self.memberships_of(&user.id, external_ids)?;
            for (affiliation, membership) in affiliations.iter_mut().zip(memberships) {
                if let Some(membership) = membership
                    && membership.status == MembershipStatus::Active
                {
                    affiliation.is_member = true;
                    affiliation.teams.clone_from(&membership.teams);
                }
            }
        }
        self.fill_in_teams(&mut affiliations, external_ids)?;
        Ok(affiliations)
    }

    /// Finds out what the teams of each affiliation may do. Teams that are gone do not count.
    fn fill_in_teams(
        &self,
        affiliations: &mut [Affiliation],
        external_ids: &[&str],
    ) -> Result<(), Failure> {
        let keys: Vec<String> = affiliations
            .iter()
            .zip(external_ids)
            .flat_map(|(affiliation, external_id)| {
                let teams = affiliation.teams.iter();
                teams.map(|id| key(external_id, kind::TEAM, id))
            })
            .collect();
        let mut found = self.known::<TeamRecord>(keys)?.into_iter();
        for affiliation in affiliations {
            let count = affiliation.teams.len();
            affiliation.teams.clear();
            for team in found.by_ref().take(count).flatten() {
                affiliation.rights.extend(&team.rights);
                affiliation.is_owner |= team.is_owners();
                affiliation.teams.push(team.id.clone());
            }
        }
        Ok(())
    }

    /// The memberships of a user in these organizations, in their order.
    pub(crate) fn memberships_of(
        &self,
        user: &str,
        external_ids: &[&str],
    ) -> Result<Vec<Option<Arc<MembershipRecord>>>, Failure> {
        let pointers = external_ids
            .iter()
            .map(|external_id| key(external_id, kind::MEMBER, user));
        self.pointed_to(pointers.collect(), |place, pointer| {
            let external_id = external_ids.get(place).copied().unwrap_or_default();
            key(external_id, kind::MEMBERSHIP, &pointer.id)
        })
    }

    /// A team of an organization.
    pub(crate) fn team(&self, external_id: &str, id: &str) -> Result<Option<TeamRecord>, Failure> {
        let team = self
            .records
            .get::<TeamRecord>(&key(external_id, kind::TEAM, id))?;
        Ok(team.map(|team| team.record))
    }
}
