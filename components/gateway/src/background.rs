//! Work that is due without anybody asking for it.

use gatehouse_access::{Access, Failure, MountView};
use gatehouse_auth_method::{AuthMethod, IdentityTokenError, Mount, RotationError};
use gatehouse_orgs::Capability;
use gatehouse_ports::StoreError;
use gatehouse_storage::StorageError;

use crate::Gateway;
use crate::vault::rotation;

/// Most disabled mounts that one call sees to.
const DISABLED_MOUNTS: u32 = 100;

impl<A: AuthMethod, C: Access, O: Capability> Gateway<A, C, O> {
    /// Does what is due: replaces the root credentials of every mount whose schedule says so, keeps the keys of identity tokens
    /// and of batch tokens fresh, deletes what the method still keeps for disabled mounts, and clears away a part of what no token
    /// and no organization leads to. The operator is told what has been done with the installation, and in the self-hosted edition
    /// with organizations. To be called every minute or so; more often, from elsewhere too, is harmless.
    ///
    /// The operator is told of everything that was done or failed. On a sealed or uninitialized server nothing is due.
    pub fn run_background(&self) {
        let mounts = match self.access.list_mounts() {
            Ok(mounts) => mounts,
            Err(Failure::Sealed | Failure::NotInitialized) => return,
            Err(failure) => {
                return self.tell_operator(&format!("background work: {failure}"));
            }
        };
        for mount in mounts.iter().filter(|mount| mount.mount_type == "gcp") {
            self.rotate_if_due(mount);
        }
        match self.auth_method.maintain_keys() {
            Ok(()) | Err(IdentityTokenError::Storage(StorageError::Store(StoreError::Sealed))) => {}
            Err(error) => self.tell_operator(&format!("keys of identity tokens: {error}")),
        }
        self.forget_disabled_mounts();
        match self.access.maintain() {
            Ok(()) | Err(Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("upkeep of tokens: {failure}")),
        }
        match self.organizations.maintain() {
            Ok(()) | Err(gatehouse_orgs::Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("upkeep of organizations: {failure}")),
        }
        match self.tell_events() {
            Ok(()) | Err(gatehouse_orgs::Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("audit trail: {failure}")),
        }
    }

    fn forget_disabled_mounts(&self) {
        match self.access.list_disabled_mounts(DISABLED_MOUNTS) {
            Ok(ids) => ids.iter().for_each(|id| self.forget_disabled_mount(id)),
            Err(Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("disabled mounts: {failure}")),
        }
    }

    fn rotate_if_due(&self, mount: &MountView) {
        let tell = |what: &str| {
            self.tell_operator(&format!("auth/{}: root credentials: {what}", mount.path));
        };
        match self.auth_method.rotate_if_due(&mount_of(mount)) {
            Ok(None) => {}
            Ok(Some(rotated)) => match rotation::left_behind(&rotated) {
                Some(warning) => tell(&warning),
                None => tell(&format!("replaced by key {:?}", rotated.private_key_id)),
            },
            // Another host is at it, or sealed the store meanwhile: nothing that anybody has to mend.
            Err(
                RotationError::Busy
                | RotationError::Storage(StorageError::Store(StoreError::Sealed)),
            ) => {}
            Err(RotationError::Storage(error)) => tell(&error.to_string()),
            Err(error) => tell(rotation::fault(error).text()),
        }
    }
}

impl<A: AuthMethod, C: Access, O> Gateway<A, C, O> {
    /// Deletes what the method kept for a mount that is disabled. What cannot be deleted now is left to background work, and the
    /// operator is told.
    pub(crate) fn forget_disabled_mount(&self, id: &str) {
        // The method comes first: a mount that is not listed any more is never asked about again.
        let forgotten = self.auth_method.forget_mount(id).map_err(Failure::from);
        match forgotten.and_then(|()| self.access.forget_disabled_mount(id)) {
            Ok(()) | Err(Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!(
                "disabled mount {id}: what was kept for it is still to be deleted: {failure}"
            )),
        }
    }
}

fn mount_of(mount: &MountView) -> Mount {
    Mount {
        id: mount.id.clone(),
        accessor: mount.accessor.clone(),
        path: mount.path.clone(),
        default_lease: mount.configuration.default_lease_ttl,
        maximum_lease: mount.configuration.max_lease_ttl,
    }
}
