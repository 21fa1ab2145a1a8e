//! A backend that forgets everything when it is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::ready;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

use gatehouse_ports::rules::{PageBuilder, has_expired, holds};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Put, StoreError, Version,
};

use crate::backend::{SnapshotPage, StoredEntry};
use crate::rules::{SharedClock, purge_budget};
use crate::{Answer, Backend, Guard, Namespace, Snapshot};

type EntryKey = (Namespace, String);

struct Stored {
    entry: Entry,
    expires_at: Option<u64>,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<EntryKey, Stored>,
    /// The places of all entries that expire, by the time at which they do.
    expiries: BTreeSet<(u64, EntryKey)>,
    last_version: u64,
}

/// Entries in a sorted map behind a lock, for tests, for `gatehouse dev`, and for measuring what a disk costs.
pub struct MemoryBackend {
    clock: SharedClock,
    state: RwLock<State>,
}

impl MemoryBackend {
    /// An empty backend whose entries expire by `clock`.
    pub fn new(clock: SharedClock) -> Self {
        let state = RwLock::default();
        Self { clock, state }
    }

    /// How many entries are held in memory, expired ones that were not dropped yet among them.
    #[must_use]
    pub fn held_entries(&self) -> usize {
        self.read(|state| state.entries.len())
    }

    // No operation panics half-way, so a poisoned lock still guards a whole state.
    fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn scan_now(
        &self,
        namespace: Namespace,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Page {
        let now = self.clock.now_milliseconds();
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded((namespace, after.to_owned())),
            _ => Bound::Included((namespace, prefix.to_owned())),
        };
        self.read(|state| {
            let mut page = PageBuilder::new(limit);
            for ((owner, key), stored) in state.entries.range((start, Bound::Unbounded)) {
                if *owner != namespace || !key.starts_with(prefix) {
                    break;
                }
                if has_expired(stored.expires_at, now) {
                    continue;
                }
                if !page.has_room(key.len() + stored.entry.value.len()) {
                    break;
                }
                page.push(key.clone(), stored.entry.clone());
            }
            page.finish()
        })
    }

    fn commit_now(
        &self,
        guard: Option<Guard>,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Result<(), CommitError> {
        let now = self.clock.now_milliseconds();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(Guard { key, version }) = guard {
            let guarded = state.live(&(Namespace::Keyring, key), now);
            if guarded.is_none_or(|entry| entry.version != version) {
                return Err(Guard::lost());
            }
        }
        for Check { key, requirement } in checks {
            let place = (namespace, key);
            if !holds(
                requirement,
                state.live(&place, now).map(|entry| entry.version),
            ) {
                return Err(CommitError::Conflict(place.1));
            }
        }
        state.last_version += 1;
        let budget = purge_budget(changes.len());
        for change in changes {
            state.apply(namespace, change);
        }
        state.purge(self.clock.certain_milliseconds(), budget);
        Ok(())
    }
}

impl State {
    fn live(&self, place: &EntryKey, now: u64) -> Option<&Entry> {
        let stored = self.entries.get(place)?;
        (!has_expired(stored.expires_at, now)).then_some(&stored.entry)
    }

    fn apply(&mut self, namespace: Namespace, change: Change) {
        let (key, replacement) = match change {
            Change::Delete(key) => (key, None),
            Change::Put(Put {
                key,
                value,
                expires_at,
            }) => {
                let version = self.last_version;
                let entry = Entry { value, version };
                (key, Some(Stored { entry, expires_at }))
            }
        };
        let place = (namespace, key);
        let end = replacement.as_ref().and_then(|stored| stored.expires_at);
        let replaced = match replacement {
            Some(stored) => self.entries.insert(place.clone(), stored),
            None => self.entries.remove(&place),
        };
        let replaced_end = replaced.and_then(|stored| stored.expires_at);
        if replaced_end == end {
            return;
        }
        if let Some(end) = replaced_end {
            self.expiries.remove(&(end, place.clone()));
        }
        if let Some(end) = end {
            self.expiries.insert((end, place));
        }
    }

    fn purge(&mut self, now: u64, budget: usize) {
        for _ in 0..budget {
            if self.expiries.first().is_none_or(|(end, _)| *end > now) {
                return;
            }
            if let Some((_, place)) = self.expiries.pop_first() {
                self.entries.remove(&place);
            }
        }
    }
}

impl Backend for MemoryBackend {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        let now = self.clock.now_milliseconds();
        let differences = self.read(|state| {
            let difference = |held: &HeldKey| match state.live(&(namespace, held.key.clone()), now)
            {
                None => Difference::Absent,
                Some(entry) if held.version == Some(entry.version) => Difference::Unchanged,
                Some(entry) => Difference::Changed(entry.clone()),
            };
            keys.iter().map(difference).collect()
        });
        Box::pin(ready(Ok(differences)))
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(ready(Ok(self.scan_now(namespace, prefix, after, limit))))
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move { self.commit_now(None, namespace, checks, changes) })
    }

    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move { self.commit_now(Some(guard), namespace, checks, changes) })
    }

    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        let snapshot = self.read(|state| Copied {
            entries: state
                .entries
                .iter()
                .map(|(place, stored)| {
                    let value = stored.entry.value.clone();
                    (place.clone(), (value, stored.expires_at))
                })
                .collect(),
            last_version: state.last_version,
        });
        Box::pin(ready(Ok(Box::new(snapshot) as Box<dyn Snapshot>)))
    }

    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.last_version = state.last_version.max(version);
        Box::pin(ready(Ok(())))
    }
}

/// A copy of everything: who keeps a store in memory has room for two.
struct Copied {
    entries: BTreeMap<EntryKey, (Vec<u8>, Option<u64>)>,
    last_version: Version,
}

impl Snapshot for Copied {
    fn page<'a>(
        &'a mut self,
        namespace: Namespace,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<Vec<StoredEntry>, StoreError>> {
        // No key is empty, so all keys come after that.
        let start = (namespace, after.unwrap_or_default().to_owned());
        let range = (Bound::Excluded(start), Bound::Unbounded);
        let mut page = SnapshotPage::default();
        for ((owner, key), (value, expires_at)) in self.entries.range(range) {
            let entry = StoredEntry {
                key: key.clone(),
                value: value.clone(),
                expires_at: *expires_at,
            };
            if *owner != namespace || !page.push(entry) {
                break;
            }
        }
        Box::pin(ready(Ok(page.finish())))
    }

    fn last_version(&self) -> Version {
        self.last_version
    }
}

impl fmt::Debug for MemoryBackend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryBackend")
            .field("held_entries", &self.held_entries())
            .finish_non_exhaustive()
    }
}
