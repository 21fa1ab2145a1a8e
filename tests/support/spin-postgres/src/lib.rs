//! A double of `spin:postgres`, as Spin 4.1 has it in its own process, for tests and for the host that stands in for Spin.
//!
//! As there, every address has a pool of 64 connections; one that is given back is cleaned of what its session has set before it is lent
//! again; a statement is prepared and executed in one call. Errors of the database keep their code, and all others are text. There is no TLS.
//! Tests can decide the outcome of each statement.

mod connection;
mod host;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use gatehouse_storage_adapter::postgres::DatabaseError;
use tokio_postgres::NoTls;

pub use connection::Connection;
pub use host::AdapterHost;

/// How many connections Spin keeps to one address.
const POOL_SIZE: usize = 64;

/// The outcome of one statement, as a test has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is executed.
    Proceed,
    /// It fails and does nothing.
    Fail(DatabaseError),
    /// It is executed, and its answer is lost on the way.
    LoseAnswer,
}

type Intercept = Arc<dyn Fn(&str) -> Verdict + Send + Sync>;

/// The pools of a host, by address. Clones are the same pools.
#[derive(Clone, Default)]
pub struct Pools {
    pools: Arc<Mutex<HashMap<String, Pool>>>,
    intercept: Arc<Mutex<Option<Intercept>>>,
}

impl Pools {
    /// Has `intercept` decide about every statement from now on, by its text.
    pub fn intercept(&self, intercept: impl Fn(&str) -> Verdict + Send + Sync + 'static) {
        let mut place = self
            .intercept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::new(intercept));
    }

    /// Lends a connection to `address`.
    ///
    /// # Errors
    ///
    /// When there is none to be had.
    pub async fn connect(&self, address: &str) -> Result<Connection, DatabaseError> {
        let pool = self.pool(address)?;
        let client = pool.get().await.map_err(|_| DatabaseError::Unreachable)?;
        Ok(Connection::new(client, self.clone()))
    }

    fn pool(&self, address: &str) -> Result<Pool, DatabaseError> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(address) {
            return Ok(pool.clone());
        }
        let configuration: tokio_postgres::Config =
            address.parse().map_err(|_| DatabaseError::Unreachable)?;
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Clean,
        };
        let manager = Manager::from_config(configuration, NoTls, recycling);
        let pool = Pool::builder(manager).max_size(POOL_SIZE).build();
        let pool = pool.map_err(|_| DatabaseError::Unreachable)?;
        pools.insert(address.to_owned(), pool.clone());
        Ok(pool)
    }

    pub(crate) fn verdict(&self, statement: &str) -> Verdict {
        let intercept = self
            .intercept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        intercept.map_or(Verdict::Proceed, |intercept| intercept(statement))
    }
}
