//! Backups of everything that the server has stored.

/// Why there is no backup, or it does not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The host makes none.
    #[error(
        "this host makes no backups: make one by `gatehouse operator backup --spin-runtime`, with records in PostgreSQL by --postgres-url-file, or back its store up where it is kept"
    )]
    Unsupported,
    /// As many are being made as may be at one time.
    #[error("as many backups are being made as may be at one time: try again when one is complete")]
    Busy,
    /// None of this name is being made.
    #[error("the backup was given up, or was complete already")]
    Unknown,
    /// The stores are closed or do not answer. The text is for the log, without secrets.
    #[error("the backup cannot be made: {0}")]
    Unavailable(String),
}

/// Backups, made part by part. The WIT interface is the specification.
pub trait Backups {
    /// Begins one of what is stored now, and answers its name.
    fn begin(&self, installation: Option<&str>) -> Result<String, BackupError>;

    /// The next bytes of one; `None` once it is complete.
    fn next(&self, name: &str) -> Result<Option<Vec<u8>>, BackupError>;
}

/// Makes no backups.
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
