//! One connection, and the values that pass over it.

use std::sync::Arc;

use deadpool_postgres::Object;
use gatehouse_storage_adapter::postgres::{DatabaseError, Parameter, Row, Value};
use tokio_postgres::types::{ToSql, Type};

use crate::{Pools, Verdict};

/// A connection that was lent. Clones are the same connection; the pool has it back with the last one.
#[derive(Clone)]
pub struct Connection {
    client: Arc<Object>,
    of: Pools,
}

impl Connection {
    pub(crate) fn new(client: Object, of: Pools) -> Self {
        Self {
            client: Arc::new(client),
            of,
        }
    }

    /// Executes one statement and gives its rows.
    ///
    /// # Errors
    ///
    /// When the database does, or the test.
    ///
    /// # Panics
    ///
    /// When there are none: Spin 4.1 waits for the first one for ever.
    pub async fn query_async(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, DatabaseError> {
        let rows = self.execute_async(statement, parameters).await?;
        assert!(!rows.is_empty(), "Spin would hang at {statement}");
        Ok(rows)
    }

    /// Executes one statement, with rows or without.
    ///
    /// # Errors
    ///
    /// When the database does, or the test.
    pub async fn execute_async(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, DatabaseError> {
        match self.of.verdict(statement) {
            Verdict::Proceed => self.send(statement, parameters).await,
            Verdict::Fail(error) => Err(error),
            Verdict::LoseAnswer => {
                self.send(statement, parameters).await?;
                Err(DatabaseError::Lost)
            }
        }
    }

    async fn send(
        &self,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, DatabaseError> {
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(parameter).collect();
        let rows = self.client.query(statement, &parameters).await;
        let rows = rows.map_err(|error| failure(&error))?;
        Ok(rows.iter().map(row).collect())
    }
}

fn parameter(from: &Parameter) -> &(dyn ToSql + Sync) {
    match from {
        Parameter::Number(number) => number,
        Parameter::Text(text) => text,
        Parameter::Bytes(bytes) => bytes,
        Parameter::Numbers(numbers) => numbers,
        Parameter::Texts(texts) => texts,
    }
}

fn row(from: &tokio_postgres::Row) -> Row {
    let value = |index: usize, column: &tokio_postgres::Column| match *column.type_() {
        Type::BOOL => from.get::<_, Option<bool>>(index).map(Value::Boolean),
        Type::INT8 => from.get::<_, Option<i64>>(index).map(Value::Number),
        Type::TEXT => from.get::<_, Option<String>>(index).map(Value::Text),
        Type::BYTEA => from.get::<_, Option<Vec<u8>>>(index).map(Value::Bytes),
        _ => None,
    };
    let columns = from.columns().iter().enumerate();
    columns
        .map(|(index, column)| value(index, column).unwrap_or(Value::Null))
        .collect()
}

fn failure(from: &tokio_postgres::Error) -> DatabaseError {
    match from.as_db_error() {
        Some(error) => DatabaseError::Refused {
            code: error.code().code().to_owned(),
            message: error.message().to_owned(),
        },
        None => DatabaseError::Lost,
    }
}
