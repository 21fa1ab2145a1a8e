//! The storage interfaces over a SQLite database of the host, such as `spin:sqlite` offers.
//!
//! **One statement is one call.** The host may give every caller a connection of its own or all of them the same one, so nothing spans two
//! statements: each is a transaction by itself, and the settings of a connection are the same for all. A commit is one guarded
//! statement, which writes all rows if and only if every row that was checked has the version that was read. A read of up to
//! 96 keys is one statement too; one of more is made in parts, and made again unless a last statement finds all versions as they were
//! read.
//!
//! **Versions** are random, so none is given twice, also to a key whose removal has been forgotten. A removal leaves a row without a value
//! for a minute. Rows whose time has come, those among them, are dropped by some commits, a few more than they can have added.
//!
//! **Waiting.** SQLite lets one writer in at a time and has the others look again, in pauses that grow to 100 ms: beside many, some would
//! wait for a second. So a statement waits for some milliseconds there and is then made anew, up to ten seconds.
//!
//! **What holds** (SEC-K1, SEC-K2): values are sealed by the [barrier](gatehouse_barrier), each for the store and key that it is under,
//! together with its end; the keyring is sealed by the key that the host's configuration has as `seal_key`. A value that was
//! altered, exchanged or moved does not open, and the call fails with `corrupt`. A database without its keyring, with another one's, or
//! with the tables of a newer version is refused and left alone.
//!
//! **What does not**: keys show to the database, as with our own host's stores. Who can write to the file can put older rows in the place of
//! those that count, or take rows away, one by one or all; that goes unnoticed.

mod adapter;
mod connection;
mod database;
mod statements;
mod verified;

pub use adapter::SqliteAdapter;
pub use connection::KNOWN_SCHEMA;
pub use database::{Database, DatabaseError, Host, Row, Value};
