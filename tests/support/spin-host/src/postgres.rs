//! Databases that are reached by an address, as Spin offers them: `open` lends a connection of a pool.

use gatehouse_spin_postgres::Connection;
use gatehouse_storage_adapter::postgres::{DatabaseError, Parameter, Value};
use wasmtime::component::Resource;

use crate::platform::bindings::spin::postgres::postgres;
use crate::platform::{PlatformView, Trappable};

impl postgres::Host for PlatformView<'_> {}

impl postgres::HostConnection for PlatformView<'_> {
    async fn open(
        &mut self,
        address: String,
    ) -> Trappable<Result<Resource<Connection>, postgres::Error>> {
        match self.platform.postgres.connect(&address).await {
            Ok(connection) => Ok(Ok(self.table.push(connection)?)),
            Err(error) => Ok(Err(postgres::Error::ConnectionFailed(error.to_string()))),
        }
    }

    async fn query(
        &mut self,
        connection: Resource<Connection>,
        statement: String,
        parameters: Vec<postgres::ParameterValue>,
    ) -> Trappable<Result<postgres::RowSet, postgres::Error>> {
        let (connection, parameters) = match self.statement(&connection, parameters)? {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        Ok(
            match connection.query_async(&statement, &parameters).await {
                Ok(rows) => Ok(postgres::RowSet {
                    columns: Vec::new(),
                    rows: rows.into_iter().map(row).collect(),
                }),
                Err(error) => Err(query_error(error)),
            },
        )
    }

    async fn execute(
        &mut self,
        connection: Resource<Connection>,
        statement: String,
        parameters: Vec<postgres::ParameterValue>,
    ) -> Trappable<Result<u64, postgres::Error>> {
        let (connection, parameters) = match self.statement(&connection, parameters)? {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        Ok(
            match connection.execute_async(&statement, &parameters).await {
                Ok(rows) => Ok(rows.len() as u64),
                Err(error) => Err(query_error(error)),
            },
        )
    }

    async fn drop(&mut self, connection: Resource<Connection>) -> Trappable<()> {
        self.table.delete(connection)?;
        Ok(())
    }
}

impl PlatformView<'_> {
    /// The connection and the parameters of a statement, as far as this host converts them.
    fn statement(
        &self,
        connection: &Resource<Connection>,
        parameters: Vec<postgres::ParameterValue>,
    ) -> Trappable<Result<(Connection, Vec<Parameter>), postgres::Error>> {
        let connection = self.table.get(connection)?.clone();
        let parameters: Option<Vec<Parameter>> = parameters.into_iter().map(parameter).collect();
        Ok(parameters
            .map(|parameters| (connection, parameters))
            .ok_or_else(|| {
                let why = "this host converts no such value".to_owned();
                postgres::Error::ValueConversionFailed(why)
            }))
    }
}

fn parameter(from: postgres::ParameterValue) -> Option<Parameter> {
    match from {
        postgres::ParameterValue::Int64(number) => Some(Parameter::Number(number)),
        postgres::ParameterValue::Str(text) => Some(Parameter::Text(text)),
        postgres::ParameterValue::Binary(bytes) => Some(Parameter::Bytes(bytes)),
        postgres::ParameterValue::ArrayInt64(numbers) => Some(Parameter::Numbers(numbers)),
        postgres::ParameterValue::ArrayStr(texts) => {
            let texts: Option<Vec<String>> = texts.into_iter().collect();
            texts.map(Parameter::Texts)
        }
        _ => None,
    }
}

fn row(from: Vec<Value>) -> postgres::Row {
    let value = |value| match value {
        Value::Boolean(is) => postgres::DbValue::Boolean(is),
        Value::Number(number) => postgres::DbValue::Int64(number),
        Value::Text(text) => postgres::DbValue::Str(text),
        Value::Bytes(bytes) => postgres::DbValue::Binary(bytes),
        Value::Null => postgres::DbValue::DbNull,
    };
    from.into_iter().map(value).collect()
}

fn query_error(from: DatabaseError) -> postgres::Error {
    postgres::Error::QueryFailed(match from {
        DatabaseError::Refused { code, message } => {
            postgres::QueryError::DbError(postgres::DbError {
                as_text: message.clone(),
                severity: "ERROR".to_owned(),
                code,
                message,
                detail: None,
                extras: Vec::new(),
            })
        }
        other => postgres::QueryError::Text(other.to_string()),
    })
}
