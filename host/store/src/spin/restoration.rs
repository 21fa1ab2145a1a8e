//! Putting a backup into a new store of an installation.

use std::io::{Read, Seek};

use gatehouse_ports::{Change, CommitError, Store};

#[cfg(feature = "postgresql")]
use super::database::{FilledDatabase, FreeDatabase};
use super::fresh::{FreePlaces, FreshFiles};
use super::{Part, SpinError, SpinPlace};
use crate::backup::OpenedRecords;
use crate::{BackupError, Inventory, Namespace, RootKey};

/// Most records of one commit.
const RECORDS_PER_COMMIT: usize = 256;

/// A store into which a backup has been put, and which counts from [`Self::finish`] on: Spin finds nothing of it before. One that does not get
/// there leaves nothing.
pub struct SpinRestoration {
    store: NewStore,
    inventory: Inventory,
}

/// A place that has been looked at, and is free.
enum Free<'p> {
    Files(FreePlaces<'p>),
    #[cfg(feature = "postgresql")]
    Database(FreeDatabase),
}

/// The new store that is made there.
enum NewStore {
    Files(FreshFiles),
    #[cfg(feature = "postgresql")]
    Database(FilledDatabase),
}

impl SpinRestoration {
    /// Reads the backup twice, first to verify all of it, then to put its records into new files or an empty database, sealed under `seal_key`.
    /// `root_key` is the key that the backup was made with. `progress` is told how many bytes were read, up to twice the length of the file.
    /// Records of the server itself, which Spin has no use for, are left out.
    ///
    /// # Errors
    ///
    /// When the backup does not verify, or there is a store already; nothing was written then. When a write fails: the next restore begins
    /// anew.
    pub fn begin(
        mut input: impl Read + Seek,
        place: &SpinPlace,
        root_key: &RootKey,
        seal_key: &RootKey,
        progress: impl FnMut(u64),
    ) -> Result<Self, SpinError> {
        let free = Free::look(place)?;
        let mut records = OpenedRecords::begin(&mut input, root_key, progress)?;
        let store = free.make(seal_key)?;
        while let Some((namespace, changes)) = records.next()? {
            if let Some(part) = store.part(namespace) {
                put(part, changes)?;
            }
        }
        Ok(Self {
            store,
            inventory: records.finish()?,
        })
    }

    /// The records of a capability, for what is to be changed before they count. `None` for a part of the store that Spin has none of.
    #[must_use]
    pub fn part(&self, namespace: Namespace) -> Option<&dyn Store> {
        let part: &dyn Store = self.store.part(namespace)?;
        Some(part)
    }

    /// Has the store count, whole and on disk.
    ///
    /// # Errors
    ///
    /// When that cannot be written, or another program has made such a store meanwhile. The next restore begins anew.
    pub fn finish(self) -> Result<Inventory, SpinError> {
        match self.store {
            NewStore::Files(files) => files.finish()?,
            #[cfg(feature = "postgresql")]
            NewStore::Database(database) => database.finish()?,
        }
        Ok(self.inventory)
    }
}

impl<'p> Free<'p> {
    fn look(place: &'p SpinPlace) -> Result<Self, SpinError> {
        Ok(match place {
            SpinPlace::Files(files) => Self::Files(FreePlaces::look(files)?),
            #[cfg(feature = "postgresql")]
            SpinPlace::Database(database) => Self::Database(database.look()?),
        })
    }

    fn make(self, seal_key: &RootKey) -> Result<NewStore, SpinError> {
        Ok(match self {
            Self::Files(files) => NewStore::Files(files.make(seal_key)?),
            #[cfg(feature = "postgresql")]
            Self::Database(database) => NewStore::Database(database.fill(seal_key)?),
        })
    }
}

impl NewStore {
    fn part(&self, namespace: Namespace) -> Option<&dyn Part> {
        match self {
            Self::Files(files) => files.part(namespace),
            #[cfg(feature = "postgresql")]
            Self::Database(database) => database.part(namespace),
        }
    }
}

fn put(part: &dyn Part, mut changes: Vec<Change>) -> Result<(), SpinError> {
    while !changes.is_empty() {
        let rest = changes.split_off(changes.len().min(RECORDS_PER_COMMIT));
        let some = std::mem::replace(&mut changes, rest);
        part.commit(Vec::new(), some).map_err(|error| match error {
            CommitError::Failed(error) => SpinError::Store(error),
            CommitError::Conflict(_) => BackupError::Contended.into(),
        })?;
    }
    Ok(())
}
