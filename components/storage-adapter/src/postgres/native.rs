//! A connection that this process makes itself, as Spin does for `spin:postgres`.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Column};

use super::database::{DatabaseError, Parameter, Row, Value};

/// Executes one statement and gives its rows, if it has any.
///
/// # Errors
///
/// When the database refuses it, in its words, or the connection is lost.
pub async fn query(
    client: &Client,
    statement: &str,
    parameters: &[Parameter],
) -> Result<Vec<Row>, DatabaseError> {
    let parameters: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(parameter).collect();
    let rows = client.query(statement, &parameters).await?;
    Ok(rows.iter().map(row).collect())
}

/// The error of the client as the host of a component tells it: in the words of the database, and of the connection only that it is lost.
impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(refusal) => Self::Refused {
                code: refusal.code().code().to_owned(),
                message: refusal.message().to_owned(),
            },
            None => Self::Lost,
        }
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
    let columns = from.columns().iter().enumerate();
    columns
        .map(|(index, column)| value(from, index, column).unwrap_or(Value::Null))
        .collect()
}

fn value(row: &tokio_postgres::Row, index: usize, column: &Column) -> Option<Value> {
    match *column.type_() {
        Type::BOOL => row.try_get(index).ok().flatten().map(Value::Boolean),
        Type::INT8 => row.try_get(index).ok().flatten().map(Value::Number),
        Type::TEXT => row.try_get(index).ok().flatten().map(Value::Text),
        Type::BYTEA => row.try_get(index).ok().flatten().map(Value::Bytes),
        _ => None,
    }
}
