//! `?help=1`: what a path is for, in a sentence (contract 1.10).

use serde::Serialize;

use super::call::Call;
use super::errors::{Fault, MEDIA_TYPE};
use crate::http::Response;

#[derive(Serialize)]
struct Help<'a> {
    help: &'a str,
    see_also: (),
}

/// The answer to whoever asks for help with a path.
///
/// # Errors
///
/// When nothing is there to be helped with, or it cannot be written as JSON, which is a bug.
pub(super) fn response(call: &Call<'_>) -> Result<Response, Fault> {
    let text = match &call.admission.mount {
        Some(mount) => match mount.mount_type.as_str() {
            "gcp" => of_method(&call.admission.remainder),
            "token" => of_tokens(&call.admission.remainder),
            _ => None,
        },
        None => of_server(call.path),
    };
    let help = text.ok_or_else(Fault::unsupported_path)?;
    let body = serde_json::to_vec(&Help { help, see_also: () })
        .map_err(|error| Fault::internal(format!("help could not be written: {error}")))?;
    Ok(Response::new(200, MEDIA_TYPE, body))
}

fn of_method(remainder: &str) -> Option<&'static str> {
    let (family, below) = remainder.split_once('/').unwrap_or((remainder, ""));
    Some(match (family, below) {
        ("", _) => {
            "Logs in workloads of Google Cloud.\n\nConfigure it at config, write roles at role/<name>, and log in at login."
        }
        ("login", "explain") => "Says step by step how a login would go, without logging in.",
        ("login", _) => {
            "Gives a token for a JWT that a service account or an instance of Google Cloud signed, under the terms of a role."
        }
        ("config", "rotate-root") => {
            "Replaces the key with which the method asks Google by a fresh one."
        }
        ("config", "check") => "Tries whether the credentials are good for what the method needs.",
        ("config", _) => "The credentials and settings with which the method asks Google.",
        ("role" | "roles", "") => "Lists the names of the roles.",
        ("role", _) => "A role: who may log in under it, and what tokens they get.",
        _ => return None,
    })
}

fn of_tokens(remainder: &str) -> Option<&'static str> {
    let family = remainder.split('/').next().unwrap_or_default();
    Some(match family {
        "" => "Makes, shows, renews and revokes tokens.",
        "create" | "create-orphan" => {
            "Makes a token that is a child of the caller's, or an orphan."
        }
        "lookup" | "lookup-self" | "lookup-accessor" => {
            "Shows what a token may do and how long it lives."
        }
        "renew" | "renew-self" | "renew-accessor" => "Extends the life of a token.",
        "revoke" | "revoke-self" | "revoke-accessor" => {
            "Ends a token and all tokens that descend from it."
        }
        "revoke-orphan" => "Ends a token and leaves its children as orphans.",
        "accessors" => "Lists the accessors of all tokens.",
        "roles" => "Roles that say what tokens may be made at create/<role>.",
        "tidy" => "Removes what is left of tokens that are gone.",
        _ => return None,
    })
}

fn of_server(path: &str) -> Option<&'static str> {
    let (area, rest) = path.split_once('/').unwrap_or((path, ""));
    let family = rest.split('/').next().unwrap_or_default();
    Some(match (area, family) {
        ("sys", "auth") => "Lists, enables, tunes and disables auth methods.",
        ("sys", "mounts") => "Tunes auth methods.",
        ("sys", "policies" | "policy") => "Lists, reads, writes and deletes policies.",
        ("sys", "capabilities" | "capabilities-self" | "capabilities-accessor") => {
            "Says what a token may do on some paths."
        }
        ("sys", "wrapping") => "Wraps answers in tokens of one use, and takes them out again.",
        ("sys", "leases" | "renew" | "revoke" | "revoke-prefix" | "revoke-force") => {
            "Shows, renews and revokes leases."
        }
        ("sys", "remount") => "Moves an auth method to another path.",
        ("sys", "internal") => "Serves user interfaces; nothing else should rely on it.",
        ("sys", "audit" | "audit-hash") => "Shows where requests are recorded.",
        ("identity", "entity" | "entity-alias") => {
            "Entities, who stand for the same somebody across logins, and their aliases."
        }
        ("identity", "group" | "group-alias") => "Groups of entities, and their aliases.",
        ("identity", "lookup") => "Finds an entity or a group by one of its names.",
        ("identity", "oidc") => "Settings of the identity tokens that methods present elsewhere.",
        _ => return None,
    })
}
