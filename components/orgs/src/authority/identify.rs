//! From a credential to somebody, and from somebody to what they are to an organization.

use gatehouse_ports::{Clock, Random, Store};

use super::table::{Column, decide};
use super::{Action, Authority, Credential, Decision, Identity, Position, Principal};
use crate::belonging::{PointerRecord, key, kind};
use crate::identifier::is_identifier;
use crate::name::FoldedName;
use crate::organization::EXTERNAL_ID_PREFIX;
use crate::team::{MembershipRecord, MembershipStatus, TeamRecord};
use crate::tokens::record::TokenRecord;
use crate::{Edition, Failure, Orgs, Rights, Standing, TokenOwner};

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
            token_description: None,
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
        let is_owner = place.teams.contains(&record.owners_team_id);
        let column = place.column(identity, is_owner);
        let decision = if record.disabled && column != Column::SiteAdministrator {
            Decision::Hidden
        } else if granted {
            Decision::Allowed
        } else if !record.settings.user_tokens_enabled && is_user_token(identity) {
            Decision::UserTokensOff
        } else {
            decide(column, &place.rights, action)
        };
        Ok(Some(Position {
            organization: self.shown(edition, record)?,
            standing: column.standing(),
            rights: place.rights,
            teams: place.teams,
            decision,
        }))
    }

    fn creation(
        &self,
        _edition: Edition,
        identity: &Identity,
        granted: bool,
    ) -> Result<Decision, Failure> {
        let allowed = match &identity.principal {
            Principal::Installation => true,
            Principal::User(user) => granted || user.site_administrator || user.subject.is_none(),
            Principal::Workload(_) => granted,
            Principal::Team(_) | Principal::Organization(_) | Principal::AuditReader(_) => false,
        };
        Ok(if allowed {
            Decision::Allowed
        } else {
            Decision::Hidden
        })
    }

    fn organization_of(&self, id: &str) -> Result<Option<String>, Failure> {
        let found = if is_identifier(EXTERNAL_ID_PREFIX, id) {
            self.existing(id.to_owned())?
        } else {
            self.owner_of(id)?
        };
        Ok(found.map(|found| found.name))
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
    is_organization_token: bool,
    is_audit_reader: bool,
    teams: Vec<String>,
    rights: Rights,
}

impl Place {
    const fn column(&self, identity: &Identity, is_owner: bool) -> Column {
        if identity.is_site_administrator() {
            Column::SiteAdministrator
        } else if is_owner {
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
        let Some(principal) = self.principal_of(&token)? else {
            return Ok(None);
        };
        self.note_use(&token)?;
        Ok(Some(Identity {
            principal,
            token_id: Some(token.id),
            token_description: token.description,
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
        match &identity.principal {
            Principal::User(user) => {
                let membership = self.membership_of(&user.id, external_id)?;
                let teams = membership
                    .filter(|membership| membership.status == MembershipStatus::Active)
                    .map(|membership| membership.teams);
                Ok(Place {
                    is_member: teams.is_some(),
                    ..self.place_of_teams(external_id, teams.unwrap_or_default())?
                })
            }
            Principal::Team(team) if team.organization == external_id => Ok(Place {
                is_member: true,
                ..self.place_of_teams(external_id, vec![team.id.clone()])?
            }),
            Principal::Organization(own) => Ok(Place {
                is_organization_token: own == external_id,
                ..Place::default()
            }),
            Principal::AuditReader(own) => Ok(Place {
                is_audit_reader: own == external_id,
                ..Place::default()
            }),
            Principal::Team(_) | Principal::Installation | Principal::Workload(_) => {
                Ok(Place::default())
            }
        }
    }

    fn place_of_teams(&self, external_id: &str, teams: Vec<String>) -> Result<Place, Failure> {
        let keys: Vec<String> = teams
            .iter()
            .map(|id| key(external_id, kind::TEAM, id))
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let found = self.records.get_all::<TeamRecord>(&keys)?;
        let found = found.into_iter().flatten().map(|team| team.record);
        let mut place = Place::default();
        for team in found {
            place.rights.extend(&team.rights);
            place.teams.push(team.id);
        }
        Ok(place)
    }

    /// The membership of a user in an organization.
    pub(crate) fn membership_of(
        &self,
        user: &str,
        external_id: &str,
    ) -> Result<Option<MembershipRecord>, Failure> {
        let pointer = key(external_id, kind::MEMBER, user);
        let Some(pointer) = self.records.get::<PointerRecord>(&pointer)? else {
            return Ok(None);
        };
        let membership = key(external_id, kind::MEMBERSHIP, &pointer.record.id);
        let membership = self.records.get::<MembershipRecord>(&membership)?;
        Ok(membership.map(|membership| membership.record))
    }

    /// A team of an organization.
    pub(crate) fn team(&self, external_id: &str, id: &str) -> Result<Option<TeamRecord>, Failure> {
        let team = self
            .records
            .get::<TeamRecord>(&key(external_id, kind::TEAM, id))?;
        Ok(team.map(|team| team.record))
    }
}
