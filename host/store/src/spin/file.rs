//! One file, opened by this process as Spin opens it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatehouse_storage_adapter::sqlite::{self, Database, DatabaseError, Row, Value, native};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use zeroize::Zeroizing;

use super::{SpinError, SpinForm};
use crate::{Namespace, RootKey};

/// The longest wait for a program that has the file locked.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to a file that is there. Clones are the same connection.
#[derive(Clone)]
pub(super) struct SharedConnection(Arc<Mutex<Connection>>);

impl SharedConnection {
    /// Opens the file at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, SpinError> {
        let connection = connection(path)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
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
        let (table, row) = match form {
            SpinForm::Sqlite => (
                "gatehouse_keyring",
                "select 1 from gatehouse_keyring where ?1 <> '' limit 1",
            ),
            SpinForm::KeyValue => (
                "spin_key_value",
                "select 1 from spin_key_value where store = ?1 limit 1",
            ),
        };
        let connection = self.lock();
        let ask = |statement: &str, parameter: &str| {
            let row = connection.query_row(statement, [parameter], |_| Ok(()));
            let found = row.optional();
            found.map_err(|error| SpinError::of_sqlite(path, error))
        };
        let known = "select 1 from sqlite_master where type = 'table' and name = ?1";
        if ask(known, table)?.is_none() {
            return Ok(false);
        }
        Ok(ask(row, namespace.label())?.is_some())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to the file at `path`, which is not made where there is none.
pub(super) fn connection(path: &Path) -> Result<Connection, SpinError> {
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

/// What Spin is for the adapter: one file, and the variable `seal_key`.
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
