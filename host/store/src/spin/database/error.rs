//! Why the database of an installation under Spin is not used.

use std::io;

use crate::PostgresError;

/// Why the database of an installation under Spin was not read, or not filled.
#[derive(Debug, thiserror::Error)]
pub enum SpinDatabaseError {
    /// It cannot be reached, or relied upon.
    #[error("{}", in_words(.0))]
    Connection(#[from] PostgresError),
    /// It has no records.
    #[error(
        "the schema gatehouse_spin of the database holds no installation of Gatehouse: name the database that Spin uses"
    )]
    NoInstallation,
    /// It has records, and nothing that opens them.
    #[error(
        "the schema gatehouse_spin of the database has records of {label} and no keyring: it was altered; restore a backup that was made before"
    )]
    NoKeyring {
        /// The capability.
        label: &'static str,
    },
    /// It has records where there must be none.
    #[error(
        "the schema gatehouse_spin of the database has records: a backup is restored into an empty one only; name another database, or drop \
         the schema if what it holds is not needed any more"
    )]
    NotEmpty,
    /// The connection ended with the restore.
    #[error(
        "the connection was lost when the restore was complete, and the database may have it: run the same command again, which is refused if it \
         has"
    )]
    OutcomeUnknown,
    /// The operating system gives no thread.
    #[error("no connection can be made: {0}")]
    Runtime(io::Error),
}

/// The error without the names of settings that only a server has: for a command one file holds the address and the password.
fn in_words(error: &PostgresError) -> String {
    let text = error.to_string();
    let text = text.replace("storage.ca_file", "--postgres-ca-file");
    let text = text.replace("storage.password_file", "the address");
    text.replace("storage.url", "the address")
}
