//! A part of the directory as it is at one moment, and what it tells.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::ops::{Bound, Range};
use std::sync::Arc;

use super::record::{LeafRecord, PendingRecord, RootRecord};
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

    /// The organizations of these ranks, which are how many others come before them: those whose leaves have been read, with all leaves before
    /// them that anything is pending for.
    pub fn names_at(&self, ranks: &Range<u64>) -> Vec<&str> {
        let before = self.root.names_before();
        // How many more names what is pending makes in the leaves so far.
        let mut added = 0;
        let mut names = Vec::new();
        for (place, leaf) in &self.leaves {
            let stored_before = before.get(*place).copied().unwrap_or_default();
            let first = stored_before.saturating_add_signed(added);
            if first >= ranks.end {
                break;
            }
            let added_here = self.added_in(*place, leaf);
            added += added_here;
            let end = (first + leaf.len() as u64).saturating_add_signed(added_here);
            if end > ranks.start {
                let here = (first..).zip(self.names_in(*place, leaf));
                let wanted = here.filter(|(rank, _)| ranks.contains(rank));
                names.extend(wanted.map(|(_, name)| name));
            }
        }
        names
    }

    /// How many more names what is pending makes in the leaf at `place`.
    fn added_in(&self, place: usize, leaf: &LeafRecord) -> i64 {
        let pending = self.pending_in(place);
        let added = pending
            .map(|(name, pending)| i64::from(pending.email.is_some()) - i64::from(leaf.has(name)));
        added.sum()
    }

    /// The greatest name that the leaf at `place`, or what is pending for it, speaks of. Everything behind it is told by the
    /// leaves behind.
    pub fn last_of(&self, place: usize) -> Option<&str> {
        let stored = self.leaves.get(&place)?.last();
        let pending = self.pending_in(place).next_back();
        stored.max(pending.map(|(name, _)| name.as_str()))
    }

    fn names_in<'a>(&'a self, place: usize, leaf: &'a LeafRecord) -> Vec<&'a str> {
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

    fn pending_in(&self, place: usize) -> btree_map::Range<'_, String, PendingRecord> {
        pending_in(&self.pending, &self.root, place)
    }
}

/// The changes that are pending for the leaf at `place`.
pub fn pending_in<'a>(
    pending: &'a Pending,
    root: &RootRecord,
    place: usize,
) -> btree_map::Range<'a, String, PendingRecord> {
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

/// The places of all leaves that it takes to find the organizations of these [ranks](Snapshot::names_at): those in which they can be,
/// whatever becomes of what is pending, and those before them that something is pending for.
pub fn places_around(root: &RootRecord, pending: &Pending, ranks: &Range<u64>) -> Vec<usize> {
    let slack = pending.len() as u64;
    let before = root.names_before();
    // The leaf at a place has the names from `before[place]` to `before[place + 1]`, each bound give or take what is pending.
    let ends = before.get(1..).unwrap_or_default();
    let first = ends.partition_point(|end| end.saturating_add(slack) <= ranks.start);
    let end = before.partition_point(|start| *start < ranks.end.saturating_add(slack));
    let mut places: Vec<usize> = (first..end.min(root.leaves.len())).collect();
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
