//! The routes below `sys/` that need a token.

use gatehouse_access_api::{Access, Operation};
use gatehouse_auth_method_api::AuthMethod;

use super::call::{Answer, Call};
use super::errors::Fault;
use super::{
    audit, capabilities, facts, internal_ui, keys, leases, mounts, plugins, policies, seal, tools,
    wrapping,
};
use crate::Gateway;

/// Answers a request below `sys/`; `rest` is the path after that.
pub(super) fn handle<A: AuthMethod, C: Access, O>(
    gateway: &Gateway<A, C, O>,
    call: &Call<'_>,
    rest: &str,
) -> Answer {
    let (family, below) = rest.split_once('/').unwrap_or((rest, ""));
    match (family, below) {
        ("auth", "") => match call.operation {
            Operation::Read => mounts::list(&gateway.access),
            _ => Err(Fault::unsupported_operation()),
        },
        ("auth", path) => mounts::handle(gateway, call, path),
        ("mounts", below) => {
            let path = below.strip_prefix("auth/");
            match path.and_then(|path| path.strip_suffix("/tune")) {
                Some(path) => mounts::tuning::handle(&gateway.access, call, path),
                None if call.operation == Operation::Delete && !below.is_empty() => {
                    mounts::system_mounts::remove(&gateway.access, below)
                }
                None => match path {
                    Some(path) => mounts::read(&gateway.access, call, path),
                    None if below.is_empty() => mounts::system_mounts::list(&gateway.access, call),
                    None => mounts::system_mounts::read(&gateway.access, call, below),
                },
            }
        }
        ("policies", below) => match below.split_once('/') {
            None if below == "acl" => policies::names(&gateway.access, call.operation),
            Some(("acl", name)) => policies::handle(&gateway.access, call, name),
            _ => Err(Fault::unsupported_path()),
        },
        ("policy", "") => policies::old_names(&gateway.access, call.operation),
        ("policy", name) => policies::handle_old(&gateway.access, call, name),
        ("capabilities-self" | "capabilities" | "capabilities-accessor", "") => {
            capabilities::handle(&gateway.access, call, family)
        }
        ("remount", below) => mounts::remount::handle(&gateway.access, call, below),
        ("leases", below) => leases::handle(&gateway.access, call, below),
        ("renew" | "revoke" | "revoke-prefix" | "revoke-force", _) => {
            leases::handle(&gateway.access, call, rest)
        }
        ("internal", below) => match below.strip_prefix("ui/") {
            Some(below) => internal_ui::handle(&gateway.access, call, below),
            None => Err(Fault::unsupported_path()),
        },
        ("tools", below) => tools::handle(gateway, call, below),
        ("seal", "") => seal::seal(gateway, call.operation),
        ("key-status", "") => keys::status(gateway, call.operation),
        ("rotate", below) => keys::rotate(gateway, call, below),
        ("audit", name) => audit::handle(gateway, call, name),
        ("audit-hash", sink) if !sink.is_empty() => audit::hash(gateway, call, sink),
        ("ha-status", "") => facts::ha_status(gateway, call.operation),
        ("host-info", "") => facts::host_info(gateway, call.operation),
        ("replication", "status") => facts::replication_status(call.operation),
        ("version-history", "") => facts::version_history(gateway, call.operation),
        ("plugins", below) => plugins::handle(call, below),
        ("wrapping", below) => wrapping::handle(&gateway.access, call, below),
        _ => Err(Fault::unsupported_path()),
    }
}
