//! A database of `spin:sqlite` below the adapter.

use gatehouse_ports::{OsRandom, SystemClock};
use zeroize::Zeroizing;

use crate::sqlite::{Database, DatabaseError, Host, Row, SqliteAdapter, Value};

bindings!("gatehouse:storage-adapter/sqlite-adapter");

use bindings::spin::sqlite::sqlite;
use bindings::wasi::config::store as config;

/// The adapter of an instance.
pub type Kept = SqliteAdapter<SpinHost, SystemClock, OsRandom>;

/// The adapter for the database behind `label`.
pub fn adapter(label: &str) -> Kept {
    SqliteAdapter::new(SpinHost, label, SystemClock, OsRandom)
}

pub struct SpinHost;

impl Host for SpinHost {
    type Database = sqlite::Connection;

    fn open(&self, label: &str) -> Result<sqlite::Connection, DatabaseError> {
        sqlite::Connection::open(label).map_err(database_error)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        let text = config::get("seal_key").map_err(|error| match error {
            config::Error::Upstream(why) | config::Error::Io(why) => why,
        })?;
        Ok(text.map(Zeroizing::new))
    }
}

impl Database for sqlite::Connection {
    fn execute(&self, statement: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let parameters: Vec<sqlite::Value> = parameters.iter().map(parameter).collect();
        let answer = Self::execute(self, statement, &parameters).map_err(database_error)?;
        let row = |row: sqlite::RowResult| row.values.into_iter().map(value).collect();
        Ok(answer.rows.into_iter().map(row).collect())
    }
}

fn parameter(from: &Value) -> sqlite::Value {
    match from {
        Value::Integer(number) => sqlite::Value::Integer(*number),
        Value::Text(text) => sqlite::Value::Text(text.clone()),
        Value::Blob(bytes) => sqlite::Value::Blob(bytes.clone()),
        Value::Null => sqlite::Value::Null,
    }
}

fn value(from: sqlite::Value) -> Value {
    match from {
        sqlite::Value::Integer(number) => Value::Integer(number),
        sqlite::Value::Text(text) => Value::Text(text),
        sqlite::Value::Blob(bytes) => Value::Blob(bytes),
        sqlite::Value::Real(_) | sqlite::Value::Null => Value::Null,
    }
}

fn database_error(from: sqlite::Error) -> DatabaseError {
    match from {
        sqlite::Error::NoSuchDatabase => DatabaseError::NoSuchDatabase,
        sqlite::Error::AccessDenied => DatabaseError::AccessDenied,
        sqlite::Error::InvalidConnection => DatabaseError::InvalidConnection,
        sqlite::Error::DatabaseFull => DatabaseError::Full,
        sqlite::Error::Io(text) => DatabaseError::Io(text),
    }
}
