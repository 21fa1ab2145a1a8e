//! Reading many organizations in order.
//!
//! Key order is list order, so a batch is a scan. A page by number skips what lies before it, and takes the total from the
//! counters unless there is a filter. A page and its total are read one after the other: while organizations come and go, the
//! total may be off by those.

use gatehouse_ports::{Item, MAXIMUM_SCAN_LIMIT, Store};
use gatehouse_storage::{Records, decode, key_segment};

use crate::name::{FoldedName, MAXIMUM_NAME_CHARACTERS};
use crate::record::{CountRecord, ORGANIZATION_PREFIX, OrganizationRecord, count_keys};
use crate::{
    Batch, Edition, Failure, Filter, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE, Organization, Page,
};

/// See [`crate::Organizations::list`].
pub fn batch<S: Store>(
    records: &Records<S>,
    edition: Edition,
    filter: &Filter,
    after: Option<&str>,
    limit: u32,
) -> Result<Batch, Failure> {
    let limit = limit.clamp(1, MAXIMUM_BATCH);
    let matcher = Matcher::new(filter);
    let scan_limit = if matcher.accepts_all() {
        limit
    } else {
        MAXIMUM_BATCH
    };
    let after = after.map(key_after);
    let scanned = records
        .store()
        .scan(ORGANIZATION_PREFIX, after.as_deref(), scan_limit)?;
    let mut batch = Batch::default();
    let mut last = None;
    let mut items = scanned.items.into_iter();
    while batch.organizations.len() < limit as usize {
        let Some(item) = items.next() else { break };
        let organization = organization(&item, edition)?;
        last = Some(organization.name.clone());
        if matcher.accepts(&organization) {
            batch.organizations.push(organization);
        }
    }
    if scanned.more || items.next().is_some() {
        batch.next = last;
    }
    Ok(batch)
}

/// See [`crate::Organizations::page_at`].
pub fn page_at<S: Store>(
    records: &Records<S>,
    edition: Edition,
    filter: &Filter,
    number: u32,
    size: u32,
) -> Result<Page, Failure> {
    let size = u64::from(size.clamp(1, MAXIMUM_PAGE_SIZE));
    let first = u64::from(number.max(1) - 1) * size;
    let matcher = Matcher::new(filter);
    if !matcher.accepts_all() {
        return filtered_page(records, edition, &matcher, first, size);
    }
    let total = total(records)?;
    let mut page = Page {
        organizations: Vec::new(),
        total,
    };
    if first >= total {
        return Ok(page);
    }
    let mut walk = Walk::new(records);
    let mut skip = first;
    while skip > 0 {
        let step =
            u32::try_from(skip).map_or(MAXIMUM_SCAN_LIMIT, |left| left.min(MAXIMUM_SCAN_LIMIT));
        if walk.next(step)?.is_empty() {
            return Ok(page);
        }
        skip -= u64::from(step);
    }
    let wanted = u32::try_from(size).unwrap_or(MAXIMUM_PAGE_SIZE);
    for item in walk.next(wanted)? {
        page.organizations.push(organization(&item, edition)?);
    }
    Ok(page)
}

fn filtered_page<S: Store>(
    records: &Records<S>,
    edition: Edition,
    matcher: &Matcher,
    first: u64,
    size: u64,
) -> Result<Page, Failure> {
    let mut page = Page::default();
    let mut walk = Walk::new(records);
    loop {
        let items = walk.next(MAXIMUM_BATCH)?;
        if items.is_empty() {
            return Ok(page);
        }
        for item in items {
            let organization = organization(&item, edition)?;
            if !matcher.accepts(&organization) {
                continue;
            }
            if (first..first.saturating_add(size)).contains(&page.total) {
                page.organizations.push(organization);
            }
            page.total += 1;
        }
    }
}

/// How many organizations there are.
fn total<S: Store>(records: &Records<S>) -> Result<u64, Failure> {
    let keys = count_keys();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let counts = records.get_all::<CountRecord>(&keys)?;
    Ok(counts
        .into_iter()
        .flatten()
        .map(|count| count.record.organizations)
        .sum())
}

/// Goes through all organizations by name, a step at a time.
struct Walk<'a, S> {
    records: &'a Records<S>,
    after: Option<String>,
    ended: bool,
}

impl<'a, S: Store> Walk<'a, S> {
    const fn new(records: &'a Records<S>) -> Self {
        Self {
            records,
            after: None,
            ended: false,
        }
    }

    /// The next organizations, at most `limit`; empty at the end.
    fn next(&mut self, limit: u32) -> Result<Vec<Item>, Failure> {
        if self.ended {
            return Ok(Vec::new());
        }
        let store = self.records.store();
        let scanned = store.scan(ORGANIZATION_PREFIX, self.after.as_deref(), limit)?;
        self.ended = !scanned.more;
        self.after = scanned.items.last().map(|item| item.key.clone());
        Ok(scanned.items)
    }
}

/// A filter in lower case.
struct Matcher {
    name_or_email: Option<String>,
    name: Option<String>,
    email: Option<String>,
}

impl Matcher {
    fn new(filter: &Filter) -> Self {
        let wanted = |text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(str::to_lowercase)
        };
        Self {
            name_or_email: wanted(&filter.name_or_email),
            name: wanted(&filter.name),
            email: wanted(&filter.email),
        }
    }

    const fn accepts_all(&self) -> bool {
        self.name_or_email.is_none() && self.name.is_none() && self.email.is_none()
    }

    fn accepts(&self, organization: &Organization) -> bool {
        if self.accepts_all() {
            return true;
        }
        let name = organization.name.to_lowercase();
        let email = organization.settings.email.to_lowercase();
        let occurs = |wanted: &Option<String>, texts: &[&str]| {
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| texts.iter().any(|text| text.contains(wanted)))
        };
        occurs(&self.name_or_email, &[&name, &email])
            && occurs(&self.name, &[&name])
            && occurs(&self.email, &[&email])
    }
}

fn organization(item: &Item, edition: Edition) -> Result<Organization, Failure> {
    let record: OrganizationRecord = decode(&item.entry.value)?;
    Ok(record.into_organization(edition))
}

/// The key behind which to go on. A text that is no name, which no batch hands out, still has a place in the order.
fn key_after(name: &str) -> String {
    if let Some(folded) = FoldedName::of(name) {
        return format!("{ORGANIZATION_PREFIX}{folded}");
    }
    let beginning: String = name
        .chars()
        .take(MAXIMUM_NAME_CHARACTERS as usize)
        .map(|character| character.to_ascii_lowercase())
        .collect();
    format!("{ORGANIZATION_PREFIX}{}", key_segment(&beginning))
}
