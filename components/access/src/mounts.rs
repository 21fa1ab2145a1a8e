//! Mounts: the paths at which auth methods are enabled (contract 6.3).

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries};

use crate::api::{
    MountError, MountRequest, MountTuning, MountView, Mounts, ServiceError, TuneError,
};
use crate::generation::Generations;
use crate::mount_configuration::{configuration, tuned};
use crate::random;
use crate::records::{
    DISABLED_MOUNT_PREFIX, DisabledMountRecord, MOUNT_PREFIX, MOUNT_TABLE_KEY, MountRecord,
    MountTableRecord, TOKEN_MOUNT, disabled_mount_key, mount_key,
};
use crate::service::{AccessService, load_next};

/// The type of the cloud identity method.
pub(crate) const GCP_TYPE: &str = "gcp";
/// Most segments of a mount's path.
pub(crate) const MAXIMUM_MOUNT_SEGMENTS: usize = 12;

/// Longest mount path, in bytes.
const MAXIMUM_MOUNT_PATH_BYTES: usize = 256;
/// Longest mount path as part of a key, where escapes are three bytes each.
const MAXIMUM_MOUNT_KEY_BYTES: usize = 400;
/// Most mounts: all of them are listed at once, and looked at in background work.
const MAXIMUM_MOUNTS: usize = 1000;
/// Mounts read at a time.
const ROUND: u32 = 16;
/// Most disabled mounts in one answer.
const MAXIMUM_DISABLED: u32 = 1000;

/// The path with one trailing `/`.
pub(crate) fn normalize_path(path: &str) -> Result<String, MountError> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let usable = (1..=MAXIMUM_MOUNT_PATH_BYTES).contains(&path.len())
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && path.split('/').count() <= MAXIMUM_MOUNT_SEGMENTS
        && path
            .split('/')
            .all(|segment| !matches!(segment, "" | "." | ".."))
        && mount_key(path).len() <= MAXIMUM_MOUNT_KEY_BYTES;
    if usable {
        Ok(format!("{path}/"))
    } else {
        Err(MountError::InvalidPath)
    }
}

impl<S: Store, C: Clock, R: Random> Mounts for AccessService<S, C, R> {
    fn list_mounts(&self) -> Result<Vec<MountView>, ServiceError> {
        let mounts = self.mount_records()?.into_iter();
        let mut mounts: Vec<MountView> = mounts.map(|mount| mount.record.view()).collect();
        mounts.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        Ok(mounts)
    }

    fn read_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError> {
        let Ok(path) = normalize_path(path) else {
            return Ok(None);
        };
        let mount = self.records.get::<MountRecord>(&mount_key(&path))?;
        Ok(mount.map(|mount| mount.record.view()))
    }

    fn find_mount(&self, path: &str) -> Result<Option<MountView>, ServiceError> {
        let Ok(path) = normalize_path(path) else {
            return Ok(None);
        };
        let mount = self.first_mount_of(&path)?;
        Ok(mount.map(|mount| mount.view()))
    }

    fn enable_mount(&self, path: &str, request: &MountRequest) -> Result<(), MountError> {
        match request.mount_type.as_str() {
            "" => return Err(MountError::MissingType),
            GCP_TYPE => {}
            other => return Err(MountError::UnknownType(other.to_owned())),
        }
        let path = normalize_path(path)?;
        let mount = MountRecord {
            id: random::uuid(&self.random)?,
            accessor: format!("auth_{GCP_TYPE}_{}", random::eight_digits(&self.random)?),
            configuration: configuration(request)?,
            path,
            mount_type: request.mount_type.clone(),
            description: request.description.clone(),
            options: request.options.iter().cloned().collect::<BTreeMap<_, _>>(),
            local: request.local,
            seal_wrap: request.seal_wrap,
            external_entropy_access: request.external_entropy_access,
            generations: Generations::default(),
        };
        mount.require_bounded()?;
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = self.begin_mount_change()?;
            self.require_free(&mount.path)?;
            if self.mount_records()?.len() >= MAXIMUM_MOUNTS {
                return Err(MountError::TooManyMounts(MAXIMUM_MOUNTS as u32));
            }
            transaction.put(mount_key(&mount.path), &mount)?;
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    fn tune_mount(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        let path = normalize_path(path).map_err(|_| TuneError::NoMount)?;
        let key = mount_key(&path);
        commit_with_retries(&self.clock, &self.random, || {
            let loaded = self.records.get::<MountRecord>(&key)?;
            let loaded = loaded.ok_or(TuneError::NoMount)?;
            let mut tuned = tuned(&loaded.record, tuning)?;
            if tuning.description.is_none() {
                tuned.shorten_description();
            }
            if tuned == loaded.record {
                return Ok(Attempt::Done(()));
            }
            tuned.require_bounded()?;
            let mut transaction = Transaction::new();
            transaction
                .require(key.as_str(), loaded.version)
                .put(key.as_str(), &tuned)?;
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    fn disable_mount(&self, path: &str) -> Result<Option<String>, MountError> {
        let Ok(path) = normalize_path(path) else {
            return Ok(None);
        };
        if path == TOKEN_MOUNT {
            return Err(MountError::TokenMount);
        }
        let key = mount_key(&path);
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = self.begin_mount_change()?;
            let Some(mount) = self.records.get::<MountRecord>(&key)? else {
                return Ok(Attempt::Done(None));
            };
            let id = mount.record.id;
            transaction.delete(key.as_str()).put(
                disabled_mount_key(&id),
                &DisabledMountRecord { id: id.clone() },
            )?;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                Some(id),
            )?)
        })
    }

    fn list_disabled_mounts(&self, limit: u32) -> Result<Vec<String>, ServiceError> {
        let limit = limit.clamp(1, MAXIMUM_DISABLED);
        let page = self
            .records
            .store()
            .scan(DISABLED_MOUNT_PREFIX, None, limit)?;
        let mut ids = Vec::with_capacity(page.items.len());
        for item in page.items {
            let mount = Records::<S>::load::<DisabledMountRecord>(Some(item.entry))?;
            ids.extend(mount.map(|mount| mount.record.id));
        }
        Ok(ids)
    }

    fn forget_disabled_mount(&self, id: &str) -> Result<(), ServiceError> {
        // A text that was never the identifier of a mount is not a key either, however long it is.
        if id.len() != random::UUID_LENGTH {
            return Ok(());
        }
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            transaction.delete(disabled_mount_key(id));
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// All mounts as they are stored. Each is bounded, and so is their number; an earlier version bounded neither, so they are read a
    /// few at a time, and of a description that is too long the beginning counts.
    pub(crate) fn mount_records(&self) -> Result<Vec<Loaded<MountRecord>>, ServiceError> {
        let mut mounts: Vec<Loaded<MountRecord>> = Vec::new();
        let mut position = None;
        loop {
            let store = self.records.store();
            let page = store.scan(MOUNT_PREFIX, position.as_deref(), ROUND)?;
            position = page.items.last().map(|item| item.key.clone());
            for item in page.items {
                let mount = Records::<S>::load::<MountRecord>(Some(item.entry))?;
                mounts.extend(mount.map(|mut mount| {
                    mount.record.shorten_description();
                    mount
                }));
            }
            if !page.more {
                return Ok(mounts);
            }
        }
    }

    /// The mount at `path`, which ends in `/`, or above it: there is one at most.
    fn first_mount_of(&self, path: &str) -> Result<Option<MountRecord>, ServiceError> {
        let ends = path.match_indices('/');
        let keys: Vec<String> = ends
            .filter_map(|(at, _)| path.get(..at))
            .map(mount_key)
            .collect();
        let mut entries = self.read_all(keys.iter())?;
        for _ in &keys {
            if let Some(mount) = load_next::<S, MountRecord>(&mut entries)? {
                return Ok(Some(mount.record));
            }
        }
        Ok(None)
    }

    /// A transaction that conflicts with every other change of the set of mounts. It comes before the reads that it guards.
    pub(crate) fn begin_mount_change(&self) -> Result<Transaction, MountError> {
        self.hasher()?;
        let table = self.records.get::<MountTableRecord>(MOUNT_TABLE_KEY)?;
        let (changes, version) = match table {
            Some(table) => (table.record.changes, Some(table.version)),
            None => (0, None),
        };
        let mut transaction = Transaction::new();
        transaction
            .require_unchanged(MOUNT_TABLE_KEY, version)
            .put(
                MOUNT_TABLE_KEY,
                &MountTableRecord {
                    changes: changes.wrapping_add(1),
                },
            )?;
        Ok(transaction)
    }

    /// Refuses a path where it, an ancestor or a descendant is a mount.
    pub(crate) fn require_free(&self, path: &str) -> Result<(), MountError> {
        if let Some(taken) = self.first_mount_of(path)? {
            return Err(MountError::PathInUse(taken.path));
        }
        let below = format!("{}/", mount_key(path));
        let page = self
            .records
            .store()
            .scan(&below, None, 1)
            .map_err(ServiceError::from)?;
        match page.items.into_iter().next() {
            None => Ok(()),
            Some(item) => {
                let taken = Records::<S>::load::<MountRecord>(Some(item.entry))?;
                let path = taken.map_or_else(|| path.to_owned(), |taken| taken.record.path);
                Err(MountError::PathInUse(path))
            }
        }
    }
}
