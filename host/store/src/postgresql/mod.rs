//! The backend on a PostgreSQL server.

mod address;
mod commit;
mod confirmation;
mod error;
mod gathering;
mod holder;
mod purge;
mod reach;
mod remedy;
mod roster;
mod schema;
mod session;
mod snapshot;
mod statements;
mod tls;
mod versions;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gatehouse_ports::rules::{PAGE_BYTES, PageBuilder, pause};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, OsRandom, Page, StoreError, Version,
};
use tokio::runtime::Handle;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub use address::PostgresSettings;
pub use error::PostgresError;
pub use gathering::Gathering;
pub use roster::PostgresRoster;
pub use schema::Migrated;
pub use session::Server;

pub(crate) use address::Address;
pub(crate) use session::Session;

use crate::rules::SharedClock;
use crate::{Answer, Backend, Guard, Namespace, Snapshot};
use commit::Commit;
use confirmation::Confirmation;
use error::{Failure, describe};
use gathering::{Gathered, Wanted};
use holder::{Epoch, Hold, Holder};
use purge::SincePurge;
use reach::Reach;
use session::{Connections, Parameters};
use snapshot::TransactionSnapshot;
use statements::{ABANDON, COMMIT, COMMIT_UNDER, RESERVE_VERSIONS, SCAN, WAS_ABANDONED};
use versions::{VERSIONS_AT_ONCE, Versions};

/// From a call to its answer, whatever the database does (SEC-S8).
const CALL_TIME: Duration = Duration::from_millis(1900);
/// The longest that a statement is waited for: more than the second after which the server gives it up, so that there mostly is an answer.
const STATEMENT_TIME: Duration = Duration::from_millis(1200);
/// How often a statement is tried that others got in the way of.
const ATTEMPTS: u32 = 24;
/// The first bound of the pause before it is tried again.
const PAUSE: Duration = Duration::from_millis(1);
/// The end of all keys: the first character that none of them may hold.
const AFTER_ALL_KEYS: char = '\u{7f}';

/// Entries in a database that speaks PostgreSQL's protocol.
///
/// Every call is one statement, and reads that are asked for at one time share one. A commit waits for those that touch its keys, so reads and commits of all servers have one order. A
/// statement that others got in the way of is tried again, a bounded number of times. When a connection is lost in a commit, its outcome is found out,
/// or it is made sure that it has none; only if the database cannot be reached for that either is a commit's outcome unknown.
///
/// A call is answered within two seconds. One that is dropped goes on by itself. Calls may come from outside of the runtime in which the
/// backend was opened, for as long as that runs.
pub struct PostgresBackend {
    shared: Arc<Shared>,
    runtime: Handle,
    address: Address,
    server: Server,
    hold: Option<Hold>,
    holder: Option<Holder>,
}

struct Shared {
    connections: Connections,
    clock: SharedClock,
    versions: Versions,
    epoch: Arc<Epoch>,
    gathered: Gathered,
    reach: Reach,
    confirmation: Arc<Confirmation>,
    /// Held by the commit to the keyring that is under way: they are applied in the order of their calls, so that one comes after all that
    /// were dropped.
    keyring: tokio::sync::Mutex<()>,
    since_purge: Mutex<SincePurge>,
    is_purging: AtomicBool,
}

impl PostgresBackend {
    /// Connects to the database, looks at how it is run and at its tables. Entries expire by `clock`.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached or relied upon, or its tables are not those of this version.
    pub async fn open(
        settings: &PostgresSettings,
        clock: SharedClock,
    ) -> Result<Self, PostgresError> {
        Self::open_gathering(settings, clock, Gathering::default()).await
    }

    /// The same, with other bounds for the reads that share a statement than servers have: for measurements of what sharing is worth.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub async fn open_gathering(
        settings: &PostgresSettings,
        clock: SharedClock,
        gathering: Gathering,
    ) -> Result<Self, PostgresError> {
        let address = Address::read(settings)?;
        let (session, server) = Session::open(&address).await?;
        schema::check(&session.client).await?;
        let confirmation = Arc::<Confirmation>::default();
        let shared = Shared {
            connections: Connections::new(
                &address,
                settings.connections,
                Arc::clone(&confirmation),
            )?,
            clock,
            versions: Versions::default(),
            epoch: Arc::default(),
            gathered: Gathered::new(gathering, settings.connections),
            reach: Reach::default(),
            confirmation,
            keyring: tokio::sync::Mutex::default(),
            since_purge: Mutex::new(SincePurge {
                began: Instant::now(),
                changes: 0,
            }),
            is_purging: AtomicBool::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            runtime: Handle::current(),
            address,
            server,
            hold: None,
            holder: None,
        })
    }

    /// The same, for one of several servers that use the database: until the backend is dropped none can open it alone, and once one
    /// has, because this server was cut off, nothing is committed by this one any more (SEC-S13).
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and when a command has the database alone.
    pub async fn open_shared(
        settings: &PostgresSettings,
        clock: SharedClock,
    ) -> Result<Self, PostgresError> {
        Self::open(settings, clock).await?.held(Hold::Shared).await
    }

    /// The same, for the only one that uses the database: until the backend is dropped no other one can open it so or share it.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and when a server has the database.
    pub async fn open_alone(
        settings: &PostgresSettings,
        clock: SharedClock,
    ) -> Result<Self, PostgresError> {
        Self::open(settings, clock).await?.held(Hold::Alone).await
    }

    async fn held(mut self, hold: Hold) -> Result<Self, PostgresError> {
        let (address, epoch) = (self.address.clone(), Arc::clone(&self.shared.epoch));
        self.holder = Some(Holder::take(hold, address, epoch).await?);
        self.hold = Some(hold);
        Ok(self)
    }

    /// Makes the tables or brings them up to date: all of it, or nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached or relied upon, its tables are newer or another program's, or a right is missing.
    pub async fn migrate(settings: &PostgresSettings) -> Result<Migrated, PostgresError> {
        let (session, _) = Session::open(&Address::read(settings)?).await?;
        schema::migrate(&session.client).await
    }

    /// The list of the servers that share the database.
    #[must_use]
    pub fn roster(&self) -> PostgresRoster {
        PostgresRoster::new(self.address.clone(), Arc::clone(&self.shared))
    }

    /// What the database server said about itself when the backend was opened.
    #[must_use]
    pub const fn server(&self) -> Server {
        self.server
    }

    async fn committed(
        &self,
        guard: Option<Guard>,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Result<(), CommitError> {
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let guard = guard.as_ref();
            let outcome = shared.commit(guard, namespace, &checks, &changes).await;
            if outcome.is_ok() && shared.begins_purge(changes.len()) {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move { shared.purge().await });
            }
            outcome
        };
        self.detached(work).await
    }

    /// Lets `work` go on in the runtime, whatever happens to the caller.
    async fn detached<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        let stopped = |_| unavailable("the server is stopping");
        self.runtime.spawn(work).await.map_err(stopped)?
    }
}

impl Backend for PostgresBackend {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        let wanted = Wanted::new(namespace, keys);
        let shared = Arc::clone(&self.shared);
        Box::pin(self.detached(async move { shared.get_changed(wanted).await }))
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        let after = after.filter(|after| *after >= prefix);
        let start = after.unwrap_or(prefix).to_owned();
        let left_out = after.unwrap_or_default().to_owned();
        let end = format!("{prefix}{AFTER_ALL_KEYS}");
        let shared = Arc::clone(&self.shared);
        let scan = async move { shared.scan(namespace, &start, &left_out, &end, limit).await };
        Box::pin(self.detached(scan))
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(self.committed(None, namespace, checks, changes))
    }

    fn commit_under(
        &self,
        guard: Guard,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(self.committed(Some(guard), namespace, checks, changes))
    }

    fn is_shared(&self) -> bool {
        self.hold != Some(Hold::Alone)
    }

    fn snapshot(&self) -> Answer<'_, Result<Box<dyn Snapshot>, StoreError>> {
        let (address, shared) = (self.address.clone(), Arc::clone(&self.shared));
        Box::pin(self.detached(async move {
            shared.check_standing()?;
            let snapshot = TransactionSnapshot::begin(&address, &shared.confirmation).await?;
            Ok(Box::new(snapshot) as Box<dyn Snapshot>)
        }))
    }

    fn skip_versions(&self, version: Version) -> Answer<'_, Result<(), StoreError>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(self.detached(async move { shared.skip_versions(version).await }))
    }
}

impl Shared {
    async fn scan(
        &self,
        namespace: Namespace,
        start: &str,
        left_out: &str,
        end: &str,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let (now, bytes) = (self.now(), i64::try_from(PAGE_BYTES).unwrap_or(i64::MAX));
        let rows = i64::from(limit).saturating_add(1);
        let namespace = number(namespace);
        let parameters: Parameters<'_> =
            &[&namespace, &start, &left_out, &end, &now, &rows, &bytes];
        let mut page = PageBuilder::new(limit);
        for row in self.read(SCAN, parameters).await? {
            let key: String = row.try_get(0).map_err(unreadable)?;
            let version = from_database(row.try_get(1).map_err(unreadable)?);
            let value: Vec<u8> = row.try_get(2).map_err(unreadable)?;
            if !page.has_room(key.len() + value.len()) {
                break;
            }
            page.push(key, Entry { value, version });
        }
        Ok(page.finish())
    }

    /// Asks until there is an answer. A read may be asked again, however it went.
    async fn read(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = Instant::now() + CALL_TIME;
        let mut times = self.attempts_made();
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            match self.connections.query(statement, parameters, by).await {
                Ok(rows) => return Ok(rows),
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(self.failed(failure));
                }
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
    }

    async fn commit(
        &self,
        guard: Option<&Guard>,
        namespace: Namespace,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<(), CommitError> {
        let deadline = Instant::now() + CALL_TIME;
        let _in_order = match namespace {
            Namespace::Keyring => Some(self.keyring.lock().await),
            _ => None,
        };
        let commit = Commit::new(checks, changes);
        let mut times = self.attempts_made();
        let mut version = self.next_version(deadline).await?;
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            let failure = match self.apply(guard, namespace, &commit, version, by).await {
                Ok(outcome) => return outcome,
                Err(failure) => failure,
            };
            match failure {
                Failure::Busy(_) | Failure::Refused(_) => return Err(self.failed(failure).into()),
                Failure::Again(_) | Failure::NotSent(_) => {}
                Failure::Unknown(ref how) if self.was_applied(version, how, deadline).await? => {
                    return Ok(());
                }
                // It never will be, so another attempt needs another version.
                Failure::Unknown(_) => version = self.next_version(deadline).await?,
            }
            self.wait(&mut times, deadline, failure).await?;
        }
    }

    async fn apply(
        &self,
        guard: Option<&Guard>,
        namespace: Namespace,
        commit: &Commit<'_>,
        version: i64,
        deadline: Instant,
    ) -> Result<Result<(), CommitError>, Failure> {
        let namespace = number(namespace);
        let (now, epoch) = (self.now(), self.epoch.number());
        let unguarded: [&(dyn ToSql + Sync); 10] = [
            &namespace,
            &now,
            &commit.checked,
            &commit.required,
            &commit.put,
            &commit.values,
            &commit.ends,
            &commit.deleted,
            &version,
            &epoch,
        ];
        let outcome = match guard {
            None => {
                self.connections
                    .commit(COMMIT, &unguarded, deadline)
                    .await?
            }
            Some(guard) => {
                let place = number(Namespace::Keyring);
                let required = to_database(guard.version);
                let of_guard: [&(dyn ToSql + Sync); 3] = [&place, &guard.key, &required];
                let guarded = [&unguarded[..], &of_guard].concat();
                self.connections
                    .commit(COMMIT_UNDER, &guarded, deadline)
                    .await?
            }
        };
        Ok(match outcome.failed {
            _ if outcome.applied => Ok(()),
            _ if !outcome.guarded => Err(Guard::lost()),
            _ if !outcome.prepared => Err(unavailable(PostgresError::SessionLost).into()),
            Some(key) => Err(CommitError::Conflict(key)),
            None => {
                self.epoch.end();
                Err(superseded().into())
            }
        })
    }

    /// Finds out if the commit of `version`, which ended as `how` says, was applied, and makes sure that it will not be if it was not.
    async fn was_applied(
        &self,
        version: i64,
        how: &str,
        deadline: Instant,
    ) -> Result<bool, StoreError> {
        let unknown = |error: StoreError| {
            unavailable(format!(
                "it is not known if a commit was applied that ended with: {how}; since then {error}"
            ))
        };
        let mut times = 0;
        loop {
            // A session that was cut off may still be at work; this waits for it.
            let parameters: Parameters<'_> = &[&version];
            let abandoned = self.connections.query(ABANDON, parameters, deadline);
            let rows = match abandoned.await {
                Ok(_) => {
                    let rows = self.connections.query(WAS_ABANDONED, parameters, deadline);
                    rows.await
                }
                Err(failure) => Err(failure),
            };
            match rows {
                Ok(rows) => {
                    let row = rows.first();
                    let abandoned = row.and_then(|row| row.try_get::<_, bool>(0).ok());
                    return Ok(abandoned == Some(false));
                }
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(unknown(self.failed(failure)));
                }
                Err(failure) => {
                    let waited = self.wait(&mut times, deadline, failure).await;
                    waited.map_err(unknown)?;
                }
            }
        }
    }

    async fn next_version(&self, deadline: Instant) -> Result<i64, StoreError> {
        let mut times = self.attempts_made();
        loop {
            if let Some(version) = self.versions.take() {
                return Ok(version);
            }
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            let reserved = self
                .connections
                .query(RESERVE_VERSIONS, &[&VERSIONS_AT_ONCE], by);
            match reserved.await {
                Ok(rows) => {
                    let end = rows.first().and_then(|row| row.try_get(0).ok());
                    self.versions
                        .add(end.ok_or_else(|| unavailable("its tables are incomplete"))?);
                }
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(self.failed(failure));
                }
                // Versions that were reserved and not told are never given.
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
    }

    /// How many of the attempts of a call are taken as made. Where the last call could not reach the database, the next ones try once: they
    /// would keep those waiting who ask if there is a store.
    fn attempts_made(&self) -> u32 {
        match self.reach.is_away() {
            true => ATTEMPTS - 1,
            false => 0,
        }
    }

    /// Waits before the next attempt, or gives up with the last failure.
    async fn wait(
        &self,
        times: &mut u32,
        deadline: Instant,
        failure: Failure,
    ) -> Result<(), StoreError> {
        let pause = pause(PAUSE, *times, &OsRandom);
        *times = times.saturating_add(1);
        if *times >= ATTEMPTS || Instant::now() + pause >= deadline {
            return Err(self.failed(failure));
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// The error of a call that ends with this failure.
    fn failed(&self, failure: Failure) -> StoreError {
        self.reach.note(&failure);
        failure.into()
    }

    fn now(&self) -> i64 {
        i64::try_from(self.clock.now_milliseconds()).unwrap_or(i64::MAX)
    }

    /// Tells if the database that this server is connected to is still the one that counts.
    fn check_standing(&self) -> Result<(), StoreError> {
        if self.epoch.has_ended() {
            return Err(superseded());
        }
        self.confirmation.check()
    }
}

/// The number under which the database knows a namespace. Never changes.
const fn number(namespace: Namespace) -> i16 {
    match namespace {
        Namespace::AuthMethod => 1,
        Namespace::Access => 2,
        Namespace::Orgs => 3,
        Namespace::Host => 4,
        Namespace::Keyring => 5,
    }
}

/// Versions are compared for equality alone, so that the sign does not matter.
const fn to_database(version: Version) -> i64 {
    version.cast_signed()
}

const fn from_database(version: i64) -> Version {
    version.cast_unsigned()
}

fn unavailable(message: impl ToString) -> StoreError {
    StoreError::Unavailable(message.to_string())
}

fn unreadable(error: tokio_postgres::Error) -> StoreError {
    unavailable(describe(&error))
}

fn superseded() -> StoreError {
    unavailable(
        "a command for stopped servers has had the database meanwhile; this server must be restarted",
    )
}

impl fmt::Debug for PostgresBackend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresBackend")
            .finish_non_exhaustive()
    }
}
