//! A database that this process opens itself, as Spin does for `spin:sqlite`.

use rusqlite::types::{self, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::database::{DatabaseError, Row, Value};

/// Columns and rows of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Executes one statement.
///
/// # Errors
///
/// When SQLite does, in its words.
pub fn execute(
    connection: &Connection,
    statement: &str,
    parameters: &[Value],
) -> Result<Answer, DatabaseError> {
    let mut statement = connection.prepare_cached(statement)?;
    let columns: Vec<String> = statement
        .column_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let count = columns.len();
    let parameters = params_from_iter(parameters.iter().map(parameter));
    let mut found = statement.query(parameters)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let values = (0..count).map(|column| row.get_ref(column).map(value));
        rows.push(values.collect::<Result<Row, _>>()?);
    }
    Ok(Answer { columns, rows })
}

/// The error of SQLite as the host of a component tells it: in its words.
impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Io(error.to_string())
    }
}

fn parameter(from: &Value) -> types::Value {
    match from {
        Value::Integer(number) => types::Value::Integer(*number),
        Value::Text(text) => types::Value::Text(text.clone()),
        Value::Blob(bytes) => types::Value::Blob(bytes.clone()),
        Value::Null => types::Value::Null,
    }
}

fn value(from: ValueRef<'_>) -> Value {
    match from {
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Real(_) | ValueRef::Null => Value::Null,
    }
}
