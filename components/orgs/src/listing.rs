//! Lists of organizations, in order of their names.
//!
//! Key order is list order, so a part of the whole list is a scan; the directory tells where a page of it begins. What is searched
//! for is found in the directory. Either way organizations are read only for the answer, and what one of them says then counts.
//!
//! A page and its total are read one after the other: while organizations come and go, the total may be off by those, and a page may
//! be short of those.

use gatehouse_ports::{Clock, MAXIMUM_KEYS_PER_CALL, Random, Store};
use gatehouse_storage::{decode, key_segment};

use crate::directory::{places_around, places_of};
use crate::identifier::{is_identifier, well_formed};
use crate::name::{FoldedName, MAXIMUM_NAME_CHARACTERS};
use crate::organization::EXTERNAL_ID_PREFIX;
use crate::record::{
    CountRecord, ExternalIdRecord, ORGANIZATION_PREFIX, OrganizationRecord, count_keys,
    external_id_key,
};
use crate::search::{Matcher, Scope, Search};
use crate::team::membership_of_prefix;
use crate::{
    Batch, Edition, Failure, Filter, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE, Organization, Orgs, Page,
    Viewer,
};

/// Reads lists for one edition.
pub struct Listing<'a, S, C, R> {
    orgs: &'a Orgs<S, C, R>,
    edition: Edition,
}

/// A part of a list that is read by number.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// How many come before it.
    skip: u64,
    size: u32,
}

impl Range {
    fn new(number: u32, size: u32) -> Self {
        let size = size.clamp(1, MAXIMUM_PAGE_SIZE);
        Self {
            skip: u64::from(number.max(1) - 1) * u64::from(size),
            size,
        }
    }

    fn of<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        all.into_iter().skip(skip).take(self.size as usize)
    }
}

impl<'a, S: Store, C: Clock, R: Random> Listing<'a, S, C, R> {
    pub const fn new(orgs: &'a Orgs<S, C, R>, edition: Edition) -> Self {
        Self { orgs, edition }
    }

    /// See [`crate::Organizations::list`].
    pub fn batch(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure> {
        let limit = limit.clamp(1, MAXIMUM_BATCH);
        match self.sight(viewer, filter)? {
            Sight::Search(search) if search.is_for_all() => self.batch_of_all(after, limit),
            Sight::Search(search) => self.batch_found(&search, after, limit),
            Sight::Chosen(chosen) => self.batch_chosen(chosen, after, limit),
        }
    }

    /// See [`crate::Organizations::page_at`].
    pub fn page(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, Failure> {
        let range = Range::new(number, size);
        match self.sight(viewer, filter)? {
            Sight::Search(search) if search.is_for_all() => self.page_of_all(range),
            Sight::Search(search) => self.page_found(&search, range),
            Sight::Chosen(chosen) => Ok(Page {
                total: chosen.len() as u64,
                organizations: self.shown(range.of(chosen).map(|(_, record)| record))?,
            }),
        }
    }

    /// How to find what `viewer` sees.
    fn sight(&self, viewer: &Viewer, filter: &Filter) -> Result<Sight, Failure> {
        let matcher = Matcher::new(filter);
        let (external_ids, with_closed) = match viewer {
            Viewer::Everything => {
                return Ok(Sight::Search(Box::new(Search {
                    scope: Scope::everything(),
                    matcher,
                    with_disabled: true,
                })));
            }
            Viewer::Workload(reach) => {
                let external_ids = self.organizations_of(reach.user.as_deref())?;
                if !reach.names.is_empty() || !reach.prefixes.is_empty() {
                    let members = self.with_external_ids(&external_ids)?.into_iter();
                    return Ok(Sight::Search(Box::new(Search {
                        scope: Scope::of(reach, members.map(|(name, _)| name)),
                        matcher,
                        with_disabled: false,
                    })));
                }
                (external_ids, true)
            }
            Viewer::Member(user) => (self.organizations_of(Some(user))?, false),
            Viewer::Only(external_id) => {
                let is_one = is_identifier(EXTERNAL_ID_PREFIX, external_id);
                (
                    is_one.then(|| external_id.clone()).into_iter().collect(),
                    true,
                )
            }
            Viewer::Nothing => (Vec::new(), true),
        };
        let mut chosen = self.with_external_ids(&external_ids)?;
        chosen.retain(|(_, record)| {
            !record.disabled
                && (with_closed || record.settings.user_tokens_enabled)
                && matcher.accepts_record(record)
        });
        chosen.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Sight::Chosen(chosen))
    }

    fn batch_chosen(
        &self,
        mut chosen: Vec<Chosen>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure> {
        let after = after.map(position);
        chosen.retain(|(name, _)| after.as_ref().is_none_or(|after| name > after));
        let is_cut = chosen.len() > limit as usize;
        chosen.truncate(limit as usize);
        let last = chosen.last().map(|(name, _)| name.clone());
        Ok(Batch {
            organizations: self.shown(chosen.into_iter().map(|(_, record)| record))?,
            next: last.filter(|_| is_cut),
        })
    }

    fn batch_of_all(&self, after: Option<&str>, limit: u32) -> Result<Batch, Failure> {
        let after = after.map(|after| format!("{ORGANIZATION_PREFIX}{}", position(after)));
        let (records, more) = self.scan(after.as_deref(), limit)?;
        let last = records.last().map(|record| record.name.clone());
        Ok(Batch {
            organizations: self.shown(records)?,
            next: last.filter(|_| more),
        })
    }

    fn page_of_all(&self, range: Range) -> Result<Page, Failure> {
        let total = self.total()?;
        let mut page = Page {
            organizations: Vec::new(),
            total,
        };
        if range.skip >= total {
            return Ok(page);
        }
        let mut after = None;
        if let Some(rank) = range.skip.checked_sub(1) {
            let read = |root: &_, pending: &_| places_around(root, pending, rank);
            let snapshot = self.orgs.directory().read(read)?;
            let Some(before) = snapshot.name_at(rank) else {
                return Ok(page);
            };
            after = Some(format!("{ORGANIZATION_PREFIX}{before}"));
        }
        let (records, _) = self.scan(after.as_deref(), range.size)?;
        page.organizations = self.shown(records)?;
        Ok(page)
    }

    fn batch_found(
        &self,
        search: &Search,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Batch, Failure> {
        let after = after.map(position);
        let directory = self.orgs.directory();
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
        Ok(Batch {
            organizations: self.named(&found, search)?,
            next: reached.map(str::to_owned),
        })
    }

    fn page_found(&self, search: &Search, range: Range) -> Result<Page, Failure> {
        let snapshot = self
            .orgs
            .directory()
            .read(|root, _| places_of(root, &search.scope))?;
        let found = snapshot.found_by(search);
        let total = found.len() as u64;
        let wanted: Vec<&str> = range.of(found).collect();
        Ok(Page {
            organizations: self.named(&wanted, search)?,
            total,
        })
    }

    /// The external ids of the organizations that a user is a member of.
    fn organizations_of(&self, user: Option<&str>) -> Result<Vec<String>, Failure> {
        let Some(user) = user.filter(|user| well_formed(user)) else {
            return Ok(Vec::new());
        };
        let prefix = membership_of_prefix(user);
        let items = self.orgs.records.scan_all(&prefix)?;
        let external_ids = items
            .iter()
            .filter_map(|item| item.key.strip_prefix(&prefix));
        Ok(external_ids.map(str::to_owned).collect())
    }

    /// The organizations with these external ids, without those that are gone, each once and with its folded name.
    fn with_external_ids(&self, external_ids: &[String]) -> Result<Vec<Chosen>, Failure> {
        let mut found = Vec::with_capacity(external_ids.len());
        for external_ids in external_ids.chunks(MAXIMUM_KEYS_PER_CALL) {
            let keys: Vec<String> = external_ids.iter().map(|id| external_id_key(id)).collect();
            let names = self
                .orgs
                .records
                .get_all::<ExternalIdRecord>(&borrowed(&keys))?;
            let known = external_ids.iter().zip(names);
            let known = known.filter_map(|(id, name)| Some((id, name?.record.name)));
            let (external_ids, names): (Vec<_>, Vec<_>) = known.unzip();
            let records = self.read(names.iter().map(String::as_str))?;
            for ((external_id, name), record) in external_ids.into_iter().zip(names).zip(records) {
                // Between the two reads a name can go to another organization.
                let record = record.filter(|record| record.external_id == *external_id);
                found.extend(record.map(|record| (name, record)));
            }
        }
        Ok(found)
    }

    /// The organizations of these folded names, at most as many as one call reads, as far as they are still what is searched for.
    fn named(&self, names: &[&str], search: &Search) -> Result<Vec<Organization>, Failure> {
        let records = self.read(names.iter().copied())?.into_iter().flatten();
        self.shown(records.filter(|record| {
            search.matcher.accepts_record(record) && (search.with_disabled || !record.disabled)
        }))
    }

    fn read<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<Option<OrganizationRecord>>, Failure> {
        let keys: Vec<String> = names
            .map(|name| format!("{ORGANIZATION_PREFIX}{name}"))
            .collect();
        let found = self.orgs.records.get_all(&borrowed(&keys))?.into_iter();
        Ok(found.map(|found| found.map(|found| found.record)).collect())
    }

    /// The organizations behind the key `after`, and whether there are more of them.
    fn scan(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<OrganizationRecord>, bool), Failure> {
        let store = self.orgs.records.store();
        let scanned = store.scan(ORGANIZATION_PREFIX, after, limit)?;
        let mut records = Vec::with_capacity(scanned.items.len());
        for item in scanned.items {
            records.push(decode(&item.entry.value)?);
        }
        Ok((records, scanned.more))
    }

    /// How many organizations there are.
    fn total(&self) -> Result<u64, Failure> {
        let counts = self
            .orgs
            .records
            .get_all::<CountRecord>(&borrowed(&count_keys()))?;
        Ok(counts
            .into_iter()
            .flatten()
            .map(|count| count.record.organizations)
            .sum())
    }

    fn shown(
        &self,
        records: impl IntoIterator<Item = OrganizationRecord>,
    ) -> Result<Vec<Organization>, Failure> {
        let records = records.into_iter();
        records
            .map(|record| self.orgs.shown(self.edition, record))
            .collect()
    }
}

/// An organization, and its folded name.
type Chosen = (String, OrganizationRecord);

/// What a viewer sees.
enum Sight {
    /// What is found by it.
    Search(Box<Search>),
    /// These, in order.
    Chosen(Vec<Chosen>),
}

fn borrowed(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

/// Where `name` stands in the order of folded names. A text that is no name, which no list hands out, still has a place there.
fn position(name: &str) -> String {
    if let Some(folded) = FoldedName::of(name) {
        return folded.as_str().to_owned();
    }
    let beginning: String = name
        .chars()
        .take(MAXIMUM_NAME_CHARACTERS as usize)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    key_segment(&beginning)
}
