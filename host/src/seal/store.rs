//! A store behind its seal, and advice about one that cannot be opened.

use std::sync::Arc;

use gatehouse_store::{Backend, SealedBackend, UnsealError};

/// A store behind a barrier, whichever backend is below.
pub(crate) type Store = SealedBackend<Arc<dyn Backend>>;

/// Advice about a store that cannot be opened.
pub(super) fn wrong_kind(error: UnsealError) -> anyhow::Error {
    let cure = match error {
        UnsealError::SharesNeeded => "cannot unseal the store: set seal.type = \"shamir\"",
        UnsealError::KeyFileNeeded => {
            "cannot unseal the store: set seal.key_file, and not seal.type = \"shamir\""
        }
        _ => "cannot unseal the store",
    };
    anyhow::Error::new(error).context(cure)
}
