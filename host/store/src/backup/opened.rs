//! The records of a backup, opened, for a store that seals them in its own way.

use std::io::{Read, Seek, SeekFrom};

use gatehouse_barrier::{Barrier, Keyring, RootKey};
use gatehouse_ports::{Change, Put};

use super::BackupError;
use super::format::Inventory;
use super::reading::{Reading, verify_backup};
use crate::Namespace;
use crate::backend::StoredEntry;
use crate::layout::KEYRING_KEY;
use crate::sealed::address;

/// The records of a backup that has been verified.
pub(crate) struct OpenedRecords<R, P> {
    reading: Reading<R>,
    inventory: Inventory,
    barrier: Barrier,
    progress: P,
}

impl<R: Read + Seek, P: FnMut(u64)> OpenedRecords<R, P> {
    /// Verifies the whole backup, which was made with `root_key`, and begins to read it again. `progress` is told how many bytes were read, up to
    /// twice the length of the file.
    pub(crate) fn begin(
        mut input: R,
        root_key: &RootKey,
        mut progress: P,
    ) -> Result<Self, BackupError> {
        let rewind = |input: &mut R| input.seek(SeekFrom::Start(0));
        rewind(&mut input).map_err(BackupError::Unreadable)?;
        let inventory = verify_backup(&mut input, Some(root_key), &mut progress)?;
        rewind(&mut input).map_err(BackupError::Unreadable)?;
        let mut reading = Reading::begin(input)?;
        // The keyring comes before all other records.
        let (_, first) = reading.records()?.ok_or(BackupError::Changed)?;
        let keyring = first.iter().find(|entry| entry.key == KEYRING_KEY);
        let keyring = Keyring::open(root_key, &keyring.ok_or(BackupError::Changed)?.value)?;
        Ok(Self {
            reading,
            inventory,
            barrier: Barrier::new(&keyring),
            progress,
        })
    }

    /// The next records, all of one namespace, as changes that store them; `None` after the last ones.
    pub(crate) fn next(&mut self) -> Result<Option<(Namespace, Vec<Change>)>, BackupError> {
        while let Some((namespace, entries)) = self.reading.records()? {
            (self.progress)(self.inventory.bytes.saturating_add(self.reading.at()));
            if namespace == Namespace::Keyring {
                continue;
            }
            let opened = entries.into_iter().map(|entry| self.open(namespace, entry));
            return Ok(Some((namespace, opened.collect::<Result<_, _>>()?)));
        }
        Ok(None)
    }

    /// The inventory, once all records were read.
    pub(crate) fn finish(self) -> Result<Inventory, BackupError> {
        let (again, _) = self.reading.finish()?;
        if again != self.inventory {
            return Err(BackupError::Changed);
        }
        Ok(again)
    }

    fn open(&self, namespace: Namespace, entry: StoredEntry) -> Result<Change, BackupError> {
        let StoredEntry { key, value, .. } = entry;
        let record = self.barrier.open(address(namespace, &key), value);
        let record = record.map_err(|_| BackupError::Unopenable)?;
        Ok(Change::Put(Put {
            key,
            value: record.value,
            expires_at: record.expires_at,
        }))
    }
}
