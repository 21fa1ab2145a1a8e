//! The storage interfaces over the tables of a database, of whatever kind.
//!
//! **One statement is one call.** Nothing spans two statements: each is a transaction by itself. A commit is one statement, which writes all
//! rows if and only if every row that was checked has the version that was read. A read of up to 96 keys is one statement too; one of more
//! is made in parts, and made again unless a last statement finds all versions as they were read.
//!
//! **Versions** are random, so none is given twice, also to a key whose removal has been forgotten. Rows whose time has come are dropped by
//! some commits, a few more than they can have added.
//!
//! **What holds** (SEC-K1, SEC-K2): values are sealed by the [barrier](gatehouse_barrier), each for the store and key that it is under,
//! together with its end; the keyring is sealed by the key that the host's configuration has as `seal_key`. A value that was
//! altered, exchanged or moved does not open, and the call fails with `corrupt`. A database without its keyring, with another one's, or
//! with the tables of a newer version is refused and left alone.
//!
//! **What does not**: keys show to the database, as with our own host's stores. Who can write to it can put older rows in the place of
//! those that count, or take rows away, one by one or all; that goes unnoticed.

mod adapter;
mod tables;
mod verified;

pub use adapter::SqlAdapter;
pub use tables::{Committed, Found, Range, SealedChange, Stored, Table, Tables};
pub(crate) use tables::{PURGED_ROWS, time_number, version_number};
