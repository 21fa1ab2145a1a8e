//! One file, opened by this process as Spin opens it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatehouse_storage_adapter::sqlite::{self, Database, DatabaseError, Row, Value, native};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use zeroize::Zeroizing;

use super::error::SpinError;
use super::files::SpinForm;
use crate::{Namespace, RootKey};

/// The longest wait for a program that has the file locked.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to a file that is there. Clones are the same connection.
#[derive(Clone)]
pub(super) struct SharedConnection(Arc<Mutex<Connection>>);

impl SharedConnection {
    /// Opens the file of an installation. Closing it leaves the files beside it as they are.
    pub(super) fn open(path: &Path) -> Result<Self, SpinError> {
        let connection = connection(path)?;
        let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        set.map_err(|error| SpinError::of_sqlite(path, error))?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Opens a file that no other program has. With the last connection go the files beside it.
    pub(super) fn open_own(path: &Path) -> Result<Self, SpinError> {
        Ok(Self(Arc::new(Mutex::new(connection(path)?))))
    }

    /// Has other programs wait to write to the file until the connection is closed.
    pub(super) fn keep_others_from_writing(
        &self,
        path: &Path,
        patience: Duration,
    ) -> Result<(), SpinError> {
        let waits = self.lock().busy_timeout(patience);
        waits.map_err(|error| SpinError::of_sqlite(path, error))?;
        self.run(path, "begin immediate")
    }

    /// Executes statements without an answer.
    pub(super) fn run(&self, path: &Path, statements: &str) -> Result<(), SpinError> {
        let done = self.lock().execute_batch(statements);
        done.map_err(|error| SpinError::of_sqlite(path, error))
    }

    /// True if the file holds records of `namespace`, in that form.
    pub(super) fn holds(
        &self,
        path: &Path,
        form: SpinForm,
        namespace: Namespace,
    ) -> Result<bool, SpinError> {
        let has_row = |table, row| -> Result<bool, SpinError> {
            let known = "select 1 from sqlite_master where type = 'table' and name = ?1";
            Ok(self.answers(path, known, table)? && self.answers(path, row, namespace.label())?)
        };
        // The parameter of each is the label, which only the file of a key-value store has.
        match form {
            SpinForm::KeyValue => has_row(
                "spin_key_value",
                "select 1 from spin_key_value where store = ?1 limit 1",
            ),
            SpinForm::Sqlite => {
                let has_keyring = has_row(
                    "gatehouse_keyring",
                    "select 1 from gatehouse_keyring where ?1 is not null limit 1",
                )?;
                let has_records = has_row(
                    "gatehouse_entry",
                    "select 1 from gatehouse_entry where ?1 is not null limit 1",
                )?;
                match (has_keyring, has_records) {
                    (false, true) => Err(SpinError::NoKeyring {
                        path: path.to_owned(),
                    }),
                    _ => Ok(has_keyring),
                }
            }
        }
    }

    /// True if the statement with this parameter answers a row.
    fn answers(&self, path: &Path, statement: &str, parameter: &str) -> Result<bool, SpinError> {
        let row = self.lock().query_row(statement, [parameter], |_| Ok(()));
        let found = row.optional();
        Ok(found
            .map_err(|error| SpinError::of_sqlite(path, error))?
            .is_some())
    }

    /// Moves all that is beside the file into it. What is left beside it then is a program's that has the file open.
    pub(super) fn gather(&self, path: &Path) -> Result<(), SpinError> {
        let moved = self
            .lock()
            .query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0));
        match moved.map_err(|error| SpinError::of_sqlite(path, error))? {
            0 => Ok(()),
            1_i64.. | i64::MIN..0 => Err(SpinError::Locked {
                path: path.to_owned(),
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to the file at `path`, which is not made where there is none.
fn connection(path: &Path) -> Result<Connection, SpinError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    let opened = connection.and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    });
    opened.map_err(|error| SpinError::of_sqlite(path, error))
}

impl Database for SharedConnection {
    fn execute(&self, statement: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        Ok(native::execute(&self.lock(), statement, parameters)?.rows)
    }
}

/// The host that the adapter gets in place of Spin: one file, and the variable `seal_key`.
pub(super) struct FileHost {
    pub(super) connection: SharedConnection,
    pub(super) seal_key: Zeroizing<String>,
}

impl FileHost {
    pub(super) fn new(connection: SharedConnection, seal_key: &RootKey) -> Self {
        Self {
            connection,
            seal_key: seal_key.to_text(),
        }
    }
}

impl sqlite::Host for FileHost {
    type Database = SharedConnection;

    fn open(&self, _label: &str) -> Result<SharedConnection, DatabaseError> {
        Ok(self.connection.clone())
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(Some(self.seal_key.clone()))
    }
}
