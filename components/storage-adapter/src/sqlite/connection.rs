//! A connection that is ready: the tables exist and are of this version, and the keys are open.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatehouse_barrier::{Barrier, Keyring, KeyringError};
use gatehouse_ports::rules::jittered;
use gatehouse_ports::{Clock, Random, StoreError};

use super::database::{Database, DatabaseError, Host, Row, Value};
use super::statements::{
    ASK_SYNCHRONOUS, CHECKPOINT_SELDOM, CREATE, DESCRIBE, STORE_KEYRING, SYNCHRONOUS, WAIT_SHORTLY,
    WRITE_AHEAD,
};
use crate::root::keyring_error;
use crate::seal_key::root_key;

/// The version of the tables that this code reads and writes (SEC-S12).
pub const KNOWN_SCHEMA: i64 = 1;

/// How often a statement is tried while another one holds the lock that it needs. Each try waits for 20 ms within SQLite, so that is ten
/// seconds.
const BUSY_TRIES: u32 = 500;
/// The milliseconds after which it is not tried again. A server of libSQL waits for longer at each try.
const BUSY_MILLISECONDS: u64 = 10_000;
/// The longest pause between two tries. Its jitter keeps waiting statements from trying in step.
const BUSY_PAUSE: Duration = Duration::from_millis(2);
/// The least `pragma synchronous` with which a commit is on the disk when it returns: `full`.
const WAITS_FOR_DISK: i64 = 2;
/// Connections on which a statement is tried, where those before were gone.
const CONNECTIONS: u32 = 2;
/// How often an opening looks at the tables: empty, made, and with a keyring, and once more for another instance that does the same.
const OPENING_LOOKS: u32 = 4;

/// A database with its keys.
pub struct Opened<D> {
    database: D,
    pub barrier: Arc<Barrier>,
}

/// The database behind one label of a host.
pub struct SqliteTables<H: Host, C, R> {
    host: H,
    pub(super) label: String,
    pub(super) clock: C,
    pub(super) random: R,
    opened: Mutex<Option<Arc<Opened<H::Database>>>>,
}

impl<H: Host, C: Clock, R: Random> SqliteTables<H, C, R> {
    pub(super) fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self {
            host,
            label: label.to_owned(),
            clock,
            random,
            opened: Mutex::new(None),
        }
    }

    /// The database, which stays open as long as the instance lives.
    pub(super) fn opened(&self) -> Result<Arc<Opened<H::Database>>, StoreError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &*opened {
            return Ok(opened.clone());
        }
        let now_open = Arc::new(self.open()?);
        *opened = Some(now_open.clone());
        Ok(now_open)
    }

    /// Executes one statement, which is a transaction by itself, as [`Self::attempt`] does.
    pub(super) fn execute(
        &self,
        statement: &str,
        parameters: &[Value],
        asked_at: u64,
    ) -> Result<Vec<Row>, StoreError> {
        let outcome = self.attempt(statement, parameters, asked_at)?;
        outcome.map_err(|error| error.at(&self.label))
    }

    /// Executes one statement, for callers that tell the failures of a database apart. Where the connection was closed before anything was
    /// done, it is executed on another one. A connection whose answer was lost is replaced for the next statement; this one is not repeated,
    /// since it may have been executed. The outer error is that of a database that cannot be opened.
    ///
    /// From `asked_at` on, milliseconds since 1970, it waits for other statements: callers have read the clock, which is a call to the host.
    pub(super) fn attempt(
        &self,
        statement: &str,
        parameters: &[Value],
        asked_at: u64,
    ) -> Result<Result<Vec<Row>, DatabaseError>, StoreError> {
        let mut outcome = Err(DatabaseError::InvalidConnection);
        for _ in 0..CONNECTIONS {
            let opened = self.opened()?;
            outcome = self.wait_and_execute(&opened.database, statement, parameters, asked_at);
            let Err(error) = &outcome else { break };
            if error.is_gone() || error.has_lost_connection() {
                *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            if !error.is_gone() {
                break;
            }
        }
        Ok(outcome)
    }

    /// Executes one statement that may be left out without loss, so it is not retried.
    pub(super) fn execute_if_free(
        &self,
        opened: &Opened<H::Database>,
        statement: &str,
        parameters: &[Value],
    ) {
        let _ = opened.database.execute(statement, parameters);
    }

    fn try_execute(
        &self,
        database: &H::Database,
        statement: &str,
        parameters: &[Value],
    ) -> Result<Vec<Row>, DatabaseError> {
        let asked_at = self.clock.now_milliseconds();
        self.wait_and_execute(database, statement, parameters, asked_at)
    }

    fn wait_and_execute(
        &self,
        database: &H::Database,
        statement: &str,
        parameters: &[Value],
        asked_at: u64,
    ) -> Result<Vec<Row>, DatabaseError> {
        let mut tries = 1;
        let may_wait = || self.clock.now_milliseconds().abs_diff(asked_at) < BUSY_MILLISECONDS;
        loop {
            match database.execute(statement, parameters) {
                Err(error) if error.is_busy() && tries < BUSY_TRIES && may_wait() => {
                    tries += 1;
                    self.clock.sleep(jittered(BUSY_PAUSE, &self.random));
                }
                outcome => return outcome,
            }
        }
    }

    /// Makes commits on this connection wait for the disk, and statements wait only briefly for each other. A server that keeps the
    /// database for its clients makes these settings itself; it must then report that commits wait for the disk.
    fn settle(&self, database: &H::Database) -> Result<(), StoreError> {
        self.set(database, WAIT_SHORTLY)?;
        if self.set(database, SYNCHRONOUS)? {
            self.set(database, CHECKPOINT_SELDOM)?;
            return Ok(());
        }
        let answer = self.try_execute(database, ASK_SYNCHRONOUS, &[]);
        match answer.as_deref() {
            Ok([row]) if matches!(row.as_slice(), [Value::Integer(mode)] if *mode >= WAITS_FOR_DISK) => {
                Ok(())
            }
            Ok(_) => Err(self.not_durable()),
            Err(error) if error.is_not_for_clients() => Err(self.not_durable()),
            Err(error) => Err(error.clone().at(&self.label)),
        }
    }

    /// Makes a setting; false where clients may not make it.
    fn set(&self, database: &H::Database, setting: &str) -> Result<bool, StoreError> {
        match self.try_execute(database, setting, &[]) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_for_clients() => Ok(false),
            Err(error) => Err(error.at(&self.label)),
        }
    }

    fn open(&self) -> Result<Opened<H::Database>, StoreError> {
        let root_key = root_key(self.host.seal_key())?;
        let database = self.host.open(&self.label);
        let database = database.map_err(|error| error.at(&self.label))?;
        let run = |statement: &str, parameters: &[Value]| {
            self.try_execute(&database, statement, parameters)
                .map_err(|error| error.at(&self.label))
        };
        self.settle(&database)?;
        for _ in 0..OPENING_LOOKS {
            let described = match self.try_execute(&database, DESCRIBE, &[]) {
                Err(error) if error.is_without_tables() => {
                    self.set(&database, WRITE_AHEAD)?;
                    for statement in CREATE {
                        run(statement, &[])?;
                    }
                    continue;
                }
                described => described.map_err(|error| error.at(&self.label))?,
            };
            match described.into_iter().next().as_deref() {
                // The instance that began to make the tables was cut off.
                None => {
                    for statement in CREATE {
                        run(statement, &[])?;
                    }
                }
                Some([Value::Integer(schema), ..]) if *schema != KNOWN_SCHEMA => {
                    return Err(self.unknown_schema(*schema));
                }
                Some([_, Value::Blob(sealed)]) => {
                    let keyring = Keyring::open(&root_key, sealed);
                    let keyring = keyring.map_err(|error| self.keyring_error(error))?;
                    let barrier = Arc::new(Barrier::new(&keyring));
                    return Ok(Opened { database, barrier });
                }
                Some(_) => {
                    let sealed = Keyring::generate(&self.random)
                        .and_then(|keyring| keyring.seal(&root_key, &self.random))
                        .map_err(|error| self.keyring_error(error))?;
                    run(STORE_KEYRING, &[Value::Blob(sealed)])?;
                }
            }
        }
        Err(StoreError::Unavailable(format!(
            "the SQLite database {} has records and no keyring: it was altered, put a backup in its place",
            self.label
        )))
    }

    fn not_durable(&self) -> StoreError {
        StoreError::Unavailable(format!(
            "the server of the SQLite database {} does not say that it waits for its disk before it acknowledges a commit: give the \
             database the durability_mode strong",
            self.label
        ))
    }

    fn unknown_schema(&self, found: i64) -> StoreError {
        StoreError::Unavailable(format!(
            "the SQLite database {} was written by a newer version of this software (schema {found}, known is {KNOWN_SCHEMA}), and is \
             left as it is: update",
            self.label
        ))
    }

    fn keyring_error(&self, error: KeyringError) -> StoreError {
        match keyring_error(&self.label, error) {
            crate::error::PageError::Store(error) => error,
            _ => StoreError::Unavailable(format!(
                "the keyring of the SQLite database {} is damaged: put a backup in its place",
                self.label
            )),
        }
    }
}
