//! The routes inside a mount of the auth method (contract 2 to 4).

mod config;
mod login;
mod renewal;
mod roles;

pub(super) use renewal::revalidate;

use gatehouse_access::{Access, Mount as AdmittedMount, Operation};
use gatehouse_auth_method::{AuthMethod, Mount};

use super::call::{Answer, Call};
use super::errors::Fault;
use crate::Gateway;

/// Answers a request inside `mount`.
pub(super) fn handle<A: AuthMethod, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    call: &Call<'_>,
    mount: &AdmittedMount,
) -> Answer {
    let operation = call.operation;
    let remainder = call.admission.remainder.as_str();
    let role_name = remainder
        .strip_prefix("role/")
        .filter(|name| !name.contains('/'));
    let mount = mount_of(mount);
    if let Some(name) = role_name {
        if !roles::routes(name) {
            return Err(Fault::unsupported_path());
        }
        return roles::handle(&gateway.auth_method, call, &mount, name);
    }
    // Only roles distinguish creating from updating; the path looked like one of a role before the mount was known.
    let operation = match operation {
        Operation::CreateOrUpdate if remainder == "login" => Operation::Update,
        Operation::CreateOrUpdate if call.admission.write.update => Operation::Update,
        Operation::CreateOrUpdate => return Err(Fault::denied()),
        operation => operation,
    };
    match remainder {
        "login" => match operation {
            Operation::Update => login::handle(gateway, call, &mount),
            _ => Err(Fault::unsupported_operation()),
        },
        "config" => config::handle(&gateway.auth_method, call, operation, &mount),
        "role" | "roles" => match operation {
            Operation::List => roles::names(&gateway.auth_method, &mount),
            _ => Err(Fault::unsupported_operation()),
        },
        _ => Err(Fault::unsupported_path()),
    }
}

/// A mount as the auth method wants to know it.
fn mount_of(mount: &AdmittedMount) -> Mount {
    Mount {
        id: mount.id.clone(),
        accessor: mount.accessor.clone(),
        path: mount.path.clone(),
        default_lease: mount.default_lease_ttl,
        maximum_lease: mount.max_lease_ttl,
    }
}
