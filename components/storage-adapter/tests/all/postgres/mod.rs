//! The adapter over a PostgreSQL database.

mod faults;
mod histories;
mod refusals;
mod secrecy;
mod whole;

use std::sync::{Arc, OnceLock};

use gatehouse_ports::OsRandom;
use gatehouse_ports::doubles::{ManualClock, SharedTime};
use gatehouse_postgres_server::PostgresServer;
use gatehouse_spin_postgres::{AdapterHost, Pools};
use gatehouse_storage_adapter::postgres::{Database as _, Host as _, PostgresAdapter, Row, Value};

use crate::setting::{LABEL, SEAL_KEY};

/// Where the time of every test begins, in milliseconds since 1970.
pub const START: u64 = 1_000_000;

pub type Instance = PostgresAdapter<AdapterHost, SharedTime, OsRandom>;

/// The server of all tests.
fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(|| PostgresServer::start_blocking(&[]))
}

/// A database and a clock.
pub struct Setting {
    pub address: String,
    pub time: SharedTime,
}

impl Setting {
    pub fn new() -> Self {
        Self {
            address: server().create_database_blocking(),
            time: SharedTime(Arc::new(ManualClock::at_seconds(START / 1000))),
        }
    }

    /// A fresh instance, for which nothing goes wrong.
    pub fn instance(&self) -> Instance {
        self.instance_of(Pools::default())
    }

    /// A fresh instance with these pools.
    pub fn instance_of(&self, pools: Pools) -> Instance {
        self.instance_at(AdapterHost::new(pools, Some(&self.address), SEAL_KEY))
    }

    /// A fresh instance on this host.
    pub fn instance_at(&self, host: AdapterHost) -> Instance {
        PostgresAdapter::new(host, LABEL, self.time.clone(), OsRandom)
    }

    /// The answer to a statement beside the adapter.
    pub fn ask(&self, statement: &str) -> Vec<Row> {
        let host = AdapterHost::new(Pools::default(), Some(&self.address), SEAL_KEY);
        let connection = host.connect().unwrap();
        if statement.trim_start().starts_with("select") {
            return connection.query(statement, &[]).unwrap();
        }
        connection.execute(statement, &[]).unwrap();
        Vec::new()
    }

    /// The number that a statement beside the adapter answers.
    pub fn count(&self, statement: &str) -> i64 {
        match self.ask(statement)[0][0] {
            Value::Number(count) => count,
            ref other => panic!("{other:?}"),
        }
    }
}
