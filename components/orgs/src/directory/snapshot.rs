//! A part of the directory as it is at one moment, and what it tells.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::Bound;
use std::sync::Arc;

use super::record::{LeafRecord, LeafReference, PendingRecord, RootRecord};
use crate::search::{Matcher, Scope, Search};

/// The changes since the leaves were written, by folded name.
pub type Pending = BTreeMap<String, PendingRecord>;

/// Some of the leaves, and what to change in them.
#[derive(Debug)]
pub struct Snapshot {
    pub pending: Pending,
    pub root: Arc<RootRecord>,
    /// By their place in the root.
    pub leaves: BTreeMap<usize, Arc<LeafRecord>>,
}

impl Snapshot {
    /// The organizations in the leaves that were read, as they are now, that are searched for; by name.
    pub fn found_by(&self, search: &Search) -> Vec<&str> {
        let mut names = Vec::new();
        for (place, leaf) in &self.leaves {
            let stored = rows(leaf, &search.matcher).into_iter();
            let stored = stored.filter_map(|row| leaf.names().get(row));
            let stored = stored.filter(|name| search.covers(name, || leaf.barred(name)));
            let mut pending = self.pending_in(*place).peekable();
            if pending.peek().is_none() {
                names.extend(stored);
                continue;
            }
            let before = names.len();
            names.extend(stored.filter(|name| !self.pending.contains_key(*name)));
            names.extend(pending.filter_map(|(name, pending)| {
                let entry = pending.entry(name)?;
                let found = search.matcher.accepts(entry.name, entry.email)
                    && search.covers(entry.name, || entry.barred);
                found.then_some(entry.name)
            }));
            if let Some(found) = names.get_mut(before..) {
                found.sort_unstable();
            }
        }
        names
    }

    /// The organization that has `rank` others before it, if its leaf and all that anything is pending for have been read.
    pub fn name_at(&self, rank: u64) -> Option<&str> {
        let mut before = 0;
        for (place, reference) in self.root.leaves.iter().enumerate() {
            let names = self.count_in(place, reference);
            if rank < before + names {
                let names = self.names_in(place);
                return names.get(usize::try_from(rank - before).ok()?).copied();
            }
            before += names;
        }
        None
    }

    /// How many organizations there are in the leaf at `place` now.
    fn count_in(&self, place: usize, reference: &LeafReference) -> u64 {
        let leaf = self.leaves.get(&place);
        let is_stored = |name: &str| leaf.is_some_and(|leaf| leaf.has(name));
        let mut count = u64::from(reference.names);
        for (name, pending) in self.pending_in(place) {
            match (is_stored(name), pending.email.is_some()) {
                (true, false) => count -= 1,
                (false, true) => count += 1,
                (true, true) | (false, false) => {}
            }
        }
        count
    }

    /// The greatest name that the leaf at `place`, or what is pending for it, speaks of. Everything behind it is told by the
    /// leaves behind.
    pub fn last_of(&self, place: usize) -> Option<&str> {
        let stored = self.leaves.get(&place)?.last();
        let pending = self.pending_in(place).next_back();
        stored.max(pending.map(|(name, _)| name.as_str()))
    }

    fn names_in(&self, place: usize) -> Vec<&str> {
        let Some(leaf) = self.leaves.get(&place) else {
            return Vec::new();
        };
        let stored = leaf.names().iter();
        let mut names: Vec<&str> = stored
            .filter(|name| !self.pending.contains_key(*name))
            .collect();
        let pending = self.pending_in(place);
        names.extend(
            pending.filter_map(|(name, pending)| pending.email.is_some().then_some(name.as_str())),
        );
        names.sort_unstable();
        names
    }

    fn pending_in(&self, place: usize) -> Range<'_, String, PendingRecord> {
        pending_in(&self.pending, &self.root, place)
    }
}

/// The changes that are pending for the leaf at `place`.
pub fn pending_in<'a>(
    pending: &'a Pending,
    root: &RootRecord,
    place: usize,
) -> Range<'a, String, PendingRecord> {
    let first = root.leaves.get(place).filter(|_| place > 0);
    let from = first.map_or(Bound::Unbounded, |leaf| {
        Bound::Included(leaf.first.as_str())
    });
    let to = root.end_of(place).map_or(Bound::Unbounded, Bound::Excluded);
    pending.range::<str, _>((from, to))
}

/// The places of all leaves that can hold a name which `scope` covers.
pub fn places_of(root: &RootRecord, scope: &Scope) -> Vec<usize> {
    let mut places: Vec<usize> = scope.names().map(|name| root.place_of(name)).collect();
    for prefix in scope.prefixes() {
        let first = root.place_of(prefix);
        places.push(first);
        let further = root.leaves.iter().enumerate().skip(first + 1);
        let further = further.take_while(|(_, leaf)| leaf.first.starts_with(prefix));
        places.extend(further.map(|(place, _)| place));
    }
    places.retain(|place| *place < root.leaves.len());
    places.sort_unstable();
    places.dedup();
    places
}

/// The places of all leaves that it takes to find the organization with `rank` others before it: those in which it can be,
/// whatever becomes of what is pending, and those before them that something is pending for.
pub fn places_around(root: &RootRecord, pending: &Pending, rank: u64) -> Vec<usize> {
    let slack = pending.len() as u64;
    let mut places = Vec::new();
    let mut before = 0_u64;
    for (place, leaf) in root.leaves.iter().enumerate() {
        if before > rank.saturating_add(slack) {
            break;
        }
        before += u64::from(leaf.names);
        if rank < before.saturating_add(slack) {
            places.push(place);
        }
    }
    let last = places.last().copied();
    let changed = pending.keys().map(|name| root.place_of(name));
    places.extend(changed.filter(|place| Some(*place) < last));
    places.sort_unstable();
    places.dedup();
    places
}

/// The rows of `leaf` that are wanted, in ascending order.
fn rows(leaf: &LeafRecord, matcher: &Matcher) -> Vec<usize> {
    let mut wanted = vec![true; leaf.len()];
    let mut keep_only = |rows: &mut dyn Iterator<Item = usize>| {
        let mut found = vec![false; wanted.len()];
        for row in rows {
            if let Some(found) = found.get_mut(row) {
                *found = true;
            }
        }
        for (wanted, found) in wanted.iter_mut().zip(found) {
            *wanted &= found;
        }
    };
    if let Some(name) = &matcher.name {
        keep_only(&mut leaf.names().rows_with(name));
    }
    if let Some(email) = &matcher.email {
        keep_only(&mut leaf.emails().rows_with(email));
    }
    if let Some(either) = &matcher.name_or_email {
        let in_names = leaf.names().rows_with(either);
        keep_only(&mut in_names.chain(leaf.emails().rows_with(either)));
    }
    let rows = wanted.into_iter().enumerate();
    rows.filter_map(|(row, wanted)| wanted.then_some(row))
        .collect()
}
