//! The content of the files as a snapshot, sealed by one keyring.

use gatehouse_barrier::{Barrier, Keyring, RootKey, SealError};
use gatehouse_ports::{OsRandom, StoreError, Version};

use super::Part;
use crate::backend::{Answer, SNAPSHOT_PAGE_ENTRIES};
use crate::layout::KEYRING_KEY;
use crate::sealed::address;
use crate::{BackupError, Namespace, SNAPSHOT_PAGE_BYTES, Snapshot, StoredEntry};

/// The records of all parts. They are opened by the adapter of their part and sealed for the backup, under a keyring that is made for it.
pub(super) struct SpinSnapshot {
    parts: Vec<(Namespace, Box<dyn Part>)>,
    sealed_keyring: Vec<u8>,
    barrier: Barrier,
}

impl SpinSnapshot {
    /// The snapshot of `parts`, whose keyring `root_key` seals.
    pub(super) fn new(
        parts: Vec<(Namespace, Box<dyn Part>)>,
        root_key: &RootKey,
    ) -> Result<Self, BackupError> {
        let keyring = Keyring::generate(&OsRandom)?;
        Ok(Self {
            parts,
            sealed_keyring: keyring.seal(root_key, &OsRandom)?,
            barrier: Barrier::new(&keyring),
        })
    }

    fn read(
        &self,
        namespace: Namespace,
        after: Option<&str>,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        if namespace == Namespace::Keyring {
            let keyring = StoredEntry {
                key: KEYRING_KEY.to_owned(),
                value: self.sealed_keyring.clone(),
                expires_at: None,
            };
            return Ok(after.is_none().then_some(keyring).into_iter().collect());
        }
        let part = self.parts.iter().find(|(known, _)| *known == namespace);
        let Some((_, part)) = part else {
            return Ok(Vec::new());
        };
        let most = u32::try_from(SNAPSHOT_PAGE_ENTRIES).unwrap_or(u32::MAX);
        let exported = part.export(after, most, SNAPSHOT_PAGE_BYTES)?;
        let sealed = exported.into_iter().map(|entry| {
            let place = address(namespace, &entry.key);
            let sealed = self
                .barrier
                .seal(place, &entry.value, entry.expires_at, &OsRandom);
            Ok(StoredEntry {
                value: sealed.map_err(unsealable)?,
                key: entry.key,
                expires_at: entry.expires_at,
            })
        });
        sealed.collect()
    }
}

impl Snapshot for SpinSnapshot {
    fn page<'a>(
        &'a mut self,
        namespace: Namespace,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<Vec<StoredEntry>, StoreError>> {
        // A command alone makes such a backup, so no other work waits for the disk.
        Box::pin(std::future::ready(self.read(namespace, after)))
    }

    /// Versions of the adapter are random, and no server holds records by them that the restored store could meet.
    fn last_version(&self) -> Version {
        0
    }
}

fn unsealable(error: SealError) -> StoreError {
    match error {
        SealError::Random(error) => StoreError::Unavailable(error.to_string()),
        SealError::TooLarge => StoreError::Invalid(error.to_string()),
    }
}
