//! The handlers of a mount of the auth method (contract 2 to 4).

pub(in crate::vault) mod config;
pub(in crate::vault) mod explain;
mod google;
pub(in crate::vault) mod login;
mod renewal;
pub(in crate::vault) mod roles;

pub(crate) use config::rotation;
pub(super) use renewal::revalidate;

use gatehouse_access_api::{Mount as AdmittedMount, MountView};
use gatehouse_auth_method_api::Mount;

use super::call::Call;
use super::errors::ApiError;

/// The mount that serves a request.
///
/// # Errors
///
/// When there is none, which is a bug: access provides the mount of every path below `auth/`.
fn mount(call: &Call<'_>) -> Result<Mount, ApiError> {
    let mount = call.admission.mount.as_ref().map(mount_of);
    mount.ok_or_else(|| ApiError::internal("a request of an auth method has no mount"))
}

/// An admitted mount in the form of the auth method.
fn mount_of(mount: &AdmittedMount) -> Mount {
    Mount {
        id: mount.id.clone(),
        accessor: mount.accessor.clone(),
        path: mount.path.clone(),
        default_lease: mount.default_lease_ttl,
        maximum_lease: mount.max_lease_ttl,
    }
}

/// The same for a listed mount.
pub(crate) fn mount_of_view(mount: &MountView) -> Mount {
    Mount {
        id: mount.id.clone(),
        accessor: mount.accessor.clone(),
        path: mount.path.clone(),
        default_lease: mount.configuration.default_lease_ttl,
        maximum_lease: mount.configuration.max_lease_ttl,
    }
}
