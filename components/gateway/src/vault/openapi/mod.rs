//! What there is below `/v1/`, as data: the description of the API at `sys/internal/specs/openapi` (contract 6.1), and what help
//! says of a path (contract 1.10).

mod document;
mod help;
#[cfg(test)]
mod page;
mod place;
mod route;
mod routes;
mod schema;
#[cfg(test)]
mod tests;

use gatehouse_access_api::Operation;
use serde::Serialize;

use self::document::Document;
use self::place::{Place, Root};
use self::routes::{CUBBYHOLE, Family, IDENTITY, METHOD, SYSTEM, TOKENS};
use super::call::Call;
use super::errors::{Fault, MEDIA_TYPE};
use super::internal_ui::rights_below;
use crate::cubbyhole_paths;
use crate::http::Response;
use crate::vault::server::Server;

/// Where the description is.
pub(super) const PATH: &str = "sys/internal/specs/openapi";

const TOKEN_ROOT: &str = "auth/token/";
const SYSTEM_ROOT: &str = "sys/";
const IDENTITY_ROOT: &str = "identity/";

/// The description of all that the caller has any rights to.
///
/// # Errors
///
/// When it is not read, or access fails.
pub(super) fn response(server: &Server<'_>, call: &Call<'_>) -> Result<Response, Fault> {
    let fields = match call.operation {
        Operation::Read => call.query_fields()?,
        Operation::Update => call.fields()?,
        Operation::List => return Err(Fault::unsupported_path()),
        _ => return Err(Fault::unsupported_operation()),
    };
    let generic = fields.boolean("generic_mount_paths")?.unwrap_or_default();
    let mounts = server.access.list_mounts()?;
    let mut paths: Vec<String> = mounts
        .iter()
        .map(|mount| format!("auth/{}", mount.path))
        .collect();
    paths.extend([SYSTEM_ROOT, IDENTITY_ROOT, cubbyhole_paths::ROOT].map(str::to_owned));
    let rights = rights_below(server.access, call.caller_token()?, &paths)?;
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut any_method = false;
    for (path, _) in paths.iter().zip(rights).filter(|(_, granted)| *granted) {
        places.push(match path.as_str() {
            TOKEN_ROOT => TOKENS.at(Root::Fixed(TOKEN_ROOT)),
            SYSTEM_ROOT => SYSTEM.at(Root::Fixed(SYSTEM_ROOT)),
            IDENTITY_ROOT => IDENTITY.at(Root::Fixed(IDENTITY_ROOT)),
            cubbyhole_paths::ROOT => CUBBYHOLE.at(Root::Fixed(cubbyhole_paths::ROOT)),
            // One template stands for all of them.
            _ if generic && any_method => continue,
            _ if generic => METHOD.at(Root::AnyMount),
            path => METHOD.at(Root::Mount(path.strip_prefix("auth/").unwrap_or(path))),
        });
        any_method |= path.starts_with("auth/") && path != TOKEN_ROOT;
    }
    json(&Document::of(&places))
}

#[derive(Serialize)]
struct Help<'a> {
    help: String,
    see_also: (),
    /// The description of the one path, or of all below a root.
    openapi: Document<'a>,
}

/// The answer to whoever asks for help with a path.
///
/// # Errors
///
/// When nothing is there to be helped with, or it cannot be written as JSON, which is a bug.
pub(super) fn help(call: &Call<'_>) -> Result<Response, Fault> {
    let (family, root, below) = located(call).ok_or_else(Fault::unsupported_path)?;
    if below.is_empty() {
        return json(&Help {
            help: help::of_family(family),
            see_also: (),
            openapi: Document::of(&[family.at(root)]),
        });
    }
    let route = family.find(below).ok_or_else(Fault::unsupported_path)?;
    let routes = [std::slice::from_ref(route)];
    let places = [Place {
        root,
        tag: family.tag,
        routes: &routes,
    }];
    json(&Help {
        help: help::of_route(route, below),
        see_also: (),
        openapi: Document::of(&places),
    })
}

/// Of which family the path is, where that begins, and what follows.
fn located<'a>(call: &'a Call<'_>) -> Option<(&'static Family, Root<'a>, &'a str)> {
    if let Some(mount) = &call.admission.mount {
        let below = call.admission.remainder.as_str();
        return match mount.mount_type.as_str() {
            "gcp" => Some((&METHOD, Root::Mount(&mount.path), below)),
            "token" => Some((&TOKENS, Root::Fixed(TOKEN_ROOT), below)),
            _ => None,
        };
    }
    let (area, below) = call.path.split_once('/').unwrap_or((call.path, ""));
    match area {
        "sys" => Some((&SYSTEM, Root::Fixed(SYSTEM_ROOT), below)),
        "identity" => Some((&IDENTITY, Root::Fixed(IDENTITY_ROOT), below)),
        cubbyhole_paths::MOUNT_TYPE => {
            Some((&CUBBYHOLE, Root::Fixed(cubbyhole_paths::ROOT), below))
        }
        _ => None,
    }
}

impl Family {
    const fn at<'a>(&self, root: Root<'a>) -> Place<'a> {
        Place {
            root,
            tag: self.tag,
            routes: self.routes,
        }
    }
}

fn json(shown: &impl Serialize) -> Result<Response, Fault> {
    let body = serde_json::to_vec(shown)
        .map_err(|error| Fault::internal(format!("a description could not be written: {error}")))?;
    Ok(Response::new(200, MEDIA_TYPE, body))
}
