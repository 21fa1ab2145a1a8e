//! The directory: which organizations there are, small enough to be looked through for every list.
//!
//! It holds the name and the e-mail address of every organization, and what bars it from lists, in *leaves* of some hundred,
//! sorted, with a *root* that tells where each begins and how many names are in it. So a page is found by adding up. A search asks the
//! [index of parts](parts) which few organizations to look at; where that cannot tell, it reads packed texts in place of organizations.
//!
//! **Writing.** A commit that makes, renames, readdresses, disables or removes an organization also writes its new state under the
//! organization's own name ([`note`]), which cannot conflict with a change of another organization. What is
//! *pending* in this way overrides the leaves. Once [some dozens](Shape::pending) of changes are pending, the last writer
//! moves them into the leaves; fewer wait for the next round of upkeep. Each such commit replaces the root; as nothing waits for
//! it, the second of two at once is given up. It also enters the same into the index of parts.
//!
//! **Reading.** What is pending is read first, then root and leaves at one moment: whatever a finished request has written is in
//! the former or in the latter. An organization that is being changed meanwhile may be told as it was.
//!
//! **Truth.** Organizations alone say what is true. A directory that is not there, as in a store that is older than it, or that
//! is damaged, is built from them: in steps, each a commit that the next request goes on from.
//!
//! The root is one record of some 40 bytes for each leaf, and a store takes 1 MiB in one: enough for four million organizations.

mod column;
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
    /// Most names in one leaf.
    pub leaf: usize,
    /// How many names go into a leaf that is built. There is room for more, lest the next one splits it.
    pub built_leaf: usize,
    /// How many changes may be pending. Every reader reads them; moving as many at once is what a writer now and then does.
    pub pending: u32,
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
        leaf: 256,
        built_leaf: 192,
        pending: 64,
        step: MAXIMUM_SCAN_LIMIT,
        leaves_per_read: 128,
        leaves_per_batch: 64,
        parts: PartsShape::USUAL,
    };
}

/// Bytes of stored leaves that an instance keeps decoded: those of some 130,000 organizations. Beyond that a search reads them
/// all again.
pub const CACHED_BYTES: usize = 8 * 1024 * 1024;

/// An organization, and the name it is stored under.
pub type NamedRecord<'a> = (&'a FoldedName, &'a OrganizationRecord);

/// Adds to `transaction`, which makes `after` of `before`, what the directory has to know about it: nothing, unless something
/// that lists depend on is different. `None` stands for no organization.
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

    /// The leaves at the places that `choose` names, with all that is pending.
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

    /// The pending changes; `None` where that was damaged, and is to be read again.
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

    /// The root as it is; `None` where there is none, or no longer, for it was damaged.
    fn root(&self) -> Result<Option<Loaded<Arc<RootRecord>>>, ServiceError> {
        let read = self.cache.read(self.records.store(), [ROOT_KEY.to_owned()]);
        let root = read.and_then(|mut read| read.next_record::<RootRecord>());
        Ok(self.unless_damaged(root)?.flatten())
    }

    /// The leaves at these places of `root`; `None` where that is not the root any more.
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

    /// The part that was read; `None` where it is damaged. Then the directory is given up, and with it what is damaged in it, and will be
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
        // Without a check: if it is whole again already, it is built once more than necessary. And not by deleting the root: whoever
        // began to build when there was none yet must not take that for the same moment.
        transaction.put(ROOT_KEY, &RootRecord::unbuilt())?;
        transaction.delete(PARTS_KEY);
        self.commit_unless_late(transaction)?;
        Ok(None)
    }

    /// Commits what others may have done in the meantime: then nothing needs to be done.
    fn commit_unless_late(&self, transaction: Transaction) -> Result<(), ServiceError> {
        match self.records.commit(transaction) {
            Ok(()) | Err(TransactionError::Conflict(_)) => Ok(()),
            Err(TransactionError::Storage(error)) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
