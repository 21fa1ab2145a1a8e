//! The interfaces of storage over one bucket.

use gatehouse_barrier::SEALED_OVERHEAD_BYTES;
use gatehouse_ports::rules::PageBuilder;
use gatehouse_ports::{
    Cache, Change, Check, Clock, CommitError, Difference, Entry, HeldKey, Page, Put, Random,
    Requirement, Store, StoreError, Version, limits,
};
use zeroize::Zeroizing;

use crate::bucket::Host;
use crate::export::{Export, ExportedEntry};
use crate::names::Grove;
use crate::reader::{Start, Walk};
use crate::surroundings::Surroundings;
use crate::tree::Tree;

/// The store and the cache of one capability, in the bucket behind one label of a host.
///
/// One instance may be used for any number of calls, and from several threads. Any number of instances may use the same bucket.
pub struct Adapter<H: Host, C, R> {
    around: Surroundings<H, C, R>,
    records: Tree,
    cache: Tree,
}

impl<H: Host, C: Clock, R: Random> Adapter<H, C, R> {
    /// An adapter for the bucket behind `label`, which is opened when it is first needed. Entries expire by `clock`.
    pub fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self {
            around: Surroundings::new(host, label, clock, random),
            records: Tree::new(Grove::Records),
            cache: Tree::new(Grove::Cache),
        }
    }
}

impl<H: Host, C: Clock, R: Random> Store for Adapter<H, C, R> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        let keys: Vec<HeldKey> = keys.iter().map(|key| HeldKey::unknown(*key)).collect();
        let entry = |difference| match difference {
            Difference::Changed(entry) => Some(entry),
            Difference::Absent | Difference::Unchanged => None,
        };
        let found = self.get_changed(&keys)?;
        Ok(found.into_iter().map(entry).collect())
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        limits::check_get(keys.iter().map(|held| held.key.as_str()))?;
        let first = keys.first().map_or("", |held| held.key.as_str());
        self.records.read(&self.around, first, |reader, view| {
            let difference = |held: &HeldKey| {
                let found = reader.find(&view.root.top, &held.key)?;
                match found.filter(|item| reader.is_live(item)) {
                    None => Ok(Difference::Absent),
                    Some(item) if held.version == Some(item.version) => Ok(Difference::Unchanged),
                    Some(item) => Ok(Difference::Changed(reader.entry(&item)?)),
                }
            };
            keys.iter()
                .map(|held| {
                    difference(held)
                        .map_err(|fault: crate::error::PageError| fault.on_the_way_to(&held.key))
                })
                .collect()
        })
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        limits::check_scan(prefix, after, limit)?;
        let start = match after {
            Some(after) if after >= prefix => Start::After(after),
            _ => Start::At(prefix),
        };
        self.records.read(&self.around, prefix, |reader, view| {
            let mut page = PageBuilder::new(limit);
            let walked = reader.walk(&view.root.top, start, &mut |item| {
                if !item.key.starts_with(prefix) {
                    return Ok(Walk::Enough);
                }
                if !reader.is_live(item) {
                    return Ok(Walk::On);
                }
                if !page.has_room(item.key.len() + item.value_bytes()) {
                    return Ok(Walk::Enough);
                }
                page.push(item.key.clone(), reader.entry(item)?);
                Ok(Walk::On)
            });
            walked.map_err(|fault| fault.on_the_way_to(prefix))?;
            Ok(page.finish())
        })
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        limits::check_commit(&checks, &changes)?;
        self.records.commit(&self.around, &checks, &changes)
    }
}

impl<H: Host, C: Clock, R: Random> Export for Adapter<H, C, R> {
    fn open(&self) -> Result<(), StoreError> {
        self.records.read(&self.around, "", |_, _| Ok(()))
    }

    fn export(
        &self,
        after: Option<&str>,
        entries: u32,
        bytes: usize,
    ) -> Result<Vec<ExportedEntry>, StoreError> {
        let start = after.map_or(Start::At(""), Start::After);
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        self.records.read(&self.around, "", |reader, view| {
            let (mut exported, mut length) = (Vec::new(), 0);
            let walked = reader.walk(&view.root.top, start, &mut |item| {
                if !reader.is_live(item) {
                    return Ok(Walk::On);
                }
                length += item.key.len() + item.value_bytes() + SEALED_OVERHEAD_BYTES;
                exported.push(ExportedEntry {
                    key: item.key.clone(),
                    value: Zeroizing::new(reader.entry(item)?.value),
                    expires_at: item.expires_at,
                });
                let is_full = exported.len() >= entries || length >= bytes;
                Ok(if is_full { Walk::Enough } else { Walk::On })
            });
            walked.map_err(|fault| fault.on_the_way_to(""))?;
            Ok(exported)
        })
    }
}

/// The cache forgets a value that it cannot keep: a failure reads as an absent entry, and a swap that fails as one that was made.
impl<H: Host, C: Clock, R: Random> Cache for Adapter<H, C, R> {
    fn get(&self, key: &str) -> Option<Entry> {
        limits::check_get([key].into_iter()).ok()?;
        let found = self.cache.read(&self.around, key, |reader, view| {
            let find = || {
                let found = reader.find(&view.root.top, key)?;
                let live = found.filter(|item| reader.is_live(item));
                live.map(|item| reader.entry(&item)).transpose()
            };
            find().map_err(|fault| fault.on_the_way_to(key))
        });
        found.ok().flatten()
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        let check = Check {
            key: key.to_owned(),
            requirement: expected.map_or(Requirement::Absent, Requirement::AtVersion),
        };
        let put = Change::Put(Put {
            key: key.to_owned(),
            value: value.to_vec(),
            expires_at: Some(expires_at),
        });
        let (checks, changes) = ([check], [put]);
        if limits::check_commit(&checks, &changes).is_err() {
            return true;
        }
        let outcome = self.cache.commit(&self.around, &checks, &changes);
        !matches!(outcome, Err(CommitError::Conflict(_)))
    }
}
