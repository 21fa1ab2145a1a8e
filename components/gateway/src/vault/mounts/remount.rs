//! `sys/remount`: the move of a mount to another path (contract 6.3).

use gatehouse_access_api::{Access, RemountError};
use serde_json::{Map, Value, json};

use crate::cubbyhole_paths;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

/// The prefix of the path of every auth mount.
const AUTH: &str = "auth/";
/// The paths of mounts that only the server itself has.
const RESERVED: [&str; 4] = [AUTH, cubbyhole_paths::ROOT, "identity/", "sys/"];

/// The text that clients know. Here, the move is complete when it is answered.
const QUEUED: &str = "Mount move has been queued. Progress will be reported in Vault's server log, tagged with the returned migration_id";

/// `sys/remount`
pub(in crate::vault) fn remount(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let from = fields.string("from")?.unwrap_or_default();
    let to = fields.string("to")?.unwrap_or_default();
    if from.is_empty() || to.is_empty() {
        let text = "both 'from' and 'to' path must be specified as a string";
        return Err(ApiError::plain(400, text));
    }
    let from = cleaned(&from);
    let to = target(&to)?;
    let id = move_mount(call.server.access, &from, &to)?;
    let data = Map::from_iter([("migration_id".to_owned(), Value::from(id))]);
    let warnings = [QUEUED.to_owned()]
        .into_iter()
        .chain(fields.ignored_warning());
    Ok(Some(Reply::copied(data).warned(warnings)))
}

fn move_mount(access: &dyn Access, from: &str, to: &str) -> Result<String, ApiError> {
    let refused = |text: String| ApiError::plain(400, text);
    let missing = || refused(format!("no matching mount at {}", quoted(from)));
    let Some(source) = from.strip_prefix(AUTH) else {
        return Err(if RESERVED.iter().any(|it| to.starts_with(it)) {
            refused(format!("cannot remount to destination {to}"))
        } else if RESERVED.contains(&from) {
            refused(format!("cannot remount {}", quoted(from)))
        } else {
            missing()
        });
    };
    let Some(target) = to.strip_prefix(AUTH) else {
        let to = quoted(to);
        return Err(refused(format!(
            "cannot remount auth mount to non-auth mount {to}"
        )));
    };
    access
        .move_mount(source, target)
        .map_err(|error| match error {
            RemountError::TokenMount => refused(format!("cannot remount {}", quoted(from))),
            RemountError::ReservedTarget => {
                refused(format!("cannot remount to destination {}", quoted(to)))
            }
            RemountError::NoMount => missing(),
            RemountError::PathInUse(path) => {
                let path = quoted(&format!("{AUTH}{path}"));
                refused(format!("path already in use at {path}"))
            }
            RemountError::InvalidTarget => refused(error.to_string()),
            RemountError::Failure(failure) => failure.into(),
        })
}

/// `sys/remount/status/<migration_id>`
pub(in crate::vault) fn status(call: &Call<'_>) -> Answer {
    let id = call.captured("migration_id")?;
    let access = call.server.access;
    let migration = access.read_migration(id)?.ok_or_else(ApiError::absent)?;
    let data = json!({
        "migration_id": id,
        "migration_info": {
            "source_mount": format!("{AUTH}{}", migration.source),
            "target_mount": format!("{AUTH}{}", migration.target),
            "status": "success",
        },
    });
    Reply::data(&data).map(Some)
}

/// The target, normalized to end in one slash.
fn target(path: &str) -> Result<String, ApiError> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = format!("{}/", path.strip_suffix('/').unwrap_or(path));
    let cleaned = cleaned(&path);
    if path != cleaned {
        return Err(ApiError::plain(
            400,
            format!(
                "invalid destination mount: path '{path}' does not match cleaned path '{cleaned}'"
            ),
        ));
    }
    Ok(path)
}

/// The path without empty, `.` and `..` segments, ending in one slash.
fn cleaned(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/") + "/"
}
