//! Lists of organizations, in order of their names.
//!
//! Key order is list order, so a part of the whole list is a scan. What is on a page of it, and what is searched for, is found in the
//! directory. Either way organizations are read only for the answer, and what one of them says then counts.
//!
//! A page and its total are read one after the other: while organizations come and go, the total may be off by those, and a page
//! may be short of those.

use std::sync::Arc;

use gatehouse_ports::{Clock, MAXIMUM_KEYS_PER_CALL, Random, Store};
use gatehouse_storage::{ReadAhead, decode, key_segment};

use crate::directory::{places_around, places_of};
use crate::identifier::{is_identifier, well_formed};
use crate::name::{FoldedName, MAXIMUM_NAME_CHARACTERS};
use crate::paging::PageRange;
use crate::plans::entitlements_of;
use crate::record::{
    EXTERNAL_ID_PREFIX, ExternalIdRecord, ORGANIZATION_PREFIX, OrganizationRecord, external_id_key,
};
use crate::search::{Barred, Matcher, Scope, Search};
use crate::team::membership_of_prefix;
use crate::{Batch, Filter, MAXIMUM_BATCH, Organization, Orgs, Page, Reach, ServiceError, Viewer};

/// How many organizations are rather read than searched for.
const FEW: usize = 100;

/// Reads lists.
pub struct Listing<'a, S, C, R> {
    orgs: &'a Orgs<S, C, R>,
}

impl<'a, S: Store, C: Clock, R: Random> Listing<'a, S, C, R> {
    pub const fn new(orgs: &'a Orgs<S, C, R>) -> Self {
        Self { orgs }
    }

    /// See [`crate::Organizations::list`].
    pub fn batch(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        let limit = limit.clamp(1, MAXIMUM_BATCH);
        let search = self.search(viewer, filter)?;
        if search.is_for_all() {
            return self.batch_of_all(after, limit);
        }
        match self.few(&search)? {
            Some(few) => self.batch_of_few(few, after, limit),
            None => self.batch_found(&search, after, limit),
        }
    }

    /// See [`crate::Organizations::page_at`].
    pub fn page(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError> {
        let range = PageRange::new(number, size);
        let search = self.search(viewer, filter)?;
        if search.is_for_all() {
            return self.page_of_all(range);
        }
        match self.few(&search)? {
            Some(few) => {
                let total = few.len() as u64;
                Ok(page_of(self.organizations(range.within(few))?, total))
            }
            None => self.page_found(&search, range),
        }
    }

    /// The search for the organizations that `viewer` sees and that match.
    fn search(&self, viewer: &Viewer, filter: &Filter) -> Result<Search, ServiceError> {
        let no_policies = Reach::default();
        let despite_no_user_tokens = Barred {
            user_tokens_off: true,
            disabled: false,
        };
        let (scope, despite) = match viewer {
            Viewer::Everything => {
                let despite_all = Barred {
                    disabled: true,
                    ..despite_no_user_tokens
                };
                (Scope::everything(), despite_all)
            }
            Viewer::Member(user) => {
                let known = self.organizations_of(Some(user))?;
                (Scope::reached_by(&no_policies, known), Barred::default())
            }
            Viewer::Only(external_id) => {
                let is_one = is_identifier(EXTERNAL_ID_PREFIX, external_id);
                let ids: Vec<&str> = is_one.then_some(external_id.as_str()).into_iter().collect();
                let known = self.existing_names(&ids)?;
                (
                    Scope::reached_by(&no_policies, known),
                    despite_no_user_tokens,
                )
            }
            Viewer::Workload(reach) => {
                let known = self.organizations_of(reach.user.as_deref())?;
                (Scope::reached_by(reach, known), despite_no_user_tokens)
            }
            Viewer::Nothing => (Scope::reached_by(&no_policies, []), Barred::default()),
        };
        Ok(Search {
            scope,
            matcher: Matcher::new(filter),
            despite,
        })
    }

    /// The organizations that are found, if so few organizations can be meant that reading them is less than reading the directory.
    fn few(&self, search: &Search) -> Result<Option<Vec<NamedRecord>>, ServiceError> {
        let names = search.scope.names();
        if search.scope.prefixes().len() > 0 || names.len() > FEW {
            return Ok(None);
        }
        self.accepted(names, search).map(Some)
    }

    fn batch_of_few(
        &self,
        mut few: Vec<NamedRecord>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        let after = after.map(place_in_order);
        few.retain(|(name, _)| after.as_ref().is_none_or(|after| name > after));
        let is_cut = few.len() > limit as usize;
        few.truncate(limit as usize);
        let last = few.last().map(|(name, _)| name.clone());
        let organizations = self.organizations(few)?;
        Ok(batch_of(organizations, last.filter(|_| is_cut)))
    }

    fn batch_of_all(&self, after: Option<&str>, limit: u32) -> Result<Batch, ServiceError> {
        let after = after.map(|after| format!("{ORGANIZATION_PREFIX}{}", place_in_order(after)));
        let (records, more) = self.scan(after.as_deref(), limit)?;
        let last = records.last().map(|record| record.name.clone());
        let organizations = self.orgs.to_organizations(records)?;
        Ok(batch_of(organizations, last.filter(|_| more)))
    }

    fn page_of_all(&self, range: PageRange) -> Result<Page, ServiceError> {
        let total = self.orgs.total()?;
        if range.skip >= total {
            return Ok(page_of(Vec::new(), total));
        }
        let ranks = range.ranks();
        let read = |root: &_, pending: &_| places_around(root, pending, &ranks);
        let snapshot = self.orgs.directory().read(read)?;
        let named = self.named(snapshot.names_at(&ranks).into_iter())?;
        Ok(page_of(self.organizations(named)?, total))
    }

    fn batch_found(
        &self,
        search: &Search,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, ServiceError> {
        let after = after.map(place_in_order);
        let directory = self.orgs.directory();
        if let Some(mut found) = directory.find(search)? {
            found.retain(|name| after.as_ref().is_none_or(|after| name > after));
            let is_cut = found.len() > limit as usize;
            found.truncate(limit as usize);
            let next = found.last().filter(|_| is_cut).cloned();
            let found = found.iter().map(String::as_str);
            return Ok(batch_of(self.organizations_named(found, search)?, next));
        }
        let at_once = directory.shape().leaves_per_batch;
        let snapshot = directory.read(|root, _| {
            let first = after.as_ref().map_or(0, |after| root.place_of(after));
            let places = places_of(root, &search.scope).into_iter();
            let places = places.filter(|place| *place >= first);
            places.take(at_once).collect()
        })?;
        let mut found = snapshot.found_by(search);
        found.retain(|name| after.as_deref().is_none_or(|after| *name > after));
        let is_cut = found.len() > limit as usize;
        found.truncate(limit as usize);
        let reached = if is_cut {
            found.last().copied()
        } else {
            let read_to = snapshot.leaves.keys().next_back().copied();
            let is_last = places_of(&snapshot.root, &search.scope).last().copied() <= read_to;
            let read_to = read_to.filter(|_| !is_last);
            read_to.and_then(|place| snapshot.last_of(place))
        };
        let next = reached.map(str::to_owned);
        Ok(batch_of(
            self.organizations_named(found.into_iter(), search)?,
            next,
        ))
    }

    fn page_found(&self, search: &Search, range: PageRange) -> Result<Page, ServiceError> {
        let directory = self.orgs.directory();
        if let Some(found) = directory.find(search)? {
            let total = found.len() as u64;
            let wanted = range.within(found.iter().map(String::as_str));
            return Ok(page_of(self.organizations_named(wanted, search)?, total));
        }
        let snapshot = directory.read(|root, _| places_of(root, &search.scope))?;
        let found = snapshot.found_by(search);
        let total = found.len() as u64;
        Ok(page_of(
            self.organizations_named(range.within(found), search)?,
            total,
        ))
    }

    /// The organizations that a user is a member of: folded names and external ids.
    fn organizations_of(&self, user: Option<&str>) -> Result<Vec<Known>, ServiceError> {
        let Some(user) = user.filter(|user| well_formed(user)) else {
            return Ok(Vec::new());
        };
        let prefix = membership_of_prefix(user);
        let mut external_ids = Vec::new();
        self.orgs.for_each_item(&prefix, |item| {
            external_ids.extend(item.key.strip_prefix(&prefix).map(str::to_owned));
            Ok(())
        })?;
        let external_ids: Vec<&str> = external_ids.iter().map(String::as_str).collect();
        self.existing_names(&external_ids)
    }

    /// The organizations with these external ids, without those that are gone: folded names and external ids.
    fn existing_names(&self, external_ids: &[&str]) -> Result<Vec<Known>, ServiceError> {
        let mut known = Vec::with_capacity(external_ids.len());
        for external_ids in external_ids.chunks(MAXIMUM_KEYS_PER_CALL) {
            let keys: Vec<String> = external_ids.iter().map(|id| external_id_key(id)).collect();
            let names = self
                .orgs
                .records
                .get_all::<ExternalIdRecord>(&borrowed(&keys))?;
            let found = external_ids.iter().zip(names);
            known
                .extend(found.filter_map(|(id, name)| Some((name?.record.name, (*id).to_owned()))));
        }
        Ok(known)
    }

    /// The organizations of these folded names, without those that are gone.
    fn named<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<NamedRecord>, ServiceError> {
        let (names, keys): (Vec<&str>, Vec<String>) = names
            .map(|name| (name, format!("{ORGANIZATION_PREFIX}{name}")))
            .unzip();
        let found = self.orgs.known(&ReadAhead::default(), keys)?;
        let found = names.into_iter().zip(found);
        Ok(found
            .filter_map(|(name, record)| Some((name.to_owned(), record?)))
            .collect())
    }

    /// The organizations of these folded names, as far as they are what is searched for.
    fn accepted<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        search: &Search,
    ) -> Result<Vec<NamedRecord>, ServiceError> {
        let mut found = self.named(names)?;
        found.retain(|(name, record)| search.accepts(name, record));
        Ok(found)
    }

    /// The organizations that were found under these folded names, as far as they are still what is searched for.
    fn organizations_named<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        search: &Search,
    ) -> Result<Vec<Organization>, ServiceError> {
        self.organizations(self.accepted(names, search)?)
    }

    /// The organizations behind the key `after`, and whether there are more of them.
    fn scan(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<OrganizationRecord>, bool), ServiceError> {
        let store = self.orgs.records.store();
        let scanned = store.scan(ORGANIZATION_PREFIX, after, limit)?;
        let mut records = Vec::with_capacity(scanned.items.len());
        for item in scanned.items {
            records.push(decode(&item.entry.value)?);
        }
        Ok((records, scanned.more))
    }

    fn organizations(
        &self,
        named: impl IntoIterator<Item = NamedRecord>,
    ) -> Result<Vec<Organization>, ServiceError> {
        let records = named.into_iter().map(|(_, record)| record);
        self.orgs
            .to_organizations(records.map(Arc::unwrap_or_clone))
    }
}

/// A page of these organizations, of which there are `total` on all pages.
pub(crate) fn page_of(organizations: Vec<Organization>, total: u64) -> Page {
    Page {
        entitlements: entitlements_of(&organizations),
        organizations,
        total,
    }
}

/// A batch of these organizations, after which the list continues at `next`.
fn batch_of(organizations: Vec<Organization>, next: Option<String>) -> Batch {
    Batch {
        entitlements: entitlements_of(&organizations),
        organizations,
        next,
    }
}

/// The folded name and the external id of an organization.
type Known = (String, String);

/// An organization, and its folded name.
type NamedRecord = (String, Arc<OrganizationRecord>);

fn borrowed(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// Where `name` stands in the order of folded names. A text that is no name, which no list hands out, has a place there as well.
fn place_in_order(name: &str) -> String {
    if let Some(folded) = FoldedName::fold(name) {
        return folded.as_str().to_owned();
    }
    let beginning: String = name
        .chars()
        .take(MAXIMUM_NAME_CHARACTERS as usize)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    key_segment(&beginning)
}
