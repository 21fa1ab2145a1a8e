//! The store of an installation under Spin: three files of SQLite, or the tables of a PostgreSQL database, which are copied into a backup and
//! made from one.
//!
//! Each capability has a file of its own, or rows of its own in the database. The [storage adapter](gatehouse_storage_adapter) keeps the
//! records there, sealed by a keyring for each capability, which in turn the variable `seal_key` of Spin seals. A backup has one keyring for
//! all of its records, so on the way every record is opened and sealed anew. The root key stays the same unless another one is wanted: the
//! `seal_key` of one is the key file of the other.
//!
//! The adapter reads and writes files and tables itself, as it does within Spin, so that their form is defined in one crate.

#[cfg(feature = "postgresql")]
mod database;
mod error;
mod file;
mod files;
mod fresh;
mod key_value;
mod part;
mod read;
mod restoration;
mod snapshot;

#[cfg(feature = "postgresql")]
pub use database::{SpinDatabase, SpinDatabaseError};
pub use error::SpinError;
pub use files::{SpinFiles, SpinForm};
pub use read::SpinStore;
pub use restoration::SpinRestoration;

use self::part::{Part, part};

/// Where an installation under Spin keeps its records.
#[derive(Clone)]
pub enum SpinPlace {
    /// In files.
    Files(SpinFiles),
    /// In a PostgreSQL database.
    #[cfg(feature = "postgresql")]
    Database(SpinDatabase),
}
