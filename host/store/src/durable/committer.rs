//! The one thread that writes.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gatehouse_ports::rules::{has_expired, holds};
use gatehouse_ports::{CommitError, StoreError, Version};
use redb::{Database, ReadableTable as _, Table, WriteTransaction};
use tokio::sync::{mpsc, oneshot};

use super::file::{FileIdentity, OpenFile, StoreFile};
use super::gathering::Gathering;
use super::layout::{
    ENTRIES, EXPIRIES, Header, PlacedChange, PlacedCheck, STORE, VERSIONS_RESERVED, expiry_row,
    first_row_not_due, place_of_expiry_row,
};
use crate::rules::{SharedClock, purge_budget};

/// How many commits may wait; further callers wait for a place.
pub const QUEUE_LENGTH: usize = 1024;

/// How many commits share a transaction at most.
const BATCH_LENGTH: usize = 512;

/// How many versions are reserved at a time, so that most batches need not write the reservation.
const VERSIONS_AT_ONCE: u64 = 1 << 20;

/// How long commits are refused after a failure and the verification that follows it, so that a full disk does not make the file be verified
/// over and over. Tests do not wait for it.
const PAUSE_AFTER_FAILURE: Duration = if cfg!(test) {
    Duration::ZERO
} else {
    Duration::from_secs(1)
};

/// One commit that waits for its batch.
pub struct Request {
    /// The conditions that must hold.
    pub checks: Vec<PlacedCheck>,
    /// The changes to be made.
    pub changes: Vec<PlacedChange>,
    /// From here on all versions are to be greater than this.
    pub above: Option<Version>,
    /// Told the outcome once it is durable.
    pub answer: oneshot::Sender<Result<(), CommitError>>,
}

impl Request {
    /// A request for nothing.
    pub const fn empty(answer: oneshot::Sender<Result<(), CommitError>>) -> Self {
        Self {
            checks: Vec::new(),
            changes: Vec::new(),
            above: None,
            answer,
        }
    }
}

/// The open database, shared by readers and the committer; nothing while it is being reopened.
pub struct Shared(RwLock<Option<Database>>);

impl Shared {
    /// Lets `look` use the database.
    pub fn with<T>(
        &self,
        look: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or_else(|| {
            unavailable("the file failed and could not be opened again; the store keeps trying")
        })?;
        look(database)
    }

    /// Tells whether the file failed and could not be opened again.
    pub fn is_closed(&self) -> bool {
        let database = self.0.read().unwrap_or_else(PoisonError::into_inner);
        database.is_none()
    }

    fn replace(&self, database: Option<Database>) {
        let mut shared = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let former = mem::replace(&mut *shared, database);
        // Closing may write to the file, and readers are not to wait for that. After a panic in redb it may panic again.
        drop(shared);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(former)));
    }
}

/// An error of the store that says `message`.
pub fn unavailable(message: impl ToString) -> StoreError {
    StoreError::Unavailable(message.to_string())
}

/// Takes commits from a queue and applies those that wait together in one transaction, with one sync.
///
/// After any failure of the file nothing is acknowledged until the file was closed, opened and verified (SEC-S4).
pub struct Committer {
    requests: mpsc::Receiver<Request>,
    shared: Arc<Shared>,
    file: StoreFile,
    identity: FileIdentity,
    clock: SharedClock,
    last_version: u64,
    versions_reserved: u64,
    failed_at: Option<Instant>,
}

impl Committer {
    /// Starts a thread that commits to `file` until every sender is gone.
    pub fn start(
        file: StoreFile,
        opened: OpenFile,
        clock: SharedClock,
    ) -> io::Result<(mpsc::Sender<Request>, Arc<Shared>, JoinHandle<()>)> {
        let (sender, requests) = mpsc::channel(QUEUE_LENGTH);
        let shared = Arc::new(Shared(RwLock::new(Some(opened.database))));
        let committer = Self {
            requests,
            shared: shared.clone(),
            file,
            identity: opened.identity,
            clock,
            last_version: opened.versions_reserved,
            versions_reserved: opened.versions_reserved,
            failed_at: None,
        };
        let thread = thread::Builder::new()
            .name("store-committer".to_owned())
            .spawn(move || committer.run())?;
        Ok((sender, shared, thread))
    }

    fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH_LENGTH);
        let mut gathering = Gathering::default();
        while self.requests.blocking_recv_many(&mut batch, BATCH_LENGTH) > 0 {
            gathering.gather(batch.len(), BATCH_LENGTH, |time| {
                thread::sleep(time);
                self.take_waiting(&mut batch);
                batch.len()
            });
            match self.commit(&mut batch) {
                Ok(outcomes) => {
                    for (request, outcome) in batch.drain(..).zip(outcomes) {
                        // The caller may have gone away; the commit stands.
                        let _ = request.answer.send(outcome);
                    }
                }
                Err(error) => {
                    // Also those whose check failed: it failed against changes that are not durable.
                    for request in batch.drain(..) {
                        let _ = request.answer.send(Err(error.clone().into()));
                    }
                }
            }
        }
    }

    /// Adds what waits to the batch.
    fn take_waiting(&mut self, batch: &mut Vec<Request>) {
        while batch.len() < BATCH_LENGTH
            && let Ok(request) = self.requests.try_recv()
        {
            batch.push(request);
        }
    }

    /// Commits a batch, or fails it as a whole.
    fn commit(
        &mut self,
        batch: &mut [Request],
    ) -> Result<Vec<Result<(), CommitError>>, StoreError> {
        if let Some(failed_at) = self.failed_at {
            if failed_at.elapsed() < PAUSE_AFTER_FAILURE {
                return Err(unavailable("the file failed a moment ago"));
            }
            if self.shared.is_closed() {
                self.reopen()?;
            }
            self.failed_at = None;
        }
        let shared = self.shared.clone();
        let outcome = shared.with(|database| self.applied(database, batch));
        if outcome.is_err() {
            // Reopened at once, so that reads continue. If that fails, the next request after the pause tries again.
            let _ = self.reopen();
        }
        outcome
    }

    /// Closes the file, opens it again and verifies it. Without success it stays closed.
    fn reopen(&mut self) -> Result<(), StoreError> {
        self.shared.replace(None);
        let opened = self.file.open_again(self.identity);
        // The pause begins after the verification, which may take longer than the pause.
        self.failed_at = Some(Instant::now());
        let opened = opened.map_err(unavailable)?;
        self.versions_reserved = opened.versions_reserved;
        self.shared.replace(Some(opened.database));
        Ok(())
    }

    /// Applies a batch. redb panics over some damaged pages; that is a failure of the file as any other.
    fn applied(
        &mut self,
        database: &Database,
        batch: &mut [Request],
    ) -> Result<Vec<Result<(), CommitError>>, StoreError> {
        let applied = catch_unwind(AssertUnwindSafe(|| self.apply(database, batch)));
        match applied {
            Ok(applied) => applied.map_err(unavailable),
            Err(_) => Err(unavailable("a page of the file cannot be read")),
        }
    }

    fn apply(
        &mut self,
        database: &Database,
        batch: &mut [Request],
    ) -> Result<Vec<Result<(), CommitError>>, redb::Error> {
        let now = self.clock.now_milliseconds();
        let transaction = database.begin_write()?;
        let mut tables = Tables::open(&transaction)?;
        let mut outcomes = Vec::with_capacity(batch.len());
        let mut changes = 0;
        let mut skips = false;
        for Request {
            checks,
            changes: wanted,
            above,
            ..
        } in batch.iter_mut()
        {
            if let Some(above) = above {
                self.last_version = self.last_version.max(*above);
                skips = true;
            }
            if let Some(check) = tables.first_failed(checks, now)? {
                outcomes.push(Err(CommitError::Conflict(check.place.key())));
                continue;
            }
            self.last_version += 1;
            for change in wanted.iter_mut() {
                tables.apply(change, self.last_version)?;
            }
            changes += wanted.len();
            outcomes.push(Ok(()));
        }
        if changes == 0 && !skips {
            drop(tables);
            transaction.abort()?;
            return Ok(outcomes);
        }
        tables.purge(self.clock.certain_milliseconds(), purge_budget(changes))?;
        drop(tables);
        let mut reserved = self.versions_reserved;
        if self.last_version > reserved {
            reserved = self.last_version.saturating_add(VERSIONS_AT_ONCE);
            transaction
                .open_table(STORE)?
                .insert(VERSIONS_RESERVED, reserved)?;
        }
        transaction.commit()?;
        self.versions_reserved = reserved;
        Ok(outcomes)
    }
}

/// The tables of one write transaction.
struct Tables<'transaction> {
    entries: Table<'transaction, &'static [u8], &'static [u8]>,
    expiries: Table<'transaction, &'static [u8], ()>,
}

impl<'transaction> Tables<'transaction> {
    fn open(transaction: &'transaction WriteTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            entries: transaction.open_table(ENTRIES)?,
            expiries: transaction.open_table(EXPIRIES)?,
        })
    }

    fn first_failed<'a>(
        &self,
        checks: &'a [PlacedCheck],
        now: u64,
    ) -> Result<Option<&'a PlacedCheck>, redb::Error> {
        for check in checks {
            let stored = self.entries.get(check.place.as_bytes())?;
            let live = stored
                .and_then(|stored| header(stored.value()))
                .filter(|header| !has_expired(header.expires_at, now))
                .map(|header| header.version);
            if !holds(check.requirement, live) {
                return Ok(Some(check));
            }
        }
        Ok(None)
    }

    fn apply(&mut self, change: &mut PlacedChange, version: Version) -> Result<(), redb::Error> {
        let place = change.place.as_bytes();
        let end = change.entry.as_ref().and_then(|entry| entry.expires_at);
        let replaced = match &mut change.entry {
            Some(entry) => self.entries.insert(place, entry.at_version(version))?,
            None => self.entries.remove(place)?,
        };
        let replaced_end = replaced
            .and_then(|replaced| header(replaced.value()))
            .and_then(|header| header.expires_at);
        if replaced_end == end {
            return Ok(());
        }
        if let Some(end) = replaced_end {
            self.expiries.remove(expiry_row(end, place).as_slice())?;
        }
        if let Some(end) = end {
            self.expiries
                .insert(expiry_row(end, place).as_slice(), ())?;
        }
        Ok(())
    }

    /// Drops up to `budget` entries whose time has come.
    fn purge(&mut self, now: u64, budget: usize) -> Result<(), redb::Error> {
        let end = first_row_not_due(now);
        let due = self
            .expiries
            .range::<&[u8]>(..end.as_slice())?
            .take(budget)
            .map(|row| Ok(row?.0.value().to_vec()))
            .collect::<Result<Vec<_>, redb::StorageError>>()?;
        for row in due {
            self.entries.remove(place_of_expiry_row(&row))?;
            self.expiries.remove(row.as_slice())?;
        }
        Ok(())
    }
}

fn header(stored: &[u8]) -> Option<Header> {
    Header::split(stored).map(|(header, _)| header)
}
