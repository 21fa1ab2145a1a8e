//! How a caller belongs to an organization: by a membership, by its teams, or by the token that they present.

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::ReadAhead;

use super::table::{Column, decide};
use crate::owned_keys::{key, kind};
use crate::record::OrganizationRecord;
use crate::team::{MembershipRecord, Rights, TeamRecord};
use crate::{
    Action, Decision, Identity, MembershipStatus, OrganizationRole, Orgs, Principal, ServiceError,
};

/// The membership, team or token by which a caller belongs to an organization.
#[derive(Default)]
pub(super) struct Affiliation {
    is_member: bool,
    is_owner: bool,
    is_organization_token: bool,
    is_audit_reader: bool,
    /// The ids of their teams.
    pub(super) teams: Vec<String>,
    /// The rights that they have by their teams.
    pub(super) rights: Rights,
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

    /// The decision about an action in the organization that has this record.
    pub(super) fn decide(
        &self,
        identity: &Identity,
        record: &OrganizationRecord,
        action: Action,
        granted: bool,
    ) -> Decision {
        let column = self.column(identity);
        if record.disabled && column != Column::SiteAdministrator {
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
            decide(column, &self.rights, action)
        }
    }

    pub(super) const fn column(&self, identity: &Identity) -> Column {
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
    pub(super) const fn role(self) -> Option<OrganizationRole> {
        match self {
            Self::SiteAdministrator => Some(OrganizationRole::SiteAdministrator),
            Self::Owner => Some(OrganizationRole::Owner),
            Self::Member => Some(OrganizationRole::Member),
            Self::OrganizationToken => Some(OrganizationRole::OrganizationToken),
            Self::AuditReader | Self::Outsider => None,
        }
    }
}

/// True if the identity is a person's token of this capability. A workload that is a user comes with a service token.
const fn is_user_token(identity: &Identity) -> bool {
    identity.token_id.is_some() && matches!(identity.principal, Principal::User(_))
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn affiliation_with(
        &self,
        identity: &Identity,
        external_id: &str,
        ahead: &ReadAhead,
    ) -> Result<Affiliation, ServiceError> {
        let affiliations = self.affiliations_with(identity, &[external_id], ahead)?;
        Ok(affiliations.into_iter().next().unwrap_or_default())
    }

    /// How a caller belongs to each of these organizations, in their order.
    pub(super) fn affiliations_with(
        &self,
        identity: &Identity,
        external_ids: &[&str],
        ahead: &ReadAhead,
    ) -> Result<Vec<Affiliation>, ServiceError> {
        let mut affiliations: Vec<Affiliation> = external_ids
            .iter()
            .map(|external_id| Affiliation::by_token(&identity.principal, external_id))
            .collect();
        if let Principal::User(user) = &identity.principal {
            let memberships = self.memberships_of(&user.id, external_ids, ahead)?;
            for (affiliation, membership) in affiliations.iter_mut().zip(memberships) {
                if let Some(membership) = membership
                    && membership.status == MembershipStatus::Active
                {
                    affiliation.is_member = true;
                    affiliation.teams.clone_from(&membership.teams);
                }
            }
        }
        self.fill_in_teams(&mut affiliations, external_ids, ahead)?;
        Ok(affiliations)
    }

    /// Finds out what the teams of each affiliation may do. Teams that are gone do not count.
    fn fill_in_teams(
        &self,
        affiliations: &mut [Affiliation],
        external_ids: &[&str],
        ahead: &ReadAhead,
    ) -> Result<(), ServiceError> {
        let keys: Vec<String> = affiliations
            .iter()
            .zip(external_ids)
            .flat_map(|(affiliation, external_id)| {
                let teams = affiliation.teams.iter();
                teams.map(|id| key(external_id, kind::TEAM, id))
            })
            .collect();
        let mut found = self.known::<TeamRecord>(ahead, keys)?.into_iter();
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
        ahead: &ReadAhead,
    ) -> Result<Vec<Option<Arc<MembershipRecord>>>, ServiceError> {
        let pointers = external_ids
            .iter()
            .map(|external_id| key(external_id, kind::MEMBER, user));
        self.pointed_to(ahead, pointers.collect(), |place, pointer| {
            let external_id = external_ids.get(place).copied().unwrap_or_default();
            key(external_id, kind::MEMBERSHIP, &pointer.id)
        })
    }

    /// A team of an organization.
    pub(crate) fn team(
        &self,
        external_id: &str,
        id: &str,
    ) -> Result<Option<TeamRecord>, ServiceError> {
        let team = self
            .records
            .get::<TeamRecord>(&key(external_id, kind::TEAM, id))?;
        Ok(team.map(|team| team.record))
    }
}
