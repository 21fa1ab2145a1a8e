//! The backend on a PostgreSQL server.

mod address;
mod commit;
mod committing;
mod confirmation;
mod error;
mod gathering;
mod holder;
mod purge;
mod reach;
mod reads;
mod remedy;
mod roster;
mod schema;
mod session;
mod shared;
mod snapshot;
mod statements;
mod tls;
mod values;
mod versions;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gatehouse_ports::{Change, Check, CommitError, Difference, HeldKey, Page, StoreError, Version};
use tokio::runtime::Handle;

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
use confirmation::Confirmation;
use error::unavailable;
use gathering::{Gathered, Wanted};
use holder::{Hold, Holder};
use reach::Reach;
use session::Connections;
use shared::{Shared, SincePurge};
use snapshot::TransactionSnapshot;
use versions::Versions;

/// The end of all keys: the first character that none of them may hold.
const AFTER_ALL_KEYS: char = '\u{7f}';

/// Entries in a database that speaks PostgreSQL's protocol.
///
/// Every call is one statement, and reads that are asked for at one time share one. A commit waits for the commits that touch its keys, so
/// reads and commits of all servers have one order. A statement that meets a conflict is retried a bounded number of times. When a connection
/// is lost in a commit, the backend finds out the outcome, or makes sure that the commit is never applied; the outcome is unknown only if the
/// database cannot be reached for that either.
///
/// A call is answered within two seconds. A call that is dropped continues by itself. Calls may come from outside of the runtime in which the
/// backend was opened, for as long as that runtime runs.
pub struct PostgresBackend {
    shared: Arc<Shared>,
    runtime: Handle,
    address: Address,
    server: Server,
    hold: Option<Hold>,
    holder: Option<Holder>,
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

    /// The same, for one of several servers that use the database. Until the backend is dropped, no command or server can open the database
    /// alone. If one has opened it alone, because this server was cut off, this server commits nothing any more (SEC-S13).
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

    /// The same, for the only user of the database: until the backend is dropped, no other one can open it alone or share it.
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

    /// The facts about the database server, as it told them when the backend was opened.
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

    /// Lets `work` continue in the runtime, whatever happens to the caller.
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

impl fmt::Debug for PostgresBackend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresBackend")
            .finish_non_exhaustive()
    }
}
