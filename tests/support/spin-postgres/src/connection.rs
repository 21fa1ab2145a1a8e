//! One connection.

use std::sync::Arc;

use deadpool_postgres::Object;
use gatehouse_storage_adapter::postgres::{DatabaseError, Parameter, Row, native};

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
    /// When there are no rows: Spin 4.1 waits for the first one indefinitely.
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
        native::query(&self.client, statement, parameters).await
    }
}
