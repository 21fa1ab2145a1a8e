//! The routes below `/v1/` as data: the description of the API at `sys/internal/specs/openapi` (contract 6.1), and the help for a path (contract
//! 1.10).

mod document;
mod help;
#[cfg(test)]
mod page;
mod schema;

use gatehouse_access_api::Operation;
use serde::Serialize;

use self::document::{Document, document};
use super::call::Call;
use super::envelope;
use super::errors::ApiError;
use super::internal_ui::rights_below;
use super::route_group::{Root, RouteGroup};
use super::routes::{
    CUBBYHOLE, IDENTITY, IDENTITY_ROOT, Located, METHOD, SYSTEM, SYSTEM_ROOT, TOKEN_ROOT, TOKENS,
};
use crate::cubbyhole_paths;
use crate::http::Response;

/// The description of all routes to which the caller has any rights.
///
/// # Errors
///
/// When the fields of the request are invalid, or access fails.
pub(super) fn response(call: &Call<'_>) -> Result<Response, ApiError> {
    let fields = match call.operation {
        Operation::Read => call.query_fields()?,
        _ => call.fields()?,
    };
    let generic = fields.boolean("generic_mount_paths")?.unwrap_or_default();
    let mounts = call.server.access.list_mounts()?;
    let mut paths: Vec<String> = mounts
        .iter()
        .map(|mount| format!("auth/{}", mount.path))
        .collect();
    paths.extend([SYSTEM_ROOT, IDENTITY_ROOT, cubbyhole_paths::ROOT].map(str::to_owned));
    let rights = rights_below(call.server.access, call.caller_token()?, &paths)?;
    let mut groups: Vec<RouteGroup<'_>> = Vec::new();
    let mut any_method = false;
    for (path, _) in paths.iter().zip(rights).filter(|(_, granted)| *granted) {
        groups.push(match path.as_str() {
            TOKEN_ROOT => TOKENS.at(Root::Fixed(TOKEN_ROOT)),
            SYSTEM_ROOT => SYSTEM.at(Root::Fixed(SYSTEM_ROOT)),
            IDENTITY_ROOT => IDENTITY.at(Root::Fixed(IDENTITY_ROOT)),
            cubbyhole_paths::ROOT => CUBBYHOLE.at(Root::Fixed(cubbyhole_paths::ROOT)),
            // One template stands for all mounts of the method.
            _ if generic && any_method => continue,
            _ if generic => METHOD.at(Root::AnyMount),
            path => METHOD.at(Root::Mount(path.strip_prefix("auth/").unwrap_or(path))),
        });
        any_method |= path.starts_with("auth/") && path != TOKEN_ROOT;
    }
    envelope::bare(200, &document(&groups))
}

#[derive(Serialize)]
struct Help {
    help: String,
    see_also: (),
    /// The description of the single path, or of all paths below a root.
    openapi: Document,
}

/// The answer to a request for help with a path.
///
/// # Errors
///
/// When the path does not exist, or the help cannot be written as JSON, which is a bug.
pub(super) fn help(located: Option<&Located<'_>>) -> Result<Response, ApiError> {
    let Located {
        family,
        root,
        below,
    } = located.ok_or_else(ApiError::unsupported_path)?;
    if below.is_empty() {
        return envelope::bare(
            200,
            &Help {
                help: help::of_family(family),
                see_also: (),
                openapi: document(&[family.at(*root)]),
            },
        );
    }
    let route = family.find(below).ok_or_else(ApiError::unsupported_path)?;
    let routes = [std::slice::from_ref(route)];
    let groups = [RouteGroup {
        root: *root,
        tag: family.tag,
        routes: &routes,
    }];
    envelope::bare(
        200,
        &Help {
            help: help::of_route(route, below),
            see_also: (),
            openapi: document(&groups),
        },
    )
}
