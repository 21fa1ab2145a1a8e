//! Why the store of an installation under Spin is not used.

use std::io;
use std::path::{Path, PathBuf};

use gatehouse_ports::StoreError;
use gatehouse_storage_adapter::sqlite::DatabaseError;
use rusqlite::ErrorCode;

#[cfg(feature = "postgresql")]
use super::SpinDatabaseError;
use crate::BackupError;
#[cfg(feature = "postgresql")]
use crate::PostgresError;

/// Why the store of an installation under Spin was not read, or not made.
#[derive(Debug, thiserror::Error)]
pub enum SpinError {
    /// The file of the capability that has the installation's identity is not there.
    #[error(
        "there is no file {}: correct its path in Spin's runtime configuration, or name the form of the records by --spin-records",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is there, and has no records.
    #[error(
        "{} holds no installation of Gatehouse: name the runtime configuration that Spin ran with, and the form of the records by --spin-records",
        path.display()
    )]
    NoInstallation {
        /// The file.
        path: PathBuf,
    },
    /// A file is where one is to be made.
    #[error(
        "{} is there already: a backup is restored into new files only; move it away, or name other paths in the runtime configuration",
        path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Two capabilities have one file.
    #[error("two capabilities have the same file, {}: give each one of its own in Spin's runtime configuration", path.display())]
    Shared {
        /// The file.
        path: PathBuf,
    },
    /// It has records, and nothing that opens them.
    #[error("{} has records and no keyring: it was altered; restore a backup that was made before", path.display())]
    NoKeyring {
        /// The file.
        path: PathBuf,
    },
    /// It was used for the first time while the backup began.
    #[error("{} got its first records at this moment: run the command again", path.display())]
    BegunMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// Another program uses the file.
    #[error("another program keeps {} locked: stop it, or try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// SQLite cannot use the file.
    #[error(transparent)]
    Unusable(StoreError),
    /// The operating system denies something.
    #[error("cannot use {}: {source}; run the command as the user that runs Spin", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// The database cannot be used as it is.
    #[cfg(feature = "postgresql")]
    #[error(transparent)]
    Database(#[from] SpinDatabaseError),
    /// Records are not to be had, or not stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The backup is of no use.
    #[error(transparent)]
    Backup(#[from] BackupError),
}

impl SpinError {
    /// The failure of SQLite with the file at `path`.
    pub(super) fn of_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            _ => Self::Unusable(DatabaseError::from(source).at(&path.display().to_string())),
        }
    }

    /// The failure of the operating system with the file at `path`.
    pub(super) fn of_file(path: &Path, source: io::Error) -> Self {
        Self::Denied {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(feature = "postgresql")]
impl From<PostgresError> for SpinError {
    fn from(error: PostgresError) -> Self {
        SpinDatabaseError::Connection(error).into()
    }
}

#[cfg(feature = "postgresql")]
impl From<gatehouse_storage_adapter::postgres::DatabaseError> for SpinError {
    fn from(error: gatehouse_storage_adapter::postgres::DatabaseError) -> Self {
        Self::Store(StoreError::from(error))
    }
}
