//! The routes below `sys/` that need a token.

use gatehouse_access_api::Operation;

use super::call::{Answer, Call};
use super::errors::Fault;
use super::{
    audit, capabilities, facts, internal_ui, keys, leases, mounts, plugins, policies, seal, tools,
    wrapping,
};
use crate::vault::server::Server;

/// Answers a request below `sys/`; `rest` is the path after that.
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>, rest: &str) -> Answer {
    let (family, below) = rest.split_once('/').unwrap_or((rest, ""));
    match (family, below) {
        ("auth", "") => match call.operation {
            Operation::Read => mounts::list(server.access),
            _ => Err(Fault::unsupported_operation()),
        },
        ("auth", path) => mounts::handle(server, call, path),
        ("mounts", below) => {
            let path = below.strip_prefix("auth/");
            match path.and_then(|path| path.strip_suffix("/tune")) {
                Some(path) => mounts::tuning::handle(server.access, call, path),
                None if call.operation == Operation::Delete && !below.is_empty() => {
                    mounts::system_mounts::remove(server.access, below)
                }
                None => match path {
                    Some(path) => mounts::read(server.access, call, path),
                    None if below.is_empty() => mounts::system_mounts::list(server.access, call),
                    None => mounts::system_mounts::read(server.access, call, below),
                },
            }
        }
        ("policies", below) => match below.split_once('/') {
            None if below == "acl" => policies::names(server.access, call.operation),
            Some(("acl", name)) => policies::handle(server.access, call, name),
            _ => Err(Fault::unsupported_path()),
        },
        ("policy", "") => policies::old_names(server.access, call.operation),
        ("policy", name) => policies::handle_old(server.access, call, name),
        ("capabilities-self" | "capabilities" | "capabilities-accessor", "") => {
            capabilities::handle(server.access, call, family)
        }
        ("remount", below) => mounts::remount::handle(server.access, call, below),
        ("leases", below) => leases::handle(server.access, call, below),
        ("renew" | "revoke" | "revoke-prefix" | "revoke-force", _) => {
            leases::handle(server.access, call, rest)
        }
        ("internal", below) => match below.strip_prefix("ui/") {
            Some(below) => internal_ui::handle(server.access, call, below),
            None => Err(Fault::unsupported_path()),
        },
        ("tools", below) => tools::handle(server, call, below),
        ("seal", "") => seal::seal(server, call.operation),
        ("key-status", "") => keys::status(server, call.operation),
        ("rotate", below) => keys::rotate(server, call, below),
        ("audit", name) => audit::handle(server, call, name),
        ("audit-hash", sink) if !sink.is_empty() => audit::hash(server, call, sink),
        ("ha-status", "") => facts::ha_status(server, call.operation),
        ("host-info", "") => facts::host_info(server, call.operation),
        ("replication", "status") => facts::replication_status(call.operation),
        ("version-history", "") => facts::version_history(server, call.operation),
        ("plugins", below) => plugins::handle(call, below),
        ("wrapping", below) => wrapping::handle(server.access, call, below),
        _ => Err(Fault::unsupported_path()),
    }
}
