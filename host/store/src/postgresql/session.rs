//! Connections to the database: one alone, or from a bounded pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Connect, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
    TimeoutType,
};
use gatehouse_ports::rules::other_engine;
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Row};

use super::address::{Address, CONNECT_TIME};
use super::commit::Outcome;
use super::confirmation::Confirmation;
use super::error::{Failure, PostgresError, describe};
use super::remedy::NO_ANSWER;
use super::statements::{CONFIRM, DESCRIBE_SERVER, PREPARE_SESSION, SHOW_ENGINE};
use crate::backend::Answer;

/// The oldest server that the statements are made for.
const OLDEST_SERVER: i32 = 140_000;
/// How long a caller waits for a connection while all are in use.
const WAIT_TIME: Duration = Duration::from_secs(1);

/// The error text for a new connection of the pool that was lost while its session was prepared.
const LOST: &str = "the connection was lost while it was set up";

/// The error text for a statement that was given up.
const LATE: &str = "no answer in time";

/// The parameters of a statement.
pub type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection outside of the pool. It is closed when this is dropped.
pub struct Session {
    pub client: Client,
    connection: JoinHandle<()>,
}

impl Session {
    /// Connects, and makes sure that the server can be relied upon.
    ///
    /// # Errors
    ///
    /// When no connection comes about, or the server could lose or withhold what was acknowledged.
    pub async fn open(address: &Address) -> Result<(Self, Server), PostgresError> {
        let connected = timeout(address.time_for_all_hosts(), address.connect()).await;
        let connected = connected.map_err(|_| PostgresError::Unreachable(too_long()))?;
        let (client, connection) = connected.map_err(|error| address.refusal(&error))?;
        let session = Self { client, connection };
        let server = Server::prepare(&session.client).await?;
        Ok((session, server))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

/// The facts about the database server behind a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// True if a commit is on a second machine too before it is acknowledged.
    pub has_synchronous_standby: bool,
    /// When it started, in its own microseconds.
    pub(super) started_at: i64,
}

impl Server {
    /// Prepares a new session, and looks at the server behind it.
    ///
    /// # Errors
    ///
    /// When the server could lose or withhold what was acknowledged.
    pub async fn prepare(client: &Client) -> Result<Self, PostgresError> {
        match Self::looked_at(client).await {
            // Another engine may not know what it is asked.
            Err(refused @ PostgresError::Refused(_)) => {
                let row = client.query_one(SHOW_ENGINE, &[]).await;
                let version: Option<String> = row.ok().and_then(|row| row.try_get(0).ok());
                let other = version.as_deref().and_then(other_engine);
                Err(other.map_or(refused, PostgresError::OtherEngine))
            }
            other => other,
        }
    }

    async fn looked_at(client: &Client) -> Result<Self, PostgresError> {
        let prepared = client.batch_execute(PREPARE_SESSION).await;
        prepared.map_err(|error| refused(&error))?;
        let row = client.query_one(DESCRIBE_SERVER, &[]).await;
        let row = row.map_err(|error| refused(&error))?;
        let read = |error: tokio_postgres::Error| PostgresError::Refused(describe(&error));
        let engine: String = row.try_get(6).map_err(read)?;
        if let Some(engine) = other_engine(&engine) {
            return Err(PostgresError::OtherEngine(engine));
        }
        if row.try_get::<_, bool>(0).map_err(read)? {
            return Err(PostgresError::ReadOnly);
        }
        for (column, setting) in [(1, "fsync"), (2, "synchronous_commit")] {
            let value: String = row.try_get(column).map_err(read)?;
            if value == "off" {
                return Err(PostgresError::Unsafe { setting, value });
            }
        }
        let version: i32 = row.try_get(4).map_err(read)?;
        if version < OLDEST_SERVER {
            return Err(PostgresError::OldServer(version / 10_000));
        }
        if row.try_get::<_, Option<bool>>(5).map_err(read)? != Some(true) {
            return Err(PostgresError::SessionLost);
        }
        let standbys: String = row.try_get(3).map_err(read)?;
        let commit: String = row.try_get(2).map_err(read)?;
        Ok(Self {
            has_synchronous_standby: !standbys.is_empty() && commit != "local",
            started_at: row.try_get(7).map_err(read)?,
        })
    }
}

pub fn too_long() -> String {
    format!("it takes too long to connect; {NO_ANSWER}")
}

/// The error that says why the database refused something outside of the store's own work, or that the connection was lost.
pub fn refused(error: &tokio_postgres::Error) -> PostgresError {
    let text = describe(error);
    let refusal = error.as_db_error();
    // A graver error has ended the session, as it does when the database is stopped.
    if refusal.is_none_or(|refusal| refusal.parsed_severity() != Some(Severity::Error)) {
        return PostgresError::Unreachable(text);
    }
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => PostgresError::NotPermitted(text),
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => PostgresError::ReadOnly,
        _ if is_of_another_session(error) => PostgresError::SessionLost,
        _ => PostgresError::Refused(text),
    }
}

/// True if a statement went to another session than the one that it was prepared in.
fn is_of_another_session(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&(SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT))
    )
}

/// Connects the pool to the host that accepts writes.
struct AnyHost(Address);

impl Connect for AnyHost {
    fn connect(
        &self,
        _first_host: &Config,
    ) -> Answer<'_, Result<(Client, JoinHandle<()>), tokio_postgres::Error>> {
        Box::pin(self.0.connect())
    }
}

/// The connections that requests share.
pub struct Connections {
    pool: Pool,
    most: usize,
    address: Address,
}

impl Connections {
    /// A pool of at most `most` connections, which are made when they are needed.
    ///
    /// # Errors
    ///
    /// When it cannot be set up.
    pub fn new(
        address: &Address,
        most: usize,
        confirmation: Arc<Confirmation>,
    ) -> Result<Self, PostgresError> {
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_connect(
            address.of_first_host(),
            AnyHost(address.clone()),
            ManagerConfig { recycling_method },
        );
        let of_pool = Arc::clone(&confirmation);
        let prepare = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let confirmation = Arc::clone(&of_pool);
            Box::pin(async move {
                let prepared = async {
                    let server = Server::prepare(client).await?;
                    require_confirmed(client, server, &confirmation).await
                };
                prepared.await.map_err(|error| match error {
                    PostgresError::Unreachable(_) => HookError::message(LOST),
                    refusal => HookError::message(refusal.to_string()),
                })
            })
        });
        let use_again =
            Hook::sync_fn(
                move |_, metrics| match confirmation.is_since(metrics.created) {
                    true => Ok(()),
                    false => Err(HookError::message("another server confirms writes now")),
                },
            );
        let pool = Pool::builder(manager)
            .max_size(most)
            .wait_timeout(Some(WAIT_TIME))
            .create_timeout(Some(address.connect_time()))
            .recycle_timeout(Some(CONNECT_TIME))
            .runtime(Runtime::Tokio1)
            .post_create(prepare)
            .pre_recycle(use_again)
            .build()
            .map_err(|error| PostgresError::Refused(error.to_string()))?;
        Ok(Self {
            pool,
            most,
            address: address.clone(),
        })
    }

    /// Executes one statement, prepared once for each connection, and answers by `deadline`. A connection whose answer is unknown, or that
    /// has lost its prepared statements, is closed.
    ///
    /// # Errors
    ///
    /// Says what became of the statement.
    pub async fn query(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, Failure> {
        let client = self.connection(deadline).await?;
        let answer = ask(client, statement, parameters, deadline).await;
        answer.map(|(_, rows)| rows)
    }

    /// The same for a commit. A connection whose session is not what it was made is closed too.
    ///
    /// # Errors
    ///
    /// Says what became of the commit.
    pub async fn commit(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Outcome, Failure> {
        let client = self.connection(deadline).await?;
        let (client, rows) = ask(client, statement, parameters, deadline).await?;
        let outcome = Outcome::read(&rows);
        if !outcome.as_ref().is_ok_and(|outcome| outcome.prepared) {
            close(client);
        }
        outcome
    }

    /// A connection for one statement. If all of them are in use, the failure is that of a busy database.
    ///
    /// # Errors
    ///
    /// When none can be had in time.
    pub async fn connection(
        &self,
        deadline: Instant,
    ) -> Result<deadpool_postgres::Client, Failure> {
        let connection = timeout_at(deadline.into(), self.get()).await;
        connection.map_err(|_| Failure::NotSent(LATE.to_owned()))?
    }

    /// A connection for several statements.
    ///
    /// # Errors
    ///
    /// When none can be had in time.
    pub async fn get(&self) -> Result<deadpool_postgres::Client, Failure> {
        self.pool
            .get()
            .await
            .map_err(|error| self.no_connection(error))
    }

    fn no_connection(&self, error: PoolError) -> Failure {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Failure::Busy(format!(
                "all {} connections are in use; raise storage.connections, or max_connections of the database",
                self.most
            )),
            PoolError::Timeout(_) => Failure::NotSent(too_long()),
            PoolError::Backend(error) => Failure::NotSent(match self.address.refusal(&error) {
                PostgresError::Unreachable(text) => text,
                other => other.to_string(),
            }),
            PoolError::PostCreateHook(HookError::Message(text)) if text != LOST => {
                Failure::Refused(text.into_owned())
            }
            other => Failure::NotSent(other.to_string()),
        }
    }
}

/// Executes one statement over a connection of the pool, prepared once for it, and returns the connection too. One whose answer is unknown, or
/// that has lost its prepared statements, is closed.
///
/// # Errors
///
/// Says what became of the statement.
pub async fn ask(
    client: deadpool_postgres::Client,
    statement: &str,
    parameters: Parameters<'_>,
    deadline: Instant,
) -> Result<(deadpool_postgres::Client, Vec<Row>), Failure> {
    let late = |_| LATE.to_owned();
    let prepared = timeout_at(deadline.into(), client.prepare_cached(statement)).await;
    let prepared = match prepared.map_err(late) {
        Ok(Ok(prepared)) => prepared,
        Ok(Err(error)) => {
            let failure = Failure::before_statement(&error);
            return Err(close_unless_sound(client, &error, failure));
        }
        Err(late) => {
            close(client);
            return Err(Failure::NotSent(late));
        }
    };
    let answer = timeout_at(deadline.into(), client.query(&prepared, parameters)).await;
    match answer.map_err(late) {
        Ok(Ok(rows)) => Ok((client, rows)),
        Ok(Err(error)) => {
            let failure = Failure::of_statement(&error);
            Err(close_unless_sound(client, &error, failure))
        }
        Err(late) => {
            close(client);
            Err(Failure::Unknown(late))
        }
    }
}

/// Has the server behind a session confirm a write if it is not the one that confirmed the last: of two that run, one is an old primary.
///
/// # Errors
///
/// When it does not. The caller bounds the time.
pub async fn require_confirmed(
    client: &Client,
    server: Server,
    confirmation: &Confirmation,
) -> Result<(), PostgresError> {
    if !confirmation.is_by(server.started_at) {
        let written = client.query(CONFIRM, &[]).await;
        written.map_err(|error| refused(&error))?;
        confirmation.confirm(server.started_at);
    }
    Ok(())
}

/// Lets go of a connection whose next answer might be that of an earlier statement, or whose session does not have what was prepared in it:
/// all that is sent over it would be refused as well.
fn close_unless_sound(
    client: deadpool_postgres::Client,
    error: &tokio_postgres::Error,
    failure: Failure,
) -> Failure {
    let may_answer_late = matches!(failure, Failure::Unknown(_) | Failure::NotSent(_));
    if may_answer_late || is_of_another_session(error) {
        close(client);
    }
    failure
}

/// Takes a connection out of the pool.
fn close(client: deadpool_postgres::Client) {
    drop(deadpool_postgres::Object::take(client));
}
