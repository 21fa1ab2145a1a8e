//! Putting a backup into an empty store.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use gatehouse_barrier::{Barrier, Keyring, RootKey, Sharing};
use gatehouse_ports::{
    Change, Check, CommitError, OsRandom, Put, Random as _, Requirement, Version,
};

use super::BackupError;
use super::format::Inventory;
use super::reading::{Reading, verify_backup};
use super::under_way::{UNDER_WAY_KEY, guard, under_way};
use crate::backend::StoredEntry;
use crate::generation::GenerationRecord;
use crate::layout::{GENERATION_KEY, KEYRING_KEY, SEAL_KEY, put, unsealable};
use crate::rules::SharedClock;
use crate::sealed::NOT_READ;
use crate::shares::SealRecord;
use crate::{Backend, Generation, Namespace, SealedBackend, UnsealError, init_marker};

/// Layout of the mark: nothing but this byte.
const MARK: u8 = 1;

/// Most records of one commit.
const RECORDS_PER_COMMIT: usize = 500;

/// Versions that are left out at least: more than the lost store can have given since the backup, at thousands a second for years. As many
/// more are left out at random, so that two restores of one backup do not give the same ones either.
const VERSIONS_LEFT_OUT: u64 = 1 << 40;

/// How the key of a restored store is kept.
pub enum RestoredSeal<'a> {
    /// By the same key in the same way as when the backup was made.
    AsItWas,
    /// By this key, which is not split.
    Whole(&'a RootKey),
    /// By this key, which was split so.
    Split(&'a RootKey, Sharing),
}

/// A store into which a backup has been put, and which does not count before [`Self::finish`].
///
/// From the first record to that call a mark is in the store and its keyring is not: no server starts with it, and no other command opens
/// it. A restore that was given up half-way is emptied when another one begins.
///
/// Versions that the lost store gave after the backup are not given again: a host that still holds one of its records by version, as another
/// server would, is not told that it has not changed.
pub struct Restoration<B> {
    store: Arc<SealedBackend<B>>,
    inventory: Inventory,
    keyring: Keyring,
    /// The entries beside the keyring of the store that the backup was made of.
    beside: Vec<StoredEntry>,
    mark: Version,
}

impl<B: Backend> Restoration<B> {
    /// Reads the backup twice, first to verify all of it, then to put its records into `backend`, which is empty or holds what an earlier
    /// restore has left. `root_key` is the key that the backup was made with. `progress` is told how many bytes were read, up to twice the
    /// length of the file.
    ///
    /// No other server or command may use the backend. Records expire by `clock`.
    ///
    /// # Errors
    ///
    /// When the backup does not verify or the backend is not empty; nothing was written then. When a write fails, or the file changes: the
    /// store stays unfinished.
    pub async fn begin(
        mut input: impl Read + Seek + Send,
        backend: B,
        clock: SharedClock,
        root_key: &RootKey,
        mut progress: impl FnMut(u64) + Send,
    ) -> Result<Self, BackupError> {
        input.rewind().map_err(BackupError::Unreadable)?;
        let inventory = verify_backup(&mut input, Some(root_key), &mut progress)?;
        let above = first_free_version(inventory.summary.last_version)?;

        let store = Arc::new(SealedBackend::new(backend, clock));
        let mark = set_mark(&store).await?;
        store.backend().skip_versions(above).await?;
        input
            .seek(SeekFrom::Start(0))
            .map_err(BackupError::Unreadable)?;
        let mut reading = Reading::begin(input)?;
        let mut beside = Vec::new();
        while let Some((namespace, entries)) = reading.records()? {
            progress(inventory.bytes.saturating_add(reading.at()));
            if namespace == Namespace::Keyring {
                beside.extend(entries);
                continue;
            }
            store_records(store.backend(), mark, namespace, entries).await?;
        }
        let (again, _) = reading.finish()?;
        if again != inventory {
            return Err(BackupError::Changed);
        }
        progress(inventory.bytes.saturating_mul(2));
        let keyring = beside.iter().find(|entry| entry.key == KEYRING_KEY);
        let keyring = keyring.ok_or(BackupError::Changed)?;
        let keyring = Keyring::open(root_key, &keyring.value)?;
        // No other server or command has the store, so there is no version to hold on to.
        store.install(&keyring, root_key, NOT_READ);
        Ok(Self {
            store,
            inventory,
            keyring,
            beside,
            mark,
        })
    }

    /// The store, open to this caller alone: for what is to be changed before it counts.
    #[must_use]
    pub fn store(&self) -> Arc<SealedBackend<B>> {
        Arc::clone(&self.store)
    }

    /// How far the backup had been counted for a witness; `None` if it never was.
    ///
    /// # Errors
    ///
    /// When that record is not of its keyring.
    pub fn generation(&self) -> Result<Option<Generation>, BackupError> {
        let Some(entry) = self.beside.iter().find(|entry| entry.key == GENERATION_KEY) else {
            return Ok(None);
        };
        let record = GenerationRecord::read(&entry.value);
        let record = record.filter(|record| record.is_of(&Barrier::new(&self.keyring)));
        let record = record.ok_or(UnsealError::AlteredSeal)?;
        Ok(Some(record.generation))
    }

    /// Makes the store count, durably and in one commit: sealed as `seal` says, and counted as `generation` says where there is one. It is
    /// closed then.
    ///
    /// # Errors
    ///
    /// When that cannot be stored, or others have changed the store.
    pub async fn finish(
        self,
        seal: RestoredSeal<'_>,
        generation: Option<Generation>,
    ) -> Result<Inventory, BackupError> {
        let barrier = Barrier::new(&self.keyring);
        let mut changes = vec![Change::Delete(UNDER_WAY_KEY.to_owned())];
        for entry in self.beside {
            match (entry.key.as_str(), &seal) {
                (KEYRING_KEY | SEAL_KEY, RestoredSeal::Whole(_) | RestoredSeal::Split(..)) => {}
                (GENERATION_KEY, _) if generation.is_some() => {}
                _ => changes.push(put(&entry.key, entry.value)),
            }
        }
        match seal {
            RestoredSeal::AsItWas => {}
            RestoredSeal::Whole(root_key) => {
                changes.push(put(KEYRING_KEY, self.keyring.seal(root_key, &OsRandom)?));
            }
            RestoredSeal::Split(root_key, sharing) => {
                let record = SealRecord::new(&self.keyring, sharing).map_err(unsealable)?;
                changes.push(put(KEYRING_KEY, self.keyring.seal(root_key, &OsRandom)?));
                changes.push(put(SEAL_KEY, record.write()));
            }
        }
        if let Some(generation) = generation {
            let record = GenerationRecord::seal(&barrier, generation)?;
            changes.push(put(GENERATION_KEY, record.write()));
        }
        let checks = vec![
            absent(KEYRING_KEY),
            Check {
                key: UNDER_WAY_KEY.to_owned(),
                requirement: Requirement::AtVersion(self.mark),
            },
        ];
        commit(self.store.backend(), checks, changes).await?;
        self.store.seal();
        Ok(self.inventory)
    }
}

/// Takes an empty backend, or one that an earlier restore has left, which is emptied. Answers the version of the mark.
async fn set_mark<B: Backend>(store: &SealedBackend<B>) -> Result<Version, BackupError> {
    let backend = store.backend();
    init_marker::settle(backend).await?;
    let earlier = under_way(backend).await?;
    if earlier.is_none() && !store.is_empty().await? {
        return Err(BackupError::NotEmpty);
    }
    let requirement = earlier.map_or(Requirement::Absent, Requirement::AtVersion);
    let checks = vec![
        absent(KEYRING_KEY),
        Check {
            key: UNDER_WAY_KEY.to_owned(),
            requirement,
        },
    ];
    commit(backend, checks, vec![put(UNDER_WAY_KEY, vec![MARK])]).await?;
    let mark = under_way(backend).await?.ok_or(BackupError::Contended)?;
    if earlier.is_some() {
        init_marker::wipe(backend, &guard(mark)).await?;
    }
    Ok(mark)
}

async fn store_records(
    backend: &impl Backend,
    mark: Version,
    namespace: Namespace,
    entries: Vec<StoredEntry>,
) -> Result<(), BackupError> {
    let mut changes = entries.into_iter().map(|entry| {
        Change::Put(Put {
            key: entry.key,
            value: entry.value,
            expires_at: entry.expires_at,
        })
    });
    loop {
        let some: Vec<Change> = changes.by_ref().take(RECORDS_PER_COMMIT).collect();
        if some.is_empty() {
            return Ok(());
        }
        let commit = backend.commit_under(guard(mark), namespace, Vec::new(), some);
        match commit.await {
            Ok(()) => {}
            Err(CommitError::Conflict(_)) => return Err(BackupError::Contended),
            Err(CommitError::Failed(error)) => return Err(error.into()),
        }
    }
}

/// A commit beside the keyring.
async fn commit(
    backend: &impl Backend,
    checks: Vec<Check>,
    changes: Vec<Change>,
) -> Result<(), BackupError> {
    match backend.commit(Namespace::Keyring, checks, changes).await {
        Ok(()) => Ok(()),
        Err(CommitError::Conflict(_)) => Err(BackupError::Contended),
        Err(CommitError::Failed(error)) => Err(error.into()),
    }
}

fn absent(key: &str) -> Check {
    Check {
        key: key.to_owned(),
        requirement: Requirement::Absent,
    }
}

/// The version above which the restored store gives its own.
fn first_free_version(last: u64) -> Result<Version, BackupError> {
    let mut random = [0; size_of::<u64>()];
    OsRandom.fill(&mut random)?;
    let random = u64::from_le_bytes(random) % VERSIONS_LEFT_OUT;
    let above = last
        .checked_add(VERSIONS_LEFT_OUT)
        .and_then(|above| above.checked_add(random))
        // Backends count with a sign.
        .filter(|above| i64::try_from(*above).is_ok());
    above.ok_or(BackupError::VersionsUsedUp)
}
