//! The interface `migrations`: its functions and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{Migration, ServiceError};

/// Moves of mounts. The WIT interface is the specification.
pub trait Migrations {
    /// Moves the method at `source` to `target`, which ends all its tokens at once; its data, aliases and entities stay with it.
    fn move_mount(&self, source: &str, target: &str) -> Result<String, RemountError>;

    /// The move with this identifier; `None` also for one of more than a day ago.
    fn read_migration(&self, id: &str) -> Result<Option<Migration>, ServiceError>;
}

/// Why a mount stays where it is (contract 6.3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemountError {
    /// The mount `token/` does not move.
    #[error("the mount token/ cannot be moved")]
    TokenMount,
    /// The target is the mount `token/` or lies below it.
    #[error("nothing can be moved to token/ or below it")]
    ReservedTarget,
    /// There is no mount at the source.
    #[error("there is no mount at this path")]
    NoMount,
    /// The target is not a path of a mount, as in [`crate::MountError::InvalidPath`].
    #[error(
        "a mount path has 1 to 12 segments of printable ASCII without blanks, at most 256 bytes"
    )]
    InvalidTarget,
    /// The target, an ancestor or a descendant of it, is taken, possibly by the mount itself; holds the existing mount's path.
    #[error("path is already in use at {0}")]
    PathInUse(String),
    /// The server cannot answer now.
    #[error(transparent)]
    Failure(#[from] ServiceError),
}

wraps_failure!(ServiceError: RemountError);
