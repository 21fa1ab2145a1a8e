//! Reading memberships: of one organization, of one user, of the owners of many.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{ReadAhead, decode};

use super::acceptance::{InvitationRecord, invitations_prefix};
use crate::identifier::is_identifier;
use crate::owned_keys::{self, kind};
use crate::paging::page;
use crate::record::{ExternalIdRecord, ORGANIZATION_PREFIX, OrganizationRecord, external_id_key};
use crate::team::{MEMBERSHIP_PREFIX, MembershipRecord, TeamRecord, membership_of_prefix};
use crate::tokens::SecretHasher;
use crate::users::id_of_user;
use crate::{
    DelegationScope, Identity, MAXIMUM_INVITATIONS, MAXIMUM_OWNERS_TOLD, MAXIMUM_TEAMS_TOLD,
    Membership, MembershipFilter, MembershipPage, MembershipStatus, Orgs, OwnMembership, Principal,
    Related, ServiceError, User,
};

/// How many memberships are read at once: in stores that are older than the bounds they can be large.
const MEMBERSHIPS_AT_ONCE: usize = 64;

/// A membership of which the caller sees the teams that `is_visible` accepts.
pub(super) fn membership_of(
    record: &MembershipRecord,
    hasher: &SecretHasher,
    is_visible: impl Fn(&str) -> bool,
) -> Membership {
    let to_be = || id_of_user(hasher, &record.email);
    let teams = record.teams.iter().filter(|team| is_visible(team));
    let mut teams: Vec<String> = teams.cloned().collect();
    teams.sort_unstable();
    Membership {
        id: record.id.clone(),
        user: record.user.clone().unwrap_or_else(to_be),
        email: record.email.clone(),
        status: record.status,
        teams,
        teams_told: true,
        created_at: record.created_at,
    }
}

/// A membership as it is looked for in a list, without its teams.
struct Sought {
    id: String,
    user: Option<String>,
    /// Without case.
    email: String,
    status: MembershipStatus,
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// The memberships with these ids as the caller sees them, by address. Where they name more than [`MAXIMUM_TEAMS_TOLD`] teams
    /// together, no teams are told of them.
    pub(crate) fn memberships_seen(
        &self,
        organization: &str,
        ids: &[String],
        scope: &DelegationScope,
    ) -> Result<Vec<Membership>, ServiceError> {
        let mut ids: Vec<&String> = ids
            .iter()
            .filter(|id| is_identifier(MEMBERSHIP_PREFIX, id))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let visible = self.visible_teams(organization, scope)?;
        let visible: HashSet<&str> = visible.iter().map(|team| team.id.as_str()).collect();
        let hasher = self.hasher()?;
        let mut found = Vec::with_capacity(ids.len());
        let mut told = 0;
        for ids in ids.chunks(MEMBERSHIPS_AT_ONCE) {
            let key = |id: &&String| owned_keys::key(organization, kind::MEMBERSHIP, id);
            let keys: Vec<String> = ids.iter().map(key).collect();
            for membership in self
                .get_many::<MembershipRecord>(&keys)?
                .into_iter()
                .flatten()
            {
                let is_visible = |team: &str| told <= MAXIMUM_TEAMS_TOLD && visible.contains(team);
                let membership = membership_of(&membership.record, &hasher, is_visible);
                told += membership.teams.len();
                found.push(membership);
            }
        }
        if told > MAXIMUM_TEAMS_TOLD {
            for membership in &mut found {
                membership.teams.clear();
                membership.teams_told = false;
            }
        }
        found.sort_by_cached_key(|found| (found.email.to_lowercase(), found.id.clone()));
        Ok(found)
    }

    pub(super) fn membership_page(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        scope: &DelegationScope,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, ServiceError> {
        let mut all: Vec<Sought> = Vec::new();
        let prefix = owned_keys::prefix(organization, kind::MEMBERSHIP);
        self.for_each_record::<MembershipRecord>(&prefix, |found| {
            let found = found.record;
            all.push(Sought {
                email: found.email.to_lowercase(),
                id: found.id,
                user: found.user,
                status: found.status,
            });
            Ok(())
        })?;
        all.sort_unstable_by(|one, other| (&one.email, &one.id).cmp(&(&other.email, &other.id)));
        let usernames = match &filter.text {
            Some(_) => self.usernames_of(&all)?,
            None => HashMap::new(),
        };
        let count = |status| all.iter().filter(|it| it.status == status).count() as u64;
        let (active, invited) = (
            count(MembershipStatus::Active),
            count(MembershipStatus::Invited),
        );
        let matcher = Matcher::new(filter);
        let matching = all
            .iter()
            .filter(|found| matcher.accepts(found, &usernames));
        let (wanted, total) = page(matching, number, size);
        let ids: Vec<String> = wanted.iter().map(|found| found.id.clone()).collect();
        Ok(MembershipPage {
            memberships: self.memberships_seen(organization, &ids, scope)?,
            total,
            active,
            invited,
            related: Related::default(),
        })
    }

    /// The names of members, by the ids of the users.
    fn usernames_of(
        &self,
        memberships: &[Sought],
    ) -> Result<HashMap<String, String>, ServiceError> {
        let ids = memberships.iter().filter_map(|found| found.user.clone());
        let users = self.users_with_ids(&ids.collect::<Vec<_>>())?;
        let users = users.into_iter().flatten();
        Ok(users.map(|user| (user.id, user.username)).collect())
    }

    pub(super) fn own_memberships_of(
        &self,
        identity: &Identity,
    ) -> Result<Vec<OwnMembership>, ServiceError> {
        let Principal::User(user) = &identity.principal else {
            return Ok(Vec::new());
        };
        let mut own = self.where_they_belong(user, identity.token_id.is_some())?;
        own.extend(self.where_they_are_invited(user)?);
        own.sort_by_cached_key(|own| own.organization.to_ascii_lowercase());
        Ok(own)
    }

    /// The memberships of a user that are active, as far as the organizations are open to them.
    fn where_they_belong(
        &self,
        user: &User,
        by_token: bool,
    ) -> Result<Vec<OwnMembership>, ServiceError> {
        let prefix = membership_of_prefix(&user.id);
        let mut external_ids = Vec::new();
        self.for_each_item(&prefix, |item| {
            external_ids.extend(item.key.strip_prefix(&prefix).map(str::to_owned));
            Ok(())
        })?;
        let hasher = self.hasher()?;
        let mut own = Vec::new();
        for external_ids in external_ids.chunks(MEMBERSHIPS_AT_ONCE) {
            let external_ids: Vec<&str> = external_ids.iter().map(String::as_str).collect();
            let memberships =
                self.memberships_of(&user.id, &external_ids, &ReadAhead::default())?;
            let organizations = self.organizations_of(&external_ids)?;
            for (membership, organization) in memberships.into_iter().zip(organizations) {
                let (Some(membership), Some(organization)) = (membership, organization) else {
                    continue;
                };
                let is_open = !organization.disabled
                    && (!by_token || organization.settings.user_tokens_enabled);
                if is_open {
                    let membership = Arc::unwrap_or_clone(membership);
                    own.push(self.own_membership_of(membership, organization, &hasher)?);
                }
            }
        }
        Ok(own)
    }

    /// The invitations to the address of a user, [`MAXIMUM_INVITATIONS`] of them, of organizations that are not switched off.
    fn where_they_are_invited(&self, user: &User) -> Result<Vec<OwnMembership>, ServiceError> {
        let prefix = invitations_prefix(&self.email_hash(&user.email)?);
        let found = self.scan_some(&prefix, None, MAXIMUM_INVITATIONS)?;
        let hasher = self.hasher()?;
        let mut own = Vec::new();
        for items in found.items.chunks(MEMBERSHIPS_AT_ONCE) {
            let mut external_ids = Vec::with_capacity(items.len());
            let mut keys = Vec::with_capacity(items.len());
            for item in items {
                let invitation: InvitationRecord = decode(&item.entry.value)?;
                let id = item.key.strip_prefix(&prefix).unwrap_or_default();
                keys.push(owned_keys::key(
                    &invitation.organization,
                    kind::MEMBERSHIP,
                    id,
                ));
                external_ids.push(invitation.organization);
            }
            let external_ids: Vec<&str> = external_ids.iter().map(String::as_str).collect();
            let organizations = self.organizations_of(&external_ids)?;
            let memberships = self.get_many::<MembershipRecord>(&keys)?;
            for (membership, organization) in memberships.into_iter().zip(organizations) {
                if let (Some(membership), Some(organization)) = (membership, organization)
                    && !organization.disabled
                {
                    own.push(self.own_membership_of(membership.record, organization, &hasher)?);
                }
            }
        }
        Ok(own)
    }

    /// A membership as its own user sees it, with those of its teams that exist.
    pub(super) fn own_membership_of(
        &self,
        membership: MembershipRecord,
        organization: OrganizationRecord,
        hasher: &SecretHasher,
    ) -> Result<OwnMembership, ServiceError> {
        let external_id = &organization.external_id;
        let key = |id: &String| owned_keys::key(external_id, kind::TEAM, id);
        let keys: Vec<String> = membership.teams.iter().map(key).collect();
        let teams = self.get_many::<TeamRecord>(&keys)?.into_iter().flatten();
        let teams: HashSet<String> = teams.map(|team| team.record.id).collect();
        Ok(OwnMembership {
            membership: membership_of(&membership, hasher, |team| teams.contains(team)),
            organization: organization.name,
        })
    }

    /// The organizations with these external ids, in their order.
    pub(crate) fn organizations_of(
        &self,
        external_ids: &[&str],
    ) -> Result<Vec<Option<OrganizationRecord>>, ServiceError> {
        let keys: Vec<String> = external_ids.iter().map(|id| external_id_key(id)).collect();
        let names = self.get_many::<ExternalIdRecord>(&keys)?;
        let keys: Vec<String> = names
            .into_iter()
            .map(|name| name.map_or_else(String::new, |name| name.record.name))
            .map(|name| format!("{ORGANIZATION_PREFIX}{name}"))
            .collect();
        let found = self.get_many::<OrganizationRecord>(&keys)?;
        // Between the two reads a name can go to another organization.
        let is_meant = |record: &OrganizationRecord, id: &str| record.external_id == id;
        Ok(found
            .into_iter()
            .zip(external_ids)
            .map(|(found, id)| {
                found
                    .map(|found| found.record)
                    .filter(|it| is_meant(it, id))
            })
            .collect())
    }

    /// The owners of several organizations, in the order of their external ids, [`MAXIMUM_OWNERS_TOLD`] of each; an organization that does
    /// not exist has none.
    pub(crate) fn owners(&self, organizations: &[String]) -> Result<Vec<Vec<User>>, ServiceError> {
        let ids: Vec<&str> = organizations.iter().map(String::as_str).collect();
        let mut owners = Vec::with_capacity(organizations.len());
        for organization in self.organizations_of(&ids)? {
            let Some(organization) = organization else {
                owners.push(Vec::new());
                continue;
            };
            let own = self.owners_in(&organization.external_id, &organization.owners_team_id)?;
            let own = own.users().take(MAXIMUM_OWNERS_TOLD).cloned();
            owners.push(own.collect::<Vec<String>>());
        }
        let distinct: HashSet<&String> = owners.iter().flatten().collect();
        let distinct: Vec<String> = distinct.into_iter().cloned().collect();
        let users = self.users_with_ids(&distinct)?.into_iter().flatten();
        let users: HashMap<String, User> = users.map(|user| (user.id.clone(), user)).collect();
        let known = |ids: Vec<String>| {
            let mut known: Vec<User> = ids.iter().filter_map(|id| users.get(id).cloned()).collect();
            known.sort_by_cached_key(|user| user.username.to_ascii_lowercase());
            known
        };
        Ok(owners.into_iter().map(known).collect())
    }
}

/// A filter in lower case, made once for all memberships.
struct Matcher<'f> {
    text: Option<String>,
    emails: HashSet<String>,
    statuses: Option<&'f [MembershipStatus]>,
}

impl<'f> Matcher<'f> {
    fn new(filter: &'f MembershipFilter) -> Self {
        Self {
            text: filter.text.as_ref().map(|text| text.to_lowercase()),
            emails: filter
                .emails
                .iter()
                .map(|email| email.to_lowercase())
                .collect(),
            statuses: filter.statuses.as_deref(),
        }
    }

    fn accepts(&self, membership: &Sought, usernames: &HashMap<String, String>) -> bool {
        let username = membership.user.as_ref().and_then(|id| usernames.get(id));
        let has_text = |text: &String| {
            membership.email.contains(text)
                || username.is_some_and(|name| name.to_lowercase().contains(text))
        };
        let is_named = self.emails.is_empty() || self.emails.contains(&membership.email);
        let has_status = |wanted: &[MembershipStatus]| wanted.contains(&membership.status);
        is_named && self.text.as_ref().is_none_or(has_text) && self.statuses.is_none_or(has_status)
    }
}
