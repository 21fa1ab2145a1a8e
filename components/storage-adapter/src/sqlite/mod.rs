//! The storage interfaces over a SQLite database of the host, such as `spin:sqlite` offers: [`sql`](crate::sql) over its tables.
//!
//! The host may give every caller a connection of its own or all of them the same one, so the settings of a connection are the same for
//! all. A removal leaves a row without a value until a later purge, so that a commit is one guarded statement whatever it changes.
//!
//! **Waiting.** SQLite lets one writer in at a time and has the others look again, in pauses that grow to 100 ms: beside many, some would
//! wait for a second. So a statement waits for some milliseconds there and is then made anew, up to ten seconds.

mod connection;
mod database;
#[cfg(feature = "native-sqlite")]
pub mod native;
mod statements;
mod tables;

pub use connection::{KNOWN_SCHEMA, SqliteTables};
pub use database::{Database, DatabaseError, Host, Row, Value};

use crate::sql::SqlAdapter;

/// The store and the cache of one capability, in the database behind one label of a host.
pub type SqliteAdapter<H, C, R> = SqlAdapter<SqliteTables<H, C, R>>;

impl<H: Host, C, R> SqliteAdapter<H, C, R>
where
    C: gatehouse_ports::Clock,
    R: gatehouse_ports::Random,
{
    /// An adapter for the database behind `label`, which is opened when it is first needed. Entries expire by `clock`.
    pub fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self::over(SqliteTables::new(host, label, clock, random))
    }
}
