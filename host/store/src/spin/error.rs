//! Why the files of an installation under Spin are not used.

use std::io;
use std::path::{Path, PathBuf};

use gatehouse_ports::StoreError;
use rusqlite::ErrorCode;

use crate::BackupError;

/// Why the store of an installation under Spin was not read, or not made.
#[derive(Debug, thiserror::Error)]
pub enum SpinError {
    /// The file of the capability that has the installation's identity is not there.
    #[error("there is no file {}: correct its path in Spin's runtime configuration", path.display())]
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
    /// Another program uses the file.
    #[error("another program keeps {} locked: stop it, or try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// SQLite cannot use the file.
    #[error("cannot use {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The message of SQLite.
        source: rusqlite::Error,
    },
    /// The operating system denies something.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
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
            _ => Self::Unusable { path, source },
        }
    }

    /// The failure of the operating system with the file at `path`.
    pub(super) fn of_file(path: &Path, source: io::Error) -> Self {
        Self::NotWritten {
            path: path.to_owned(),
            source,
        }
    }
}
