//! The double as a host of the storage adapter, without a component in between.

use gatehouse_storage_adapter::sqlite::{Database, DatabaseError, Host, Row, Value};
use zeroize::Zeroizing;

use crate::{Connection, Databases};

/// A client of the databases, and the variable `seal_key`.
#[derive(Clone)]
pub struct AdapterHost {
    client: Databases,
    seal_key: Result<Option<String>, String>,
}

impl AdapterHost {
    /// A host whose variable has this text.
    #[must_use]
    pub fn new(client: Databases, seal_key: &str) -> Self {
        Self::answering(client, Ok(Some(seal_key.to_owned())))
    }

    /// A host that answers like this when it is asked for the variable.
    #[must_use]
    pub const fn answering(client: Databases, seal_key: Result<Option<String>, String>) -> Self {
        Self { client, seal_key }
    }
}

impl Host for AdapterHost {
    type Database = Connection;

    fn open(&self, label: &str) -> Result<Connection, DatabaseError> {
        self.client.open(label)
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(self.seal_key.clone()?.map(Zeroizing::new))
    }
}

impl Database for Connection {
    fn execute(&self, statement: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        Ok(Self::execute(self, statement, parameters)?.rows)
    }
}
