//! Work that is due without a request from a client (duties).

use gatehouse_access_api::{Access, MountView, ServiceError};
use gatehouse_auth_method_api::{AuthMethod, IdentityTokenError, RotationError, StorageError};
use gatehouse_orgs_api::{Capability, Edition};
use gatehouse_ports::{OsRandom, Random as _};

use crate::Gateway;
use crate::vault::{Server, mount_of_view, rotation};

/// The maximum number of disabled mounts that one call handles.
const DISABLED_MOUNTS: u32 = 100;

/// A duty failed and is to be tried again. The operator has been told the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DutyError;

/// The outcome of a duty.
pub type DutyOutcome = Result<(), DutyError>;

/// A duty of the gateway `G`: its name and its function.
pub type Duty<G> = (&'static str, fn(&G) -> DutyOutcome);

impl<A: AuthMethod, C: Access, O: Capability> Gateway<A, C, O> {
    /// All duties with their names, as `gatehouse:gateway/background` lists them. Each is to be called about once a minute. More frequent calls, and
    /// concurrent calls by several hosts, are harmless. The operator is told of everything that was done or failed. On a sealed or uninitialized
    /// server nothing is due.
    pub const DUTIES: [Duty<Self>; 10] = [
        ("rotate-credentials", Self::rotate_credentials),
        (
            "maintain-identity-token-keys",
            Self::maintain_identity_token_keys,
        ),
        ("forget-disabled-mounts", Self::forget_disabled_mounts),
        ("maintain-access", Self::maintain_access),
        ("count-tokens", Self::count_tokens),
        (
            "clear-removed-organizations",
            Self::clear_removed_organizations,
        ),
        ("clear-removed-teams", Self::clear_removed_teams),
        ("enter-organization-names", Self::enter_organization_names),
        ("look-for-plan-ends", Self::look_for_plan_ends),
        ("report-events", Self::report_events),
    ];

    /// Rotates the root credentials of every mount whose schedule is due, and tells the host when the next rotation is due. Each call begins with a
    /// random mount: a mount that ends the call each time delays the others now and then, but never permanently.
    ///
    /// # Errors
    ///
    /// When the mounts cannot be listed, or the credentials of one could not be rotated. The other mounts are handled nevertheless.
    pub fn rotate_credentials(&self) -> DutyOutcome {
        match self.access.list_mounts() {
            Ok(mut mounts) => {
                mounts.retain(|mount| mount.mount_type == "gcp");
                let first = anywhere_below(mounts.len());
                mounts.rotate_left(first);
                self.rotate_each(&mounts)
            }
            Err(ServiceError::Sealed | ServiceError::NotInitialized) => Ok(()),
            Err(failure) => self.failed(&format!("background work: {failure}")),
        }
    }

    /// Replaces the keys of identity tokens that are due, and tells the host when the newest key was made.
    ///
    /// # Errors
    ///
    /// When a key is due and cannot be made.
    pub fn maintain_identity_token_keys(&self) -> DutyOutcome {
        match self.auth_method.maintain_keys() {
            Ok(made_at) => {
                if let Some(made_at) = made_at {
                    let metrics = &self.host.metrics;
                    metrics.set("identity-token-key-made", made_at);
                }
                Ok(())
            }
            Err(IdentityTokenError::Storage(StorageError::Sealed)) => Ok(()),
            Err(error) => self.failed(&format!("keys of identity tokens: {error}")),
        }
    }

    /// Deletes the data that the method still keeps for disabled mounts.
    ///
    /// # Errors
    ///
    /// When the disabled mounts cannot be listed, or the data of one could not be deleted.
    pub fn forget_disabled_mounts(&self) -> DutyOutcome {
        match self.access.list_disabled_mounts(DISABLED_MOUNTS) {
            Ok(ids) => {
                let server = Server::from(self);
                all(ids.iter().map(|id| server.forget_disabled_mount(id)))
            }
            Err(ServiceError::Sealed | ServiceError::NotInitialized) => Ok(()),
            Err(failure) => self.failed(&format!("disabled mounts: {failure}")),
        }
    }

    /// Replaces the key of batch tokens when it is due, and removes some of the records that belong to no token.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn maintain_access(&self) -> DutyOutcome {
        match self.access.maintain() {
            Ok(()) | Err(ServiceError::Sealed | ServiceError::NotInitialized) => Ok(()),
            Err(failure) => self.failed(&format!("upkeep of tokens: {failure}")),
        }
    }

    /// Counts some of the live tokens, and sets the host's gauge after a complete count.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn count_tokens(&self) -> DutyOutcome {
        match self.access.count_tokens() {
            Ok(count) => {
                if let Some(count) = count {
                    self.host.metrics.set("tokens-live", count);
                }
                Ok(())
            }
            Err(ServiceError::Sealed | ServiceError::NotInitialized) => Ok(()),
            Err(failure) => self.failed(&format!("count of tokens: {failure}")),
        }
    }

    /// Deletes some of the data that removed organizations have left.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn clear_removed_organizations(&self) -> DutyOutcome {
        self.keep_organizations(self.organizations.clear_removed_away())
    }

    /// Removes deleted teams from some of the memberships.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn clear_removed_teams(&self) -> DutyOutcome {
        self.keep_organizations(self.organizations.clear_teams_away())
    }

    /// Updates the index that the lists of organizations use with some of the changed names.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn enter_organization_names(&self) -> DutyOutcome {
        self.keep_organizations(self.organizations.enter_names())
    }

    /// Searches some of the organizations for the next end of a plan, and tells the host the time. In the self-hosted edition, the end of a plan has
    /// no effect.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn look_for_plan_ends(&self) -> DutyOutcome {
        if self.settings.edition == Edition::SelfHosted {
            return Ok(());
        }
        let found = self.organizations.next_plan_end().map(|end| {
            let end = end.map_or(0, |milliseconds| milliseconds / 1000);
            self.host.metrics.set("plan-ends", end);
        });
        self.keep_organizations(found)
    }

    fn keep_organizations(
        &self,
        outcome: Result<(), gatehouse_orgs_api::ServiceError>,
    ) -> DutyOutcome {
        match outcome {
            Ok(()) | Err(gatehouse_orgs_api::ServiceError::Sealed) => Ok(()),
            Err(failure) => self.failed(&format!("upkeep of organizations: {failure}")),
        }
    }

    /// Reports to the operator the changes of the installation, and in the self-hosted edition also those of organizations.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn report_events(&self) -> DutyOutcome {
        match self.tell_events() {
            Ok(()) | Err(gatehouse_orgs_api::ServiceError::Sealed) => Ok(()),
            Err(failure) => self.failed(&format!("audit trail: {failure}")),
        }
    }

    /// Tells the host when each mount's rotation is due before it tries the rotation: a rotation that ends the call then leaves its due time in the
    /// metrics. Mounts that cannot be read are left out; their rotations report the cause to the operator.
    fn rotate_each(&self, mounts: &[MountView]) -> DutyOutcome {
        let mut next = None;
        let outcome = all(mounts.iter().map(|mount| {
            let due = self.auth_method.next_rotation(&mount_of_view(mount));
            if let Some(due) = due.ok().flatten()
                && next.is_none_or(|next| due < next)
            {
                next = Some(due);
                self.host.metrics.set("rotation-due", due);
            }
            self.rotate_if_due(mount)
        }));
        if next.is_none() {
            self.host.metrics.set("rotation-due", 0);
        }
        outcome
    }

    fn rotate_if_due(&self, mount: &MountView) -> DutyOutcome {
        let line = |what: &str| format!("auth/{}: root credentials: {what}", mount.path);
        match self.auth_method.rotate_if_due(&mount_of_view(mount)) {
            Ok(None) => Ok(()),
            Ok(Some(rotated)) => {
                let replaced = || format!("replaced by key {:?}", rotated.private_key_id);
                let what = rotation::left_behind(&rotated).unwrap_or_else(replaced);
                self.tell_operator(&line(&what));
                Ok(())
            }
            // Another host does the work, or the store was sealed in the meantime. The operator need not act.
            Err(RotationError::Busy | RotationError::Storage(StorageError::Sealed)) => Ok(()),
            Err(RotationError::Storage(error)) => self.failed(&line(&error.to_string())),
            Err(error) => self.failed(&line(rotation::api_error(error).text())),
        }
    }
}

impl Server<'_> {
    /// Deletes the data that the method kept for a disabled mount. A failure is reported to the operator, and background work tries again.
    pub(crate) fn forget_disabled_mount(&self, id: &str) -> DutyOutcome {
        // The method comes first: background work no longer finds a mount that access does not list as disabled.
        let forgotten = self.auth_method.forget_mount(id).map_err(failure);
        match forgotten.and_then(|()| self.access.forget_disabled_mount(id)) {
            Ok(()) | Err(ServiceError::Sealed) => Ok(()),
            Err(failure) => {
                self.tell_operator(&format!(
                    "disabled mount {id}: what was kept for it is still to be deleted: {failure}"
                ));
                Err(DutyError)
            }
        }
    }
}

/// A failure of the method's store, as an error of access.
fn failure(error: StorageError) -> ServiceError {
    match error {
        StorageError::Sealed => ServiceError::Sealed,
        StorageError::Unavailable(why) => ServiceError::Unavailable(why),
        StorageError::Contended(_) => ServiceError::Contended,
        StorageError::Damaged(_) => ServiceError::Damaged(error.to_string()),
    }
}

impl<A, C, O> Gateway<A, C, O> {
    /// Reports a failure to the operator.
    fn failed(&self, detail: &str) -> DutyOutcome {
        self.tell_operator(detail);
        Err(DutyError)
    }
}

/// Succeeds if all outcomes are successes. Every outcome is computed, even after failures.
fn all(outcomes: impl Iterator<Item = DutyOutcome>) -> DutyOutcome {
    let mut all = Ok(());
    for outcome in outcomes {
        all = all.and(outcome);
    }
    all
}

/// A random index into a list of that length; 0 where there is no randomness.
fn anywhere_below(length: usize) -> usize {
    let mut drawn = [0; 8];
    let _ = OsRandom.fill(&mut drawn);
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let index = u64::from_le_bytes(drawn).checked_rem(length);
    index
        .and_then(|index| usize::try_from(index).ok())
        .unwrap_or(0)
}
