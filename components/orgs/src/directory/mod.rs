//! The directory: a summary of all organizations, small enough to be looked through for every list.
//!
//! It holds the name and the e-mail address of every organization, and the flags that bar it from lists, in *leaves* of some dozen, of
//! [more](Shape::most_names) where there are many, sorted, with a *root* that tells where each leaf begins and how many names are in it. So a
//! page is found by adding up these numbers. A search asks the [index of parts](parts) which few organizations to look at; where that cannot
//! tell, it reads packed texts in place of organizations.
//!
//! **Writing.** A commit that makes, renames, readdresses, disables or removes an organization also writes its new state under the
//! organization's own name ([`note`]), which cannot conflict with a change of another organization. A change that is *pending* in this way
//! overrides the leaves. One [in some](Shape::writers_per_look) writers looks how many changes are pending, and moves them into the leaves
//! once there are [some dozens](Shape::pending); fewer wait for the next round of upkeep. Each such commit replaces the root; since nothing
//! waits for it, the second of two concurrent ones is given up. It also enters the changes into the index of parts.
//!
//! **Reading.** Pending changes are read first, then root and leaves at one moment: a change that a finished request has written is in the
//! former or in the latter. An organization that is changed meanwhile may be shown as it was.
//!
//! **Truth.** Only the organizations themselves are authoritative. A directory that is missing, as in a store of an older release, or
//! damaged, is built from them: in steps, each a commit from which the next request continues.
//!
//! The root is one record of some 40 bytes for each leaf, and a store takes records of up to 1 MiB: enough for four million organizations.

mod column;
mod derived;
mod parts;
mod record;
mod snapshot;
mod upkeep;

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_ports::{Item, MAXIMUM_SCAN_LIMIT, Store, StoreError};
use gatehouse_storage::{
    Loaded, MAXIMUM_ATTEMPTS, RecordCache, Records, StorageError, Transaction, TransactionError,
    decode,
};

use crate::ServiceError;
use crate::name::FoldedName;
use crate::record::OrganizationRecord;
use parts::PARTS_KEY;
pub use parts::PartsShape;
use record::{
    LeafRecord, PENDING_PREFIX, PendingRecord, ROOT_KEY, RootRecord, leaf_key, pending_key,
};
pub use snapshot::{Pending, Snapshot, places_around, places_of};

/// How a directory is divided up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Most names in one leaf, while there are few leaves: see [`Self::most_names`].
    pub leaf: usize,
    /// How many changes are moved at once, as soon as a writer sees that many pending. Every reader reads what is pending.
    pub pending: u32,
    /// One in how many writers looks how much is pending: looking reads it all.
    pub writers_per_look: u8,
    /// How many organizations one step of building reads.
    pub step: u32,
    /// How many leaves are read at once: as many as are worth a call, and not more than an instance has room for.
    pub leaves_per_read: usize,
    /// How many leaves a list that goes from front to back looks through at a time.
    pub leaves_per_batch: usize,
    /// How the index of parts is divided up.
    pub parts: PartsShape,
}

impl Shape {
    /// The shape of every directory outside tests.
    pub const USUAL: Self = Self {
        leaf: 64,
        pending: 64,
        writers_per_look: 8,
        step: MAXIMUM_SCAN_LIMIT,
        leaves_per_read: 128,
        leaves_per_batch: 128,
        parts: PartsShape::USUAL,
    };

    /// Most names in one leaf of a directory with this many leaves.
    ///
    /// Entering a change writes its leaf and the root, so neither may be large beside the other: the root has room for four times as many leaves
    /// each time that these are twice as large.
    const fn most_names(&self, leaves: usize) -> usize {
        match leaves {
            ..2_048 => self.leaf,
            2_048..8_192 => 2 * self.leaf,
            8_192.. => 4 * self.leaf,
        }
    }

    /// How many names go into a leaf that is built. There is room for more, so that the next name does not split it.
    const fn built_names(&self, leaves: usize) -> usize {
        (3 * self.most_names(leaves)).div_ceil(4)
    }

    /// How many of this many leaves one step of making the index of parts reads: those of as many organizations as a step of building reads, if
    /// they are full.
    const fn leaves_per_step(&self, leaves: usize) -> usize {
        (self.step as usize).div_ceil(self.most_names(leaves))
    }
}

/// Bytes of stored leaves that an instance keeps decoded: those of some 130,000 organizations. Beyond that a search reads them
/// all again.
pub const CACHED_BYTES: usize = 8 * 1024 * 1024;

/// An organization, and the name it is stored under.
pub type NamedRecord<'a> = (&'a FoldedName, &'a OrganizationRecord);

/// Adds to `transaction`, which turns `before` into `after`, the change of the directory: none, unless a value that lists depend on
/// differs. `None` stands for no organization.
pub fn note(
    transaction: &mut Transaction,
    before: Option<NamedRecord<'_>>,
    after: Option<NamedRecord<'_>>,
) -> Result<(), StorageError> {
    let known = |(name, record)| (name, PendingRecord::entering(record));
    let (before, after) = (before.map(known), after.map(known));
    if before == after {
        return Ok(());
    }
    let new_name = after.as_ref().map(|(name, _)| *name);
    if let Some((old_name, _)) = before.filter(|(old_name, _)| Some(*old_name) != new_name) {
        transaction.put(pending_key(old_name.as_str()), &PendingRecord::default())?;
    }
    if let Some((name, pending)) = after {
        transaction.put(pending_key(name.as_str()), &pending)?;
    }
    Ok(())
}

/// The directory of one store.
#[derive(Clone, Copy)]
pub struct Directory<'a, S> {
    records: &'a Records<S>,
    cache: &'a RecordCache,
    shape: Shape,
}

impl<'a, S: Store> Directory<'a, S> {
    /// The directory among `records`, with leaves kept in `cache`.
    pub const fn new(records: &'a Records<S>, cache: &'a RecordCache, shape: Shape) -> Self {
        Self {
            records,
            cache,
            shape,
        }
    }

    /// How it is divided up.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The leaves at the places that `choose` names, with all pending changes.
    pub fn read(
        &self,
        choose: impl Fn(&RootRecord, &Pending) -> Vec<usize>,
    ) -> Result<Snapshot, ServiceError> {
        for _ in 0..MAXIMUM_ATTEMPTS {
            let Some(pending) = self.pending()? else {
                continue;
            };
            let root = self.whole_root()?;
            let places = choose(&root.record, &pending);
            if let Some(leaves) = self.leaves(&root, &places)? {
                return Ok(Snapshot {
                    pending,
                    root: root.record,
                    leaves,
                });
            }
        }
        Err(ServiceError::Contended)
    }

    /// The pending changes; `None` where one of them was damaged, and all are to be read again.
    fn pending(&self) -> Result<Option<Pending>, ServiceError> {
        match self.unless_damaged(self.records.scan_all(PENDING_PREFIX))? {
            Some(items) => self.decoded(&items),
            None => Ok(None),
        }
    }

    /// The pending changes according to `items`; `None` where one of them was damaged.
    fn decoded(&self, items: &[Item]) -> Result<Option<Pending>, ServiceError> {
        let mut pending = Pending::new();
        for item in items {
            let record = decode(&item.entry.value).map_err(|error| match error {
                StorageError::Malformed => StoreError::Corrupt(item.key.clone()).into(),
                error => error,
            });
            let Some(record) = self.unless_damaged(record)? else {
                return Ok(None);
            };
            if let Some(name) = item.key.strip_prefix(PENDING_PREFIX) {
                pending.insert(name.to_owned(), record);
            }
        }
        Ok(Some(pending))
    }

    /// The present root; `None` where none exists, or where it was damaged and is given up.
    fn root(&self) -> Result<Option<Loaded<Arc<RootRecord>>>, ServiceError> {
        let read = self.cache.read(self.records.store(), [ROOT_KEY.to_owned()]);
        let root = read.and_then(|mut read| read.next_record::<RootRecord>());
        Ok(self.unless_damaged(root)?.flatten())
    }

    /// The leaves at these places of `root`; `None` where that is not the root any more, or a part of the directory was damaged.
    fn leaves(
        &self,
        root: &Loaded<Arc<RootRecord>>,
        places: &[usize],
    ) -> Result<Option<BTreeMap<usize, Arc<LeafRecord>>>, ServiceError> {
        let mut leaves = BTreeMap::new();
        for places in places.chunks(self.shape.leaves_per_read) {
            let references = places
                .iter()
                .filter_map(|place| Some((*place, root.record.leaves.get(*place)?)));
            let keys = references
                .clone()
                .map(|(_, reference)| leaf_key(reference.number));
            let keys = std::iter::once(ROOT_KEY.to_owned()).chain(keys);
            let read = self.cache.read(self.records.store(), keys);
            let Some(mut read) = self.unless_damaged(read)? else {
                return Ok(None);
            };
            let now = self.unless_damaged(read.next_record::<RootRecord>())?;
            if now.flatten().is_none_or(|now| now.version != root.version) {
                return Ok(None);
            }
            for (place, reference) in references {
                let leaf = read.next_record::<LeafRecord>().and_then(|leaf| {
                    leaf.map(|leaf| leaf.record)
                        .filter(|leaf| leaf.is(reference))
                        .ok_or(StorageError::Malformed)
                });
                let Some(leaf) = self.unless_damaged(leaf)? else {
                    return Ok(None);
                };
                leaves.insert(place, leaf);
            }
        }
        Ok(Some(leaves))
    }

    /// The part that was read; `None` where it is damaged. Then the directory is given up, together with the damaged entry, and will be
    /// built again.
    fn unless_damaged<T>(&self, read: Result<T, StorageError>) -> Result<Option<T>, ServiceError> {
        let mut transaction = Transaction::new();
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(StorageError::Store(StoreError::Corrupt(key))) if key != ROOT_KEY => {
                transaction.delete(key);
            }
            Err(StorageError::Store(StoreError::Corrupt(_)) | StorageError::Malformed) => {}
            Err(error) => return Err(error.into()),
        }
        // This has no check: if the directory is whole again already, it is built once more than necessary. The root is replaced rather
        // than deleted: a request that began to build when no root existed must not find the same state again.
        transaction.put(ROOT_KEY, &RootRecord::unbuilt())?;
        transaction.delete(PARTS_KEY);
        self.commit_unless_late(transaction)?;
        Ok(None)
    }

    /// Commits a change that another request may have made in the meantime: a conflict then leaves nothing to do.
    fn commit_unless_late(&self, transaction: Transaction) -> Result<(), ServiceError> {
        match self.records.commit(transaction) {
            Ok(()) | Err(TransactionError::Conflict(_)) => Ok(()),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
