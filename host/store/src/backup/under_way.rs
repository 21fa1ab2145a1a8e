//! The mark of a store into which a restore is under way, or was given up.

use gatehouse_ports::{StoreError, Version};

use crate::{Backend, Guard, Namespace, UnsealError};

/// The key below [`Namespace::Keyring`] that is there while a store is being restored.
pub(super) const UNDER_WAY_KEY: &str = "restore";

/// Refuses a store into which a restore is under way, or was given up.
pub(crate) async fn ensure_restored(backend: &impl Backend) -> Result<(), UnsealError> {
    match under_way(backend).await? {
        Some(_) => Err(UnsealError::RestoreUnfinished),
        None => Ok(()),
    }
}

/// The guard of what a restore writes, as long as the mark of this version is its own.
pub(super) fn guard(mark: Version) -> Guard {
    Guard {
        key: UNDER_WAY_KEY.to_owned(),
        version: mark,
    }
}

pub(super) async fn under_way(backend: &impl Backend) -> Result<Option<Version>, StoreError> {
    let found = backend.get(Namespace::Keyring, &[UNDER_WAY_KEY]).await?;
    Ok(found.into_iter().next().flatten().map(|mark| mark.version))
}
