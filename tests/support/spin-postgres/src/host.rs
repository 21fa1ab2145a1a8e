//! The double as a host of the storage adapter, without a component in between.

use std::sync::LazyLock;
use std::sync::mpsc;

use gatehouse_storage_adapter::postgres::{Database, DatabaseError, Host, Parameter, Row};
use tokio::runtime::{Builder, Runtime};
use zeroize::Zeroizing;

use crate::{Connection, Pools};

/// Where connections are driven for callers that block.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("threads can be started")
});

/// A host with the variables `postgres_url` and `seal_key`.
#[derive(Clone)]
pub struct AdapterHost {
    pools: Pools,
    address: Option<String>,
    seal_key: String,
}

impl AdapterHost {
    /// A host whose variables have these texts.
    #[must_use]
    pub fn new(pools: Pools, address: Option<&str>, seal_key: &str) -> Self {
        Self {
            pools,
            address: address.map(str::to_owned),
            seal_key: seal_key.to_owned(),
        }
    }
}

impl Host for AdapterHost {
    type Database = Connection;

    fn connect(&self) -> Result<Connection, DatabaseError> {
        let address = self.address.clone().ok_or(DatabaseError::NoAddress)?;
        let pools = self.pools.clone();
        wait(async move { pools.connect(&address).await })
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(Some(Zeroizing::new(self.seal_key.clone())))
    }
}

impl Database for Connection {
    fn query(&self, statement: &str, parameters: &[Parameter]) -> Result<Vec<Row>, DatabaseError> {
        let (connection, statement) = (self.clone(), statement.to_owned());
        let parameters = parameters.to_vec();
        wait(async move { connection.query_async(&statement, &parameters).await })
    }

    fn execute(&self, statement: &str, parameters: &[Parameter]) -> Result<(), DatabaseError> {
        let (connection, statement) = (self.clone(), statement.to_owned());
        let parameters = parameters.to_vec();
        wait(async move { connection.execute_async(&statement, &parameters).await }).map(drop)
    }
}

/// Waits for `work` on threads of its own, so that a caller on another runtime may wait too.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    RUNTIME.spawn(async move {
        let _ = sender.send(work.await);
    });
    receiver.recv().expect("it is driven to its end")
}
