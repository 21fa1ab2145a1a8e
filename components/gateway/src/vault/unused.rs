//! Fields that were sent and had no effect, where no handler looks at fields (contract 1.1, rule 2; 1.9).

use gatehouse_access_api::Operation;

use super::call::{Call, ignored_fields, replaced_field};
use super::errors::Fault;
use super::{paging, spelling};
use crate::cubbyhole_paths;

/// The warnings, in the order of contract 1.9.
///
/// # Errors
///
/// When the query or the body has more fields than one may have.
pub(super) fn warnings(call: &Call<'_>) -> Result<Vec<String>, Fault> {
    let mount_type = call.admission.mount.as_ref();
    let has_own_rules = mount_type.is_some_and(|mount| mount.mount_type == "gcp");
    let captured = captured(call.path);
    match call.operation {
        Operation::Read | Operation::List if !call.request.query.is_empty() => {
            let fields = call.query_fields()?;
            let mut known: Vec<&str> = captured.into_iter().collect();
            match call.operation {
                Operation::List => known.extend(paging::FIELDS),
                // These say which leases are meant.
                _ if call.path.starts_with("sys/leases") => known.push("type"),
                _ if cubbyhole_paths::is_secret(call.path) => return Ok(Vec::new()),
                // The method's check of its credentials takes fields.
                _ if has_own_rules && call.admission.remainder == "config/check" => {
                    return Ok(Vec::new());
                }
                _ => {}
            }
            let replaced = captured.and_then(|name| replaced_field(&fields, name));
            Ok(ignored_fields(&fields, &known)
                .into_iter()
                .chain(replaced)
                .collect())
        }
        // What else a body has is the business of whoever reads it.
        Operation::Update if !has_own_rules => match captured {
            Some(name) => Ok(replaced_field(&call.fields()?, name).into_iter().collect()),
            None => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

/// The field that the path itself gives, by the names of the reference.
fn captured(path: &str) -> Option<&'static str> {
    let segments: Vec<&str> = path.split('/').collect();
    match segments.as_slice() {
        ["sys", "policies", "acl", _] | ["sys", "policy", _] => Some("name"),
        ["sys", "internal", "ui", "mounts", _, ..] => Some("path"),
        ["sys", "remount", "status", _] => Some("migration_id"),
        ["sys", "leases", "lookup", _, ..] => Some("prefix"),
        ["sys", "auth", _, ..] | ["sys", "mounts", "auth", _, ..] => Some("path"),
        [
            "identity",
            "entity" | "group" | "entity-alias" | "group-alias",
            "id",
            _,
        ] => Some("id"),
        ["identity", "entity" | "group", "name", _] => Some("name"),
        ["auth", "token", "roles" | "create", _] => Some("role_name"),
        _ => spelling::role_name(path).map(|_| "name"),
    }
}
