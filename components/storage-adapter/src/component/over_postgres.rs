//! A database of `spin:postgres` below the adapter.

use gatehouse_ports::{OsRandom, SystemClock};
use zeroize::Zeroizing;

use crate::postgres::{Database, DatabaseError, Host, Parameter, PostgresAdapter, Row, Value};

bindings!("gatehouse:storage-adapter/postgres-adapter");

use bindings::spin::postgres::postgres;
use bindings::wasi::config::store as config;

/// The variable with the address of the database.
const ADDRESS: &str = "postgres_url";

/// The adapter of an instance.
pub type Kept = PostgresAdapter<SpinHost, SystemClock, OsRandom>;

/// The adapter for the capability called `label`.
pub fn adapter(label: &str) -> Kept {
    PostgresAdapter::new(SpinHost, label, SystemClock, OsRandom)
}

pub struct SpinHost;

impl Host for SpinHost {
    type Database = postgres::Connection;

    fn connect(&self) -> Result<postgres::Connection, DatabaseError> {
        let address = variable(ADDRESS).ok().flatten();
        let address = address.filter(|address| !address.trim_ascii().is_empty());
        let address = address.ok_or(DatabaseError::NoAddress)?;
        // The host's words may repeat parts of the address, which holds the password.
        postgres::Connection::open(&address).map_err(|_| DatabaseError::Unreachable)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        variable("seal_key")
    }
}

fn variable(name: &str) -> Result<Option<Zeroizing<String>>, String> {
    let text = config::get(name).map_err(|error| match error {
        config::Error::Upstream(why) | config::Error::Io(why) => why,
    })?;
    Ok(text.map(Zeroizing::new))
}

impl Database for postgres::Connection {
    fn query(&self, statement: &str, parameters: &[Parameter]) -> Result<Vec<Row>, DatabaseError> {
        let answer = Self::query(self, statement, &passed(parameters)).map_err(database_error)?;
        let row = |row: postgres::Row| row.into_iter().map(value).collect();
        Ok(answer.rows.into_iter().map(row).collect())
    }

    fn execute(&self, statement: &str, parameters: &[Parameter]) -> Result<(), DatabaseError> {
        let executed = Self::execute(self, statement, &passed(parameters));
        executed.map(drop).map_err(database_error)
    }
}

fn passed(parameters: &[Parameter]) -> Vec<postgres::ParameterValue> {
    parameters.iter().map(parameter).collect()
}

fn parameter(from: &Parameter) -> postgres::ParameterValue {
    match from {
        Parameter::Number(number) => postgres::ParameterValue::Int64(*number),
        Parameter::Text(text) => postgres::ParameterValue::Str(text.clone()),
        Parameter::Bytes(bytes) => postgres::ParameterValue::Binary(bytes.clone()),
        Parameter::Numbers(numbers) => postgres::ParameterValue::ArrayInt64(numbers.clone()),
        Parameter::Texts(texts) => {
            postgres::ParameterValue::ArrayStr(texts.iter().cloned().map(Some).collect())
        }
    }
}

fn value(from: postgres::DbValue) -> Value {
    match from {
        postgres::DbValue::Boolean(is) => Value::Boolean(is),
        postgres::DbValue::Int64(number) => Value::Number(number),
        postgres::DbValue::Str(text) => Value::Text(text),
        postgres::DbValue::Binary(bytes) => Value::Bytes(bytes),
        _ => Value::Null,
    }
}

fn database_error(from: postgres::Error) -> DatabaseError {
    match from {
        postgres::Error::QueryFailed(postgres::QueryError::DbError(error)) => {
            DatabaseError::Refused {
                code: error.code,
                message: error.message,
            }
        }
        _ => DatabaseError::Lost,
    }
}
