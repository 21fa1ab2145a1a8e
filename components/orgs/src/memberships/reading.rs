//! Reading memberships: of one organization, of one user, of the owners of many.

use std::collections::{HashMap, HashSet};

use gatehouse_ports::{Clock, Random, Store};

use super::{Membership, MembershipFilter, MembershipPage, OwnMembership};
use crate::belonging::kind;
use crate::paging::page;
use crate::record::{ExternalIdRecord, ORGANIZATION_PREFIX, OrganizationRecord, external_id_key};
use crate::team::{MembershipRecord, membership_of_prefix};
use crate::teams::Roll;
use crate::tokens::SecretHasher;
use crate::users::id_of_user;
use crate::{Failure, Identity, Mandate, MembershipStatus, Orgs, Principal, User, Users as _};

impl Membership {
    /// A membership of which the caller sees the teams that `is_visible` accepts.
    pub(super) fn of(
        record: &MembershipRecord,
        hasher: &SecretHasher,
        is_visible: impl Fn(&str) -> bool,
    ) -> Self {
        let to_be = || id_of_user(hasher, &record.email);
        let teams = record.teams.iter().filter(|team| is_visible(team));
        let mut teams: Vec<String> = teams.cloned().collect();
        teams.sort_unstable();
        Self {
            id: record.id.clone(),
            user: record.user.clone().unwrap_or_else(to_be),
            email: record.email.clone(),
            status: record.status,
            teams,
            created_at: record.created_at,
        }
    }
}

impl Roll<'_> {
    fn shown<'m>(
        &self,
        memberships: impl IntoIterator<Item = &'m MembershipRecord>,
        hasher: &SecretHasher,
    ) -> Vec<Membership> {
        let visible: HashSet<&str> = self.teams.iter().map(|team| team.id.as_str()).collect();
        let shown = |found| Membership::of(found, hasher, |team| visible.contains(team));
        memberships.into_iter().map(shown).collect()
    }
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    pub(super) fn memberships_where(
        &self,
        organization: &str,
        mandate: &Mandate,
        is_wanted: impl Fn(&MembershipRecord) -> bool,
    ) -> Result<Vec<Membership>, Failure> {
        let roll = self.roll(organization, mandate)?;
        let wanted = roll.memberships.iter().filter(|found| is_wanted(found));
        Ok(roll.shown(wanted, &self.hasher()?))
    }

    pub(super) fn membership_page(
        &self,
        organization: &str,
        filter: &MembershipFilter,
        mandate: &Mandate,
        number: u32,
        size: u32,
    ) -> Result<MembershipPage, Failure> {
        let roll = self.roll(organization, mandate)?;
        let usernames = match &filter.text {
            Some(_) => self.usernames_of(&roll.memberships)?,
            None => HashMap::new(),
        };
        let matching = roll
            .memberships
            .iter()
            .filter(|membership| filter.accepts(membership, &usernames));
        let (memberships, total) = page(matching, number, size);
        let count = |status| {
            let of_status = roll.memberships.iter().filter(|it| it.status == status);
            of_status.count() as u64
        };
        Ok(MembershipPage {
            memberships: roll.shown(memberships, &self.hasher()?),
            total,
            active: count(MembershipStatus::Active),
            invited: count(MembershipStatus::Invited),
        })
    }

    /// The names of members, by the ids of the users.
    fn usernames_of(
        &self,
        memberships: &[MembershipRecord],
    ) -> Result<HashMap<String, String>, Failure> {
        let ids = memberships.iter().filter_map(|found| found.user.clone());
        let users = self.users(&ids.collect::<Vec<_>>())?;
        let users = users.into_iter().flatten();
        Ok(users.map(|user| (user.id, user.username)).collect())
    }

    pub(super) fn own_memberships_of(
        &self,
        identity: &Identity,
    ) -> Result<Vec<OwnMembership>, Failure> {
        let Principal::User(user) = &identity.principal else {
            return Ok(Vec::new());
        };
        let prefix = membership_of_prefix(&user.id);
        let items = self.records.scan_all(&prefix)?;
        let external_ids = items
            .iter()
            .filter_map(|item| item.key.strip_prefix(&prefix));
        let external_ids: Vec<&str> = external_ids.collect();
        let memberships = self.memberships_of(&user.id, &external_ids)?;
        let organizations = self.organizations_of(&external_ids)?;
        let hasher = self.hasher()?;
        let by_token = identity.token_id.is_some();
        let mut own: Vec<OwnMembership> = memberships
            .into_iter()
            .zip(organizations)
            .filter_map(|(membership, organization)| {
                let (membership, organization) = (membership?, organization?);
                let is_open = !organization.disabled
                    && (!by_token || organization.settings.user_tokens_enabled);
                is_open.then(|| OwnMembership {
                    membership: Membership::of(&membership, &hasher, |_| true),
                    organization: organization.name,
                })
            })
            .collect();
        own.sort_by_cached_key(|own| own.organization.to_ascii_lowercase());
        Ok(own)
    }

    /// The organizations with these external ids, in their order.
    fn organizations_of(
        &self,
        external_ids: &[&str],
    ) -> Result<Vec<Option<OrganizationRecord>>, Failure> {
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

    pub(super) fn owners(&self, organizations: &[String]) -> Result<Vec<Vec<User>>, Failure> {
        let ids: Vec<&str> = organizations.iter().map(String::as_str).collect();
        let mut owners = Vec::with_capacity(organizations.len());
        for organization in self.organizations_of(&ids)? {
            let Some(organization) = organization else {
                owners.push(Vec::new());
                continue;
            };
            let members: Vec<_> =
                self.all_of::<MembershipRecord>(&organization.external_id, kind::MEMBERSHIP)?;
            let members = members.into_iter().map(|member| member.record);
            let own = members.filter(|it| it.is_active() && it.is_of(&organization.owners_team_id));
            owners.push(
                own.filter_map(|member| member.user)
                    .collect::<Vec<String>>(),
            );
        }
        let distinct: HashSet<&String> = owners.iter().flatten().collect();
        let distinct: Vec<String> = distinct.into_iter().cloned().collect();
        let users = self.users(&distinct)?.into_iter().flatten();
        let users: HashMap<String, User> = users.map(|user| (user.id.clone(), user)).collect();
        let known = |ids: Vec<String>| {
            let mut known: Vec<User> = ids.iter().filter_map(|id| users.get(id).cloned()).collect();
            known.sort_by_cached_key(|user| user.username.to_ascii_lowercase());
            known
        };
        Ok(owners.into_iter().map(known).collect())
    }
}

impl MembershipFilter {
    fn accepts(&self, membership: &MembershipRecord, usernames: &HashMap<String, String>) -> bool {
        let email = membership.email.to_lowercase();
        let username = membership.user.as_ref().and_then(|id| usernames.get(id));
        let has_text = |text: &String| {
            let text = text.to_lowercase();
            email.contains(&text)
                || username.is_some_and(|name| name.to_lowercase().contains(&text))
        };
        let is_named = self.emails.is_empty()
            || self
                .emails
                .iter()
                .any(|wanted| wanted.to_lowercase() == email);
        let has_status = |wanted: &Vec<MembershipStatus>| wanted.contains(&membership.status);
        is_named
            && self.text.as_ref().is_none_or(has_text)
            && self.statuses.as_ref().is_none_or(has_status)
    }
}
