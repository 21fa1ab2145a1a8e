//! The durable backend: one file, kept by redb.

mod committer;
#[cfg(test)]
mod faults;
mod file;
mod gathering;
mod layout;
mod paged_file;
mod snapshot;

use std::fmt;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use gatehouse_ports::rules::{PageBuilder, has_expired};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Put, StoreError, Version,
};
use redb::{Database, ReadOnlyTable, ReadableDatabase as _, StorageError};
use tokio::sync::{mpsc, oneshot};

pub use file::OpenError;

use crate::rules::SharedClock;
use crate::{Answer, Backend, Guard, Namespace, Snapshot};
use committer::{Committer, Request, Shared, unavailable};
use file::StoreFile;
use layout::{ENTRIES, EntryKey, Header, PendingEntry, PlacedChange, PlacedCheck, key_of};
use snapshot::FileSnapshot;

/// Entries in one file, durable by the time a commit is acknowledged.
///
/// One thread writes: it takes all commits that wait, decides their checks in the order of their arrival, each seeing the
/// effects of those before it, and makes them durable together by one transaction with one sync. Reads run on the caller's
/// thread, see the last durable state, and never wait for the writer.
///
/// At most 1024 commits wait; further callers wait for a place without holding a thread. When the file fails, all commits of
/// the batch fail with [`StoreError::Unavailable`] and their outcome is unknown; the file is then closed, opened again and
/// verified before anything else is acknowledged (SEC-S4). Reads go on once it is open.
///
/// The file has mode 0600 when it is created. Dropping the backend waits for the commits under way and closes the file.
pub struct RedbBackend {
    requests: Option<mpsc::Sender<Request>>,
    shared: Arc<Shared>,
    clock: SharedClock,
    thread: Option<JoinHandle<()>>,
}

impl RedbBackend {
    /// Opens the file at `path` and verifies all of it, or creates it in an existing directory. Entries expire by `clock`.
    ///
    /// Blocks until that is done; it takes time in proportion to the size of the file.
    ///
    /// # Errors
    ///
    /// When the file is in use, damaged, newer than this code, or cannot be reached.
    pub fn open(path: &Path, clock: SharedClock) -> Result<Self, OpenError> {
        Self::open_file(StoreFile::new(path), clock)
    }

    fn open_file(file: StoreFile, clock: SharedClock) -> Result<Self, OpenError> {
        let opened = file.open()?;
        let path = file.path().to_owned();
        let (requests, shared, thread) = Committer::start(file, opened, clock.clone())
            .map_err(|source| OpenError::Inaccessible { path, source })?;
        Ok(Self {
            requests: Some(requests),
            shared,
            clock,
            thread: Some(thread),
        })
    }

    fn read<T>(
        &self,
        look: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.shared.is_closed()
            && let Some(requests) = &self.requests
        {
            // Without commits the file would stay closed; an empty one makes the committer try.
            let (answer, _) = oneshot::channel();
            let _ = requests.try_send(Request::empty(answer));
        }
        self.shared.with(look)
    }

    /// Hands a request to the committer and waits for what became of it.
    async fn ask(
        &self,
        request: Request,
        outcome: oneshot::Receiver<Result<(), CommitError>>,
    ) -> Result<(), CommitError> {
        let stopped = || unavailable("the thread that commits has stopped");
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(request).await.map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }

    fn get_changed_now(
        &self,
        namespace: Namespace,
        keys: &[HeldKey],
    ) -> Result<Vec<Difference>, StoreError> {
        let now = self.clock.now_milliseconds();
        self.read(|database| {
            let entries = entries(database)?;
            let read = |held: &HeldKey| {
                let corrupt = || StoreError::Corrupt(held.key.clone());
                let place = EntryKey::new(namespace, &held.key);
                let stored = entries.get(place.as_bytes());
                let stored = stored.map_err(|error| match error {
                    StorageError::Corrupted(_) => corrupt(),
                    other => unavailable(other),
                })?;
                let Some(stored) = stored else {
                    return Ok(Difference::Absent);
                };
                let (header, value) = Header::split(stored.value()).ok_or_else(corrupt)?;
                Ok(if has_expired(header.expires_at, now) {
                    Difference::Absent
                } else if held.version == Some(header.version) {
                    Difference::Unchanged
                } else {
                    Difference::Changed(entry(header, value))
                })
            };
            keys.iter().map(read).collect()
        })
    }

    /// Hands a commit to the thread that commits, and answers what comes of it.
    fn commit_placed(
        &self,
        namespace: Namespace,
        checks: Vec<PlacedCheck>,
        changes: &[Change],
    ) -> impl Future<Output = Result<(), CommitError>> + Send + use<'_> {
        let place_change = |change| place_change(namespace, change);
        let (answer, outcome) = oneshot::channel();
        let request = Request {
            checks,
            changes: changes.iter().map(place_change).collect(),
            ..Request::empty(answer)
        };
        self.ask(request, outcome)
    }

    fn scan_now(
        &self,
        namespace: Namespace,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let now = self.clock.now_milliseconds();
        let prefix_place = EntryKey::new(namespace, prefix);
        let after = after.filter(|after| *after >= prefix);
        let after_place = after.map(|after| EntryKey::new(namespace, after));
        let start = match &after_place {
            Some(place) => Bound::Excluded(place.as_bytes()),
            None => Bound::Included(prefix_place.as_bytes()),
        };
        self.read(|database| {
            let entries = entries(database)?;
            let mut page = PageBuilder::new(limit);
            let rows = entries.range::<&[u8]>((start, Bound::Unbounded));
            for row in rows.map_err(unavailable)? {
                let (place, stored) = row.map_err(unavailable)?;
                if !place.value().starts_with(prefix_place.as_bytes()) {
                    break;
                }
                let key = key_of(place.value());
                let Some((header, value)) = Header::split(stored.value()) else {
                    return Err(StoreError::Corrupt(key));
                };
                if has_expired(header.expires_at, now) {
                    continue;
                }
                if !page.has_room(key.len() + value.len()) {
                    break;
                }
                page.push(key, entry(header, value));
            }
            Ok(page.finish())
        })
    }
}

fn entries(database: &Database) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>, StoreError> {
    let transaction = database.begin_read().map_err(unavailable)?;
    transaction.open_table(ENTRIES).map_err(unavailable)
}

fn entry(header: Header, value: &[u8]) -> Entry {
    Entry {
        value: value.to_vec(),
        version: header.version,
    }
}

fn place_checks(
    namespace: Namespace,
    checks: &[Check],
) -> impl Iterator<Item = PlacedCheck> + use<'_> {
    checks
        .iter()
        .map(move |check| place_check(namespace, check))
}

fn place_check(namespace: Namespace, check: &Check) -> PlacedCheck {
    PlacedCheck {
        place: EntryKey::new(namespace, &check.key),
        requirement: check.requirement,
    }
}

fn place_change(namespace: Namespace, change: &Change) -> PlacedChange {
    let entry = match change {
        Change::Delete(_) => None,
        Change::Put(Put {
            value, expires_at, ..
        }) => Some(PendingEntry::new(value, *expires_at)),
    };
    PlacedChange {
        place: EntryKey::new(namespace, change.key()),
        entry,
    }
}

impl Backend for RedbBackend {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move { self.get_changed_now(namespace, keys) })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(async move { self.scan_now(namespace, prefix, after, limit) })
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        let checks = place_checks(namespace, &checks).collect();
        Box::pin(self.commit_placed(namespace, checks, &changes))
    }

    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        // The first that fails is told, so the guard comes last: its key may be that of another check.
        let placed = place_checks(namespace, &checks);
        let placed = placed.chain([place_check(Namespace::Keyring, &guard.check())]);
        let commit = self.commit_placed(namespace, placed.collect(), &changes);
        Box::pin(async move {
            match commit.await {
                Err(CommitError::Conflict(key)) if !checks.iter().any(|check| check.key == key) => {
                    Err(Guard::lost())
                }
                outcome => outcome,
            }
        })
    }

    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        Box::pin(async move {
            let held = Arc::clone(&self.shared);
            let snapshot = self.read(|database| FileSnapshot::take(database, held))?;
            Ok(Box::new(snapshot) as Box<dyn Snapshot>)
        })
    }

    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        let (answer, outcome) = oneshot::channel();
        let request = Request {
            above: Some(version),
            ..Request::empty(answer)
        };
        Box::pin(async move {
            match self.ask(request, outcome).await {
                Ok(()) => Ok(()),
                Err(CommitError::Failed(error)) => Err(error),
                // There was nothing to conflict with.
                Err(CommitError::Conflict(_)) => Err(unavailable("versions were not skipped")),
            }
        })
    }
}

impl Drop for RedbBackend {
    fn drop(&mut self) {
        // Without a sender left the thread finishes what is queued and ends.
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for RedbBackend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedbBackend")
            .finish_non_exhaustive()
    }
}
