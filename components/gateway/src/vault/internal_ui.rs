//! `sys/internal/ui`: the paths that user interfaces read before they show anything (contract 6.4).

use gatehouse_access_api::{
    Access, Capability, ListingVisibility, LookupError, MountView, PathRights, ResultantAcl,
    TokenReference,
};
use serde_json::{Map, Value, json};

use super::call::{Answer, Call};
use super::capabilities;
use super::envelope::Reply;
use super::errors::{ApiError, refusal};
use super::mounts::system_mounts::{SYSTEM_MOUNTS, cluster_id};
use super::mounts::{self};
use super::text::quoted;

/// True if no policy applies to the path, and its refusals look like those of paths without a token.
pub(super) fn asks_for_no_policy(path: &str) -> bool {
    path.strip_prefix("sys/internal/ui/mounts")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `mounts`: the mounts below which the caller has any rights, and the mounts that every caller may see. Callers without a token see little more than
/// the names of the latter.
pub(super) fn mounts(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    let mounts = access.list_mounts()?;
    let auth_paths = mounts.iter().map(|mount| format!("auth/{}", mount.path));
    let paths: Vec<String> = auth_paths
        .chain(SYSTEM_MOUNTS.iter().map(|mount| mount.path.to_owned()))
        .collect();
    let caller = call.admission.caller.as_ref().and(call.token);
    let rights = match caller {
        Some(token) => rights_below(access, token, &paths)?,
        None => vec![false; paths.len()],
    };
    let (of_auth, of_system) = rights.split_at(mounts.len());
    let mut auth = Map::new();
    for (mount, has_rights) in mounts.iter().zip(of_auth) {
        if *has_rights || is_open(mount) {
            let shown = match caller {
                Some(_) => mounts::listed_members(mount)?,
                None => outline(mount),
            };
            auth.insert(mount.path.clone(), shown.into());
        }
    }
    let mut secret = Map::new();
    for (mount, has_rights) in SYSTEM_MOUNTS.iter().zip(of_system) {
        if *has_rights {
            let shown = mount.listed_members(&cluster_id(access)?)?;
            secret.insert(mount.path.to_owned(), shown.into());
        }
    }
    Reply::data(&json!({ "auth": auth, "secret": secret })).map(Some)
}

/// `mounts/<path>`: the mount that serves a path. A missing mount and a missing right give the same answer.
pub(super) fn mount(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    let asked = format!("{}/", call.captured("path")?);
    let token = call.caller_token()?;
    let (path, name, mut shown) = match asked.strip_prefix("auth/") {
        Some(inside) => {
            let Some(mount) = access.find_mount(inside)? else {
                return Err(hidden(&asked));
            };
            let path = format!("auth/{}", mount.path);
            (path, mount.path.clone(), mounts::listed_members(&mount)?)
        }
        None => {
            let mut mounts = SYSTEM_MOUNTS.iter();
            let Some(mount) = mounts.find(|mount| asked.starts_with(mount.path)) else {
                return Err(hidden(&asked));
            };
            let path = mount.path.to_owned();
            (
                path.clone(),
                path,
                mount.listed_members(&cluster_id(access)?)?,
            )
        }
    };
    if rights_below(access, token, &[path])? != [true] {
        return Err(hidden(&asked));
    }
    shown.insert("path".to_owned(), name.into());
    Reply::data(&shown).map(Some)
}

fn hidden(asked: &str) -> ApiError {
    let asked = quoted(asked);
    ApiError::plain(
        403,
        format!(
            "preflight capability check returned 403, please ensure client's policies grant access to path {asked}"
        ),
    )
}

/// `resultant-acl`
pub(super) fn resultant_acl(call: &Call<'_>) -> Answer {
    let token = &TokenReference::Id(call.caller_token()?.into());
    let acl = call
        .server
        .access
        .read_resultant_acl(token)
        .map_err(caller_gone)?;
    let data = match acl {
        ResultantAcl::Root => json!({ "root": true }),
        // Patterns are left out, since clients would read a pattern as a path.
        ResultantAcl::Rules(granted) => json!({
            "root": false,
            "exact_paths": rules(granted.exact),
            "glob_paths": rules(granted.prefixes),
        }),
    };
    Reply::data(&data).map(Some)
}

fn rules(rules: Vec<PathRights>) -> Map<String, Value> {
    let shown = |rule: PathRights| {
        let mut granted = rule.capabilities;
        granted.sort_unstable_by_key(|capability| place(*capability));
        let shown = json!({ "capabilities": capabilities::names(&granted) });
        (rule.path, shown)
    };
    rules.into_iter().map(shown).collect()
}

/// The order of capabilities in this answer, which differs from the order elsewhere.
const fn place(capability: Capability) -> u8 {
    match capability {
        Capability::Root | Capability::Deny => 0,
        Capability::Create => 1,
        Capability::Delete => 2,
        Capability::List => 3,
        Capability::Read => 4,
        Capability::Sudo => 5,
        Capability::Update => 6,
        Capability::Patch => 7,
    }
}

fn is_open(mount: &MountView) -> bool {
    mount.configuration.listing_visibility == Some(ListingVisibility::Unauthenticated)
}

/// The members of a mount that callers without a token see.
fn outline(mount: &MountView) -> Map<String, Value> {
    Map::from_iter([
        ("description".to_owned(), mount.description.as_str().into()),
        ("options".to_owned(), mounts::shown_options(mount).into()),
        ("type".to_owned(), mount.mount_type.as_str().into()),
    ])
}

/// For each of `paths`, true if the caller's token has any rights there or below.
///
/// # Errors
///
/// When the token no longer exists, or access fails.
pub(super) fn rights_below(
    access: &dyn Access,
    token: &str,
    paths: &[String],
) -> Result<Vec<bool>, ApiError> {
    access
        .has_rights_below(&TokenReference::Id(token.into()), paths)
        .map_err(caller_gone)
}

/// The caller's token ended after admission, or this was its last use.
fn caller_gone(error: LookupError) -> ApiError {
    match error {
        LookupError::UnknownToken => {
            refusal(gatehouse_access_api::AdmissionError::InvalidToken, "")
        }
        LookupError::Failure(failure) => failure.into(),
    }
}
