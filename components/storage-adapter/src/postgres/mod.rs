//! The storage interfaces over a PostgreSQL database that the host can reach, as `spin:postgres` offers: [`sql`](crate::sql) over its tables.
//!
//! **Several hosts** may use one database, each with any number of instances: what one has acknowledged every other reads at its next
//! call, since all of it is read from the database and nothing is kept but what is asked for again by its version.
//!
//! **Lost answers.** A connection can end when a commit was sent and before it was answered. Every commit leaves its outcome in the database by
//! its version, so that is asked for, some seconds long; a commit that had not been applied by then never is.
//!
//! **What the database must be**: a primary that flushes its commits, with the usual isolation `read committed`. Another one is refused.

mod database;
#[cfg(feature = "native-postgres")]
pub mod native;
mod statements;
mod tables;
pub mod whole;

pub use database::{Database, DatabaseError, Host, Parameter, Row, Value};
pub use statements::KNOWN_SCHEMA;
pub use tables::PostgresTables;

use gatehouse_ports::{Clock, Random};

use crate::sql::SqlAdapter;

/// The store and the cache of one capability, in the database whose address a host has.
pub type PostgresAdapter<H, C, R> = SqlAdapter<PostgresTables<H, C, R>>;

impl<H: Host, C: Clock, R: Random> PostgresAdapter<H, C, R> {
    /// An adapter for the capability called `label`, whose database is asked when it is first needed. Entries expire by `clock`.
    pub fn new(host: H, label: &str, clock: C, random: R) -> Self {
        Self::over(PostgresTables::new(host, label, clock, random))
    }
}
