//! `sys/plugins/catalog`: what can be enabled (contract 6.1). It is built in, so the catalog can be read and not changed.

use gatehouse_access_api::Operation;
use serde_json::json;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::Fault;
use super::mounts::PLUGIN_VERSION;

/// The kinds of plugins that clients know.
const KINDS: [&str; 3] = ["auth", "database", "secret"];
/// The one auth method that operators enable.
const METHOD: &str = "gcp";

/// Answers a request below `sys/plugins/`.
pub(super) fn handle(call: &Call<'_>, below: &str) -> Answer {
    let (first, path) = below.split_once('/').unwrap_or((below, ""));
    if first != "catalog" {
        return Err(Fault::unsupported_path());
    }
    let (kind, name) = path.split_once('/').unwrap_or((path, ""));
    match (kind, name, call.operation) {
        ("", "", Operation::Read) => all(),
        (kind, "", Operation::List) if KINDS.contains(&kind) => names(kind),
        (kind, name, Operation::Read) if KINDS.contains(&kind) && !name.is_empty() => {
            one(kind, name)
        }
        (kind, ..) if kind.is_empty() || KINDS.contains(&kind) => {
            Err(Fault::unsupported_operation())
        }
        _ => Err(Fault::unsupported_path()),
    }
}

fn all() -> Answer {
    let method = json!({
        "type": "auth",
        "name": METHOD,
        "version": PLUGIN_VERSION,
        "builtin": true,
        "deprecation_status": "supported",
    });
    Reply::data(&json!({ "auth": [METHOD], "detailed": [method] })).map(Some)
}

fn names(kind: &str) -> Answer {
    if kind != "auth" {
        return Err(Fault::absent());
    }
    Reply::data(&json!({ "keys": [METHOD] })).map(Some)
}

fn one(kind: &str, name: &str) -> Answer {
    if (kind, name) != ("auth", METHOD) {
        return Err(Fault::absent());
    }
    Reply::data(&json!({
        "name": METHOD,
        "args": null,
        "command": "",
        "sha256": "",
        "builtin": true,
        "version": PLUGIN_VERSION,
        "deprecation_status": "supported",
    }))
    .map(Some)
}
