//! Deleting all that is kept for a mount that is gone: in bounded calls, and in pages (SEC-S14).

use gatehouse_ports::{Cache, Clock, Http, Random, Store, StoreError};

use crate::pages::{LARGE_AT_ONCE, SMALL_AT_ONCE};
use crate::service::AuthMethodService;
use crate::{StorageError, record_keys};

/// Commits that one call makes to delete what is left of a mount.
const FORGETTING_COMMITS: u32 = 256;

/// Deletes the records of a mount, and drops what is remembered of it.
pub(crate) fn forget_mount<S: Store, M: Cache, H: Http, C: Clock, R: Random>(
    service: &AuthMethodService<S, M, H, C, R>,
    mount_id: &str,
) -> Result<(), StorageError> {
    service.forget_memory(mount_id);
    // Uses of tokens and names of roles are many and small; the rest may be large.
    let mut commits = 0;
    for small in [
        record_keys::used_tokens(mount_id),
        record_keys::role_names(mount_id),
    ] {
        service.delete_below(&small, SMALL_AT_ONCE, &mut commits)?;
    }
    let everything = record_keys::everything(mount_id);
    service.delete_below(&everything, LARGE_AT_ONCE, &mut commits)
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// Deletes what is below `prefix`, `at_once` records in a commit, and fails when `commits` have been enough for one call.
    fn delete_below(
        &self,
        prefix: &str,
        at_once: u32,
        commits: &mut u32,
    ) -> Result<(), StorageError> {
        loop {
            let page = self.records().store().scan(prefix, None, at_once)?;
            if page.items.is_empty() {
                return Ok(());
            }
            if *commits >= FORGETTING_COMMITS {
                let why = "a mount that is gone had more records than one call deletes; the next call goes on";
                return Err(StoreError::Unavailable(why.to_owned()).into());
            }
            // Ends at an empty page alone: a list of the mount's roles that is still running may enter names meanwhile.
            self.delete(page.items.into_iter().map(|item| item.key))?;
            *commits += 1;
        }
    }
}
