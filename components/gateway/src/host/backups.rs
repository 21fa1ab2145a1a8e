//! Backups of all data that the server stores.

/// The reason why there is no backup, or why it does not continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The host makes no backups.
    #[error(
        "this host makes no backups: make one by `gatehouse operator backup --spin-runtime`, with records in PostgreSQL by --postgres-url-file, or back its store up where it is kept"
    )]
    Unsupported,
    /// The maximum number of backups is in progress.
    #[error("as many backups are being made as may be at one time: try again when one is complete")]
    Busy,
    /// No backup of this name is in progress.
    #[error("the backup was given up, or was complete already")]
    Unknown,
    /// The stores are sealed or do not answer. The text is for the log, without secrets.
    #[error("the backup cannot be made: {0}")]
    Unavailable(String),
}

/// Backups, which are read part by part. The WIT interface is the specification.
pub trait Backups {
    /// Begins a backup of the present data, and returns its name.
    fn begin(&self, installation: Option<&str>) -> Result<String, BackupError>;

    /// The next bytes of a backup; `None` once it is complete.
    fn next(&self, name: &str) -> Result<Option<Vec<u8>>, BackupError>;
}

/// A host without backups.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBackups;

impl Backups for NoBackups {
    fn begin(&self, _: Option<&str>) -> Result<String, BackupError> {
        Err(BackupError::Unsupported)
    }

    fn next(&self, _: &str) -> Result<Option<Vec<u8>>, BackupError> {
        Err(BackupError::Unsupported)
    }
}
