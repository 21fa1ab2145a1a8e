//! Work that is due without anybody asking for it.

use gatehouse_access_api::{Access, Failure, MountView};
use gatehouse_auth_method_api::{
    AuthMethod, IdentityTokenError, Mount, RotationError, StorageError,
};
use gatehouse_orgs_api::Capability;
use gatehouse_ports::{OsRandom, Random as _};

use crate::Gateway;
use crate::vault::rotation;

/// Most disabled mounts that one call sees to.
const DISABLED_MOUNTS: u32 = 100;

impl<A: AuthMethod, C: Access, O: Capability> Gateway<A, C, O> {
    /// Every duty, as `gatehouse:gateway/background` lists them. Each is to be called every minute or so; more often, from elsewhere too,
    /// is harmless. The operator is told of everything that was done or failed. On a sealed or uninitialized server nothing is due.
    pub const DUTIES: [fn(&Self); 8] = [
        Self::rotate_credentials,
        Self::maintain_identity_token_keys,
        Self::forget_disabled_mounts,
        Self::maintain_access,
        Self::clear_removed_organizations,
        Self::clear_removed_teams,
        Self::enter_organization_names,
        Self::report_events,
    ];

    /// Replaces the root credentials of every mount whose schedule says so. Each call begins with another mount: one that ends the call
    /// whenever its turn comes holds up the others now and then, and none of them for ever.
    pub fn rotate_credentials(&self) {
        match self.access.list_mounts() {
            Ok(mut mounts) => {
                mounts.retain(|mount| mount.mount_type == "gcp");
                let first = anywhere_below(mounts.len());
                mounts.rotate_left(first);
                mounts.iter().for_each(|mount| self.rotate_if_due(mount));
            }
            Err(Failure::Sealed | Failure::NotInitialized) => {}
            Err(failure) => self.tell_operator(&format!("background work: {failure}")),
        }
    }

    /// Keeps the keys of identity tokens fresh.
    pub fn maintain_identity_token_keys(&self) {
        match self.auth_method.maintain_keys() {
            Ok(()) | Err(IdentityTokenError::Storage(StorageError::Sealed)) => {}
            Err(error) => self.tell_operator(&format!("keys of identity tokens: {error}")),
        }
    }

    /// Deletes what the method still keeps for disabled mounts.
    pub fn forget_disabled_mounts(&self) {
        match self.access.list_disabled_mounts(DISABLED_MOUNTS) {
            Ok(ids) => ids.iter().for_each(|id| self.forget_disabled_mount(id)),
            Err(Failure::Sealed | Failure::NotInitialized) => {}
            Err(failure) => self.tell_operator(&format!("disabled mounts: {failure}")),
        }
    }

    /// Keeps the keys of batch tokens fresh, and clears away a part of what no token leads to.
    pub fn maintain_access(&self) {
        match self.access.maintain() {
            Ok(()) | Err(Failure::Sealed | Failure::NotInitialized) => {}
            Err(failure) => self.tell_operator(&format!("upkeep of tokens: {failure}")),
        }
    }

    /// Clears away a part of what removed organizations have left.
    pub fn clear_removed_organizations(&self) {
        self.keep_organizations(self.organizations.clear_removed_away());
    }

    /// Takes removed teams out of a part of the memberships.
    pub fn clear_removed_teams(&self) {
        self.keep_organizations(self.organizations.clear_teams_away());
    }

    /// Enters a part of the changed names of organizations where lists look for them.
    pub fn enter_organization_names(&self) {
        self.keep_organizations(self.organizations.enter_names());
    }

    fn keep_organizations(&self, outcome: Result<(), gatehouse_orgs_api::Failure>) {
        match outcome {
            Ok(()) | Err(gatehouse_orgs_api::Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("upkeep of organizations: {failure}")),
        }
    }

    /// Tells the operator what has been done with the installation, and in the self-hosted edition with organizations.
    pub fn report_events(&self) {
        match self.tell_events() {
            Ok(()) | Err(gatehouse_orgs_api::Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!("audit trail: {failure}")),
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
            Err(RotationError::Busy | RotationError::Storage(StorageError::Sealed)) => {}
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
        let forgotten = self.auth_method.forget_mount(id).map_err(failure);
        match forgotten.and_then(|()| self.access.forget_disabled_mount(id)) {
            Ok(()) | Err(Failure::Sealed) => {}
            Err(failure) => self.tell_operator(&format!(
                "disabled mount {id}: what was kept for it is still to be deleted: {failure}"
            )),
        }
    }
}

/// A failure of the method's store, as access has it.
fn failure(error: StorageError) -> Failure {
    match error {
        StorageError::Sealed => Failure::Sealed,
        StorageError::Unavailable(why) => Failure::Unavailable(why),
        StorageError::Contended(_) => Failure::Contended,
        StorageError::Damaged(_) => Failure::Damaged(error.to_string()),
    }
}

/// Any index of a list of that length; 0 where there is no randomness.
fn anywhere_below(length: usize) -> usize {
    let mut drawn = [0; 8];
    let _ = OsRandom.fill(&mut drawn);
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let index = u64::from_le_bytes(drawn).checked_rem(length);
    index
        .and_then(|index| usize::try_from(index).ok())
        .unwrap_or(0)
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
