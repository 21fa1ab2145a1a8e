//! The adapter over a SQLite database.

mod costs;
mod faults;
mod histories;
mod libsql;
mod reads;
mod refusals;
mod secrecy;

use std::sync::Arc;

use gatehouse_ports::OsRandom;
use gatehouse_ports::doubles::{ManualClock, SharedTime};
use gatehouse_spin_sqlite::{AdapterHost, Connection, Databases};
use gatehouse_storage_adapter::sqlite::{Row, SqliteAdapter, Value};

use crate::setting::{LABEL, SEAL_KEY};

/// Where the time of every test begins, in milliseconds since 1970.
pub const START: u64 = 1_000_000;

pub type Instance = SqliteAdapter<AdapterHost, SharedTime, OsRandom>;

/// Databases and a clock.
pub struct Setting {
    pub databases: Databases,
    pub time: SharedTime,
}

impl Setting {
    pub fn new() -> Self {
        Self {
            databases: Databases::new(&[LABEL, "orgs"]),
            time: SharedTime(Arc::new(ManualClock::at_seconds(START / 1000))),
        }
    }

    /// A fresh instance, for which nothing goes wrong.
    pub fn instance(&self) -> Instance {
        self.instance_of(self.databases.another_client())
    }

    /// A fresh instance that is this client.
    pub fn instance_of(&self, client: Databases) -> Instance {
        self.instance_at(AdapterHost::new(client, SEAL_KEY))
    }

    /// A fresh instance on this host.
    pub fn instance_at(&self, host: AdapterHost) -> Instance {
        SqliteAdapter::new(host, LABEL, self.time.clone(), OsRandom)
    }

    /// A connection beside the adapter.
    pub fn connection(&self) -> Connection {
        self.databases.another_client().open(LABEL).unwrap()
    }

    /// The answer to a statement beside the adapter.
    pub fn ask(&self, statement: &str) -> Vec<Row> {
        self.connection().execute(statement, &[]).unwrap().rows
    }

    /// The number that a statement beside the adapter answers.
    pub fn count(&self, statement: &str) -> i64 {
        match self.ask(statement)[0][0] {
            Value::Integer(count) => count,
            ref other => panic!("{other:?}"),
        }
    }
}
