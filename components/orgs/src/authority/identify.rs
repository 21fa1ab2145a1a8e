//! From a credential to somebody, and from somebody to what they are to an organization.

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::Record;

use super::table::{Column, decide};
use crate::belonging::{PointerRecord, key, kind};
use crate::identifier::is_identifier;
use crate::name::FoldedName;
use crate::record::EXTERNAL_ID_PREFIX;
use crate::team::Rights;
use crate::team::{MembershipRecord, TeamRecord};
use crate::tokens::record::TokenRecord;
use crate::{
    Action, Authority, Credential, Decision, Edition, Failure, Identity, MembershipStatus, Orgs,
    OwningOrganization, Position, Principal, Site, Standing, Tie, TokenOwner,
};

impl<S: Store, C: Clock, R: Random> Authority for Orgs<S, C, R> {
    fn identify(&self, credential: &Credential) -> Result<Option<Identity>, Failure> {
        let principal = match credential {
            Credential::ApiToken(secret) => return self.identify_token(secret),
            Credential::Root => Principal::Installation,
            Credential::Nobody => Principal::Workload(None),
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

    fn position_in(
        &self,
        edition: Edition,
        identity: &Identity,
        granted: bool,
        name: &str,
        action: Action,
    ) -> Result<Option<Position>, Failure> {
        let stored = FoldedName::of(name).map(|name| self.load(&name));
        let stored = stored.transpose()?.flatten();
        let record = stored.map(|stored| stored.record);
        // Looked up of nothing too, so that what is not there takes as long as what is hidden (SEC-A6).
        let external_id = record
            .as_ref()
            .map_or(NO_ORGANIZATION, |record| &record.external_id);
        let place = self.place_in(identity, external_id)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let column = place.column(identity);
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
            decide(column, &place.rights, action)
        };
        // Only whoever may see it waits for what its record does not tell (SEC-A6).
        let organization = if decision == Decision::Allowed {
            self.shown(edition, record)?
        } else {
            record.into_organization(self.view(edition))
        };
        Ok(Some(Position {
            organization,
            standing: column.standing(),
            rights: place.rights.into_iter().collect(),
            teams: place.teams,
            decision,
        }))
    }

    fn ties(&self, identity: &Identity, external_ids: &[String]) -> Result<Vec<Tie>, Failure> {
        let external_ids: Vec<&str> = external_ids.iter().map(String::as_str).collect();
        let places = self.places_in(identity, &external_ids)?.into_iter();
        Ok(places
            .map(|place| Tie {
                standing: place.column(identity).standing(),
                rights: place.rights.into_iter().collect(),
            })
            .collect())
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

/// What no organization has for an external id.
const NO_ORGANIZATION: &str = "org-";

/// Whether the identity is a person's token of this capability. A workload that is a user comes with a service token.
const fn is_user_token(identity: &Identity) -> bool {
    identity.token_id.is_some() && matches!(identity.principal, Principal::User(_))
}

/// What ties somebody to an organization.
#[derive(Default)]
struct Place {
    is_member: bool,
    is_owner: bool,
    is_organization_token: bool,
    is_audit_reader: bool,
    teams: Vec<String>,
    rights: Rights,
}

impl Place {
    /// What somebody is to an organization by the token alone.
    fn of(principal: &Principal, external_id: &str) -> Self {
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
    const fn standing(self) -> Option<Standing> {
        match self {
            Self::SiteAdministrator => Some(Standing::SiteAdministrator),
            Self::Owner => Some(Standing::Owner),
            Self::Member => Some(Standing::Member),
            Self::OrganizationToken => Some(Standing::OrganizationToken),
            Self::AuditReader | Self::Outsider => None,
        }
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn identify_token(&self, secret: &str) -> Result<Option<Identity>, Failure> {
        let Some(token) = self.live_token(secret)? else {
            return Ok(None);
        };
        let Some(principal) = self.principal_of(&token.record)? else {
            return Ok(None);
        };
        // A store that takes no writes now can still be read: nobody is shut out for it.
        let _ = self.note_use(&token);
        Ok(Some(Identity {
            principal,
            token_id: Some(token.record.id),
        }))
    }

    /// Whom a token acts as; `None` if they are gone or suspended, or the token is none for this API.
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

    fn place_in(&self, identity: &Identity, external_id: &str) -> Result<Place, Failure> {
        let places = self.places_in(identity, &[external_id])?;
        Ok(places.into_iter().next().unwrap_or_default())
    }

    /// What ties somebody to each of these organizations, in their order.
    fn places_in(&self, identity: &Identity, external_ids: &[&str]) -> Result<Vec<Place>, Failure> {
        let mut places: Vec<Place> = external_ids
            .iter()
            .map(|external_id| Place::of(&identity.principal, external_id))
            .collect();
        if let Principal::User(user) = &identity.principal {
            let memberships = self.memberships_of(&user.id, external_ids)?;
            for (place, membership) in places.iter_mut().zip(memberships) {
                if let Some(membership) = membership
                    && membership.status == MembershipStatus::Active
                {
                    place.is_member = true;
                    place.teams = membership.teams;
                }
            }
        }
        self.fill_in_teams(&mut places, external_ids)?;
        Ok(places)
    }

    /// Finds out what the teams of each place may do. Teams that are gone do not count.
    fn fill_in_teams(&self, places: &mut [Place], external_ids: &[&str]) -> Result<(), Failure> {
        let keys: Vec<String> = places
            .iter()
            .zip(external_ids)
            .flat_map(|(place, external_id)| {
                let teams = place.teams.iter();
                teams.map(|id| key(external_id, kind::TEAM, id))
            })
            .collect();
        let mut found = self.all::<TeamRecord>(&keys)?.into_iter();
        for place in places {
            let count = place.teams.len();
            place.teams.clear();
            for team in found.by_ref().take(count).flatten() {
                place.rights.extend(&team.rights);
                place.is_owner |= team.is_owners();
                place.teams.push(team.id);
            }
        }
        Ok(())
    }

    /// The memberships of a user in these organizations, in their order.
    pub(crate) fn memberships_of(
        &self,
        user: &str,
        external_ids: &[&str],
    ) -> Result<Vec<Option<MembershipRecord>>, Failure> {
        let pointers: Vec<String> = external_ids
            .iter()
            .map(|external_id| key(external_id, kind::MEMBER, user))
            .collect();
        let pointers = self.all::<PointerRecord>(&pointers)?;
        let keys: Vec<String> = pointers
            .iter()
            .zip(external_ids)
            .filter_map(|(pointer, external_id)| {
                let pointer = pointer.as_ref()?;
                Some(key(external_id, kind::MEMBERSHIP, &pointer.id))
            })
            .collect();
        let mut memberships = self.all::<MembershipRecord>(&keys)?.into_iter();
        Ok(pointers
            .iter()
            .map(|pointer| pointer.as_ref().and_then(|_| memberships.next().flatten()))
            .collect())
    }

    /// The records of these keys, in their order, however many.
    fn all<T: Record>(&self, keys: &[String]) -> Result<Vec<Option<T>>, Failure> {
        let found = self.get_many::<T>(keys)?.into_iter();
        Ok(found.map(|found| found.map(|found| found.record)).collect())
    }

    /// A team of an organization.
    pub(crate) fn team(&self, external_id: &str, id: &str) -> Result<Option<TeamRecord>, Failure> {
        let team = self
            .records
            .get::<TeamRecord>(&key(external_id, kind::TEAM, id))?;
        Ok(team.map(|team| team.record))
    }
}
