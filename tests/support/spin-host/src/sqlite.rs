//! Databases as Spin offers them: a connection for each `open`, whose statements run on threads that may block.

use gatehouse_spin_sqlite::Connection;
use gatehouse_storage_adapter::sqlite::{DatabaseError, Value};
use wasmtime::component::Resource;

use crate::platform::bindings::spin::sqlite::sqlite;
use crate::platform::{PlatformView, Trappable};

impl sqlite::Host for PlatformView<'_> {}

impl sqlite::HostConnection for PlatformView<'_> {
    async fn open(
        &mut self,
        database: String,
    ) -> Trappable<Result<Resource<Connection>, sqlite::Error>> {
        match self.platform.databases.open(&database) {
            Ok(connection) => Ok(Ok(self.table.push(connection)?)),
            Err(error) => Ok(Err(database_error(error))),
        }
    }

    async fn execute(
        &mut self,
        connection: Resource<Connection>,
        statement: String,
        parameters: Vec<sqlite::Value>,
    ) -> Trappable<Result<sqlite::QueryResult, sqlite::Error>> {
        tracing::debug!("executing: {statement}");
        let connection = self.table.get(&connection)?.clone();
        let executing = tokio::task::spawn_blocking(move || {
            let parameters: Vec<Value> = parameters.into_iter().map(parameter).collect();
            connection.execute(&statement, &parameters)
        });
        Ok(match executing.await? {
            Ok(answer) => Ok(sqlite::QueryResult {
                columns: answer.columns,
                rows: answer.rows.into_iter().map(row).collect(),
            }),
            Err(error) => Err(database_error(error)),
        })
    }

    async fn last_insert_rowid(&mut self, connection: Resource<Connection>) -> Trappable<i64> {
        Ok(self.table.get(&connection)?.last_insert_rowid())
    }

    async fn changes(&mut self, connection: Resource<Connection>) -> Trappable<u64> {
        Ok(self.table.get(&connection)?.changes())
    }

    async fn drop(&mut self, connection: Resource<Connection>) -> Trappable<()> {
        self.table.delete(connection)?;
        Ok(())
    }
}

fn parameter(from: sqlite::Value) -> Value {
    match from {
        sqlite::Value::Integer(number) => Value::Integer(number),
        sqlite::Value::Text(text) => Value::Text(text),
        sqlite::Value::Blob(bytes) => Value::Blob(bytes),
        sqlite::Value::Real(_) | sqlite::Value::Null => Value::Null,
    }
}

fn row(from: Vec<Value>) -> sqlite::RowResult {
    let value = |value| match value {
        Value::Integer(number) => sqlite::Value::Integer(number),
        Value::Text(text) => sqlite::Value::Text(text),
        Value::Blob(bytes) => sqlite::Value::Blob(bytes),
        Value::Null => sqlite::Value::Null,
    };
    sqlite::RowResult {
        values: from.into_iter().map(value).collect(),
    }
}

fn database_error(from: DatabaseError) -> sqlite::Error {
    match from {
        DatabaseError::NoSuchDatabase => sqlite::Error::NoSuchDatabase,
        DatabaseError::AccessDenied => sqlite::Error::AccessDenied,
        DatabaseError::InvalidConnection => sqlite::Error::InvalidConnection,
        DatabaseError::Full => sqlite::Error::DatabaseFull,
        DatabaseError::Io(text) => sqlite::Error::Io(text),
    }
}
