//! The routes inside a mount of the auth method (contract 2 to 4).

pub(in crate::vault) mod config;
mod explain;
mod google;
pub(in crate::vault) mod login;
mod renewal;
pub(in crate::vault) mod roles;

pub(super) use config::changes as config_changes;
pub(crate) use config::rotation;
pub(super) use renewal::revalidate;
pub(super) use roles::changes as role_changes;

use gatehouse_access_api::{Mount as AdmittedMount, Operation};
use gatehouse_auth_method_api::Mount;

use super::call::{Answer, Call};
use super::errors::Fault;
use super::spelling::is_role_name;
use crate::vault::server::Server;

/// Answers a request inside `mount`.
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>, mount: &AdmittedMount) -> Answer {
    let mount = mount_of(mount);
    route(server, call, &mount).map_err(|fault| fault.concerning(&format!("auth/{}", mount.path)))
}

fn route(server: &Server<'_>, call: &Call<'_>, mount: &Mount) -> Answer {
    let auth_method = server.auth_method;
    let remainder = call.admission.remainder.as_str();
    let role = remainder
        .strip_prefix("role/")
        .map(|below| below.split_once('/').unwrap_or((below, "")));
    if let Some((name, _)) = role
        && !is_role_name(name)
    {
        return Err(Fault::unsupported_path());
    }
    if let Some((name, "")) = role {
        return roles::handle(auth_method, call, mount, name);
    }
    // Only roles distinguish creating from updating; the path looked like one of a role before the mount was known.
    let operation = match call.operation {
        Operation::CreateOrUpdate if remainder == "login" => Operation::Update,
        Operation::CreateOrUpdate if call.admission.write.update => Operation::Update,
        Operation::CreateOrUpdate => return Err(Fault::denied()),
        operation => operation,
    };
    if let Some((name, endpoint)) = role {
        let list = roles::List::at(endpoint).ok_or_else(Fault::unsupported_path)?;
        return roles::edit(auth_method, call, operation, mount, name, list);
    }
    match remainder {
        "login" => match operation {
            Operation::Update => login::handle(server, call, mount),
            _ => Err(Fault::unsupported_operation()),
        },
        "login/explain" => explain::handle(auth_method, call, operation, mount),
        "config" => config::handle(auth_method, call, operation, mount),
        "config/rotate-root" => config::rotation::handle(auth_method, call, operation, mount),
        "config/check" => config::check::handle(auth_method, call, operation, mount),
        "role" | "roles" => match operation {
            Operation::List => roles::names(auth_method, call, mount),
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
