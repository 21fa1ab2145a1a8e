//! Moving what is pending into the leaves, and building the directory where there is none.

use std::sync::Arc;

use gatehouse_ports::{Item, Store};
use gatehouse_storage::{Loaded, StorageError, Transaction, decode};

use super::Directory;
use super::parts::PARTS_KEY;
use super::record::{
    Entry, LeafRecord, LeafReference, PENDING_PREFIX, PendingRecord, ROOT_KEY, RootRecord, leaf_key,
};
use super::snapshot::{Pending, pending_in};
use crate::ServiceError;
use crate::record::ORGANIZATION_PREFIX;

/// How many steps of building one request does.
const MAXIMUM_STEPS: usize = 32;

/// How many steps for the index of parts a writer does that has moved what was pending: twice as many as it needs on the average.
const STEPS_OF_WRITER: usize = 2;

/// How many a round of upkeep does.
const STEPS_OF_UPKEEP: usize = 64;

impl<S: Store> Directory<'_, S> {
    /// To be called after each change of the organization with this external id: sees to it that not too much is pending.
    ///
    /// The id decides if this writer looks, because it is random, and every instance of a component sees the same one: a count of writers would
    /// begin anew with each instance. An organization that changes over and over again is pending only once.
    pub fn keep_up(&self, external_id: &str) {
        let last = external_id.bytes().last().unwrap_or_default();
        if !last.is_multiple_of(self.shape.writers_per_look) {
            return;
        }
        // Whatever fails here has changed nothing, and the next writer tries again: the change itself is done.
        if matches!(self.keep_up_from(self.shape.pending), Ok(true)) {
            let _ = self.advance_parts(STEPS_OF_WRITER);
        }
    }

    /// Enters what is pending into the leaves, as much as goes at once: also the ends of organizations, so that nothing tells of
    /// them for longer than until the next round of upkeep.
    pub fn enter_pending(&self) -> Result<(), ServiceError> {
        self.keep_up_from(1)?;
        self.advance_parts(STEPS_OF_UPKEEP)
    }

    /// Enters what is pending if it is at least so much, and says if it was.
    fn keep_up_from(&self, pending: u32) -> Result<bool, ServiceError> {
        let store = self.records.store();
        let scanned = store.scan(PENDING_PREFIX, None, self.shape.pending);
        let scanned = self.unless_damaged(scanned.map_err(StorageError::from))?;
        let items = scanned.unwrap_or_default().items;
        if items.len() < pending as usize {
            return Ok(false);
        }
        let mut root = self.root()?;
        if !root.as_ref().is_some_and(|root| root.record.is_whole()) {
            self.build_on(root)?;
            root = self.root()?;
        }
        if let Some(root) = root.filter(|root| root.record.is_whole()) {
            self.fold(&root, &items)?;
        }
        Ok(true)
    }

    /// The root of the directory, which is built first where there is none.
    pub(super) fn whole_root(&self) -> Result<Loaded<Arc<RootRecord>>, ServiceError> {
        for _ in 0..MAXIMUM_STEPS {
            match self.root()? {
                Some(root) if root.record.is_whole() => return Ok(root),
                root => self.build_on(root)?,
            }
        }
        let why = "the directory of organizations is being built: try again";
        Err(ServiceError::Unavailable(why.to_owned()))
    }

    /// Reads the next organizations into the directory. Others may be doing the same: then this does nothing.
    fn build_on(&self, root: Option<Loaded<Arc<RootRecord>>>) -> Result<(), ServiceError> {
        let version = root.as_ref().map(|root| root.version);
        let mut transaction = Transaction::new();
        transaction.require_unchanged(ROOT_KEY, version);
        if root.is_none() {
            transaction.delete(PARTS_KEY);
        }
        let mut root = root.map_or_else(RootRecord::unbuilt, |root| (*root.record).clone());
        let after = root.built_to.take().filter(|name| !name.is_empty());
        let after = after.map(|name| format!("{ORGANIZATION_PREFIX}{name}"));
        let store = self.records.store();
        let scanned = store.scan(ORGANIZATION_PREFIX, after.as_deref(), self.shape.step)?;
        let mut organizations = Pending::new();
        for item in &scanned.items {
            if let Some(name) = item.key.strip_prefix(ORGANIZATION_PREFIX) {
                let organization = PendingRecord::entering(&decode(&item.entry.value)?);
                organizations.insert(name.to_owned(), organization);
            }
        }
        let entries = organizations.iter();
        let entries = entries.filter_map(|(name, organization)| organization.entry(name));
        let entries: Vec<Entry<'_>> = entries.collect();
        for entries in even_parts(&entries, self.shape.built_names(root.leaves.len())) {
            let leaf = root.put_new_leaf(&mut transaction, entries)?;
            root.leaves.push(leaf);
        }
        if root.leaves.is_empty() {
            let leaf = root.put_new_leaf(&mut transaction, &[])?;
            root.leaves.push(leaf);
        }
        if scanned.more {
            root.built_to = entries.last().map(|entry| entry.name.to_owned());
        }
        transaction.put(ROOT_KEY, &root)?;
        self.commit_unless_late(transaction)
    }

    /// Moves these pending changes into their leaves.
    fn fold(&self, root: &Loaded<Arc<RootRecord>>, items: &[Item]) -> Result<(), ServiceError> {
        let Some(pending) = self.decoded(items)? else {
            return Ok(());
        };
        let mut transaction = Transaction::new();
        transaction.require(ROOT_KEY, root.version);
        for item in items {
            transaction
                .require(&item.key, item.entry.version)
                .delete(&item.key);
        }
        let mut places: Vec<usize> = pending
            .keys()
            .map(|name| root.record.place_of(name))
            .collect();
        places.dedup();
        let Some(leaves) = self.leaves(root, &places)? else {
            return Ok(());
        };
        let is_stored = |name: &str| {
            let leaf = leaves.get(&root.record.place_of(name));
            leaf.is_some_and(|leaf| leaf.has(name))
        };
        if !self.enter_parts(&mut transaction, &pending, is_stored)? {
            return Ok(());
        }
        let most_names = self.shape.most_names(root.record.leaves.len());
        let mut next = RootRecord::whole(root.record.next_leaf);
        next.leaves.reserve(root.record.leaves.len());
        for (place, reference) in root.record.leaves.iter().enumerate() {
            let Some(leaf) = leaves.get(&place) else {
                next.leaves.push(reference.clone());
                continue;
            };
            let changes = pending_in(&pending, &root.record, place);
            let entries = with_changes(leaf, changes);
            let mut number = Some(reference.number);
            for entries in even_parts(&entries, most_names) {
                let leaf = match number.take() {
                    Some(number) => put_leaf(&mut transaction, number, entries)?,
                    None => next.put_new_leaf(&mut transaction, entries)?,
                };
                next.leaves.push(leaf);
            }
            // An empty one goes, and its neighbours share what it stood for.
            if let Some(number) = number {
                transaction.delete(leaf_key(number));
            }
        }
        if next.leaves.is_empty() {
            let leaf = next.put_new_leaf(&mut transaction, &[])?;
            next.leaves.push(leaf);
        }
        transaction.put(ROOT_KEY, &next)?;
        self.commit_unless_late(transaction)
    }
}

impl RootRecord {
    fn put_new_leaf(
        &mut self,
        transaction: &mut Transaction,
        entries: &[Entry<'_>],
    ) -> Result<LeafReference, ServiceError> {
        let number = self.next_leaf;
        self.next_leaf += 1;
        put_leaf(transaction, number, entries)
    }
}

fn put_leaf(
    transaction: &mut Transaction,
    number: u32,
    entries: &[Entry<'_>],
) -> Result<LeafReference, ServiceError> {
    transaction.put(leaf_key(number), &LeafRecord::with_entries(entries))?;
    let first = entries.first().map_or("", |entry| entry.name);
    Ok(LeafReference {
        first: first.to_owned(),
        number,
        names: u32::try_from(entries.len()).unwrap_or(u32::MAX),
    })
}

/// The entries of `leaf` after `changes`, in the order of their names.
fn with_changes<'a>(
    leaf: &'a LeafRecord,
    changes: impl Iterator<Item = (&'a String, &'a PendingRecord)>,
) -> Vec<Entry<'a>> {
    let mut entries = Vec::with_capacity(leaf.len() + 1);
    let mut stored = leaf.entries().peekable();
    for (name, change) in changes {
        while let Some(before) = stored.next_if(|entry| entry.name < name.as_str()) {
            entries.push(before);
        }
        stored.next_if(|entry| entry.name == name);
        entries.extend(change.entry(name));
    }
    entries.extend(stored);
    entries
}

/// `entries` in as few parts as have at most `most` each, of nearly the same size; none where there are no entries.
fn even_parts<'e, 'a>(
    entries: &'e [Entry<'a>],
    most: usize,
) -> impl Iterator<Item = &'e [Entry<'a>]> {
    let parts = entries.len().div_ceil(most).max(1);
    entries.chunks(entries.len().div_ceil(parts).max(1))
}
