//! The routes of the mount `token/` (contract 5.4).

mod accessors;
pub(in crate::vault) mod create;
mod lookup;
mod renew;
mod revoke;
pub(in crate::vault) mod roles;
pub(in crate::vault) mod tidy;

use gatehouse_access_api::Operation;

use self::create::Place;
use super::call::{Answer, Call};
use super::errors::Fault;
use super::spelling::is_role_name;
use crate::vault::server::Server;

/// Answers a request below `auth/token/`.
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>) -> Answer {
    let access = server.access;
    let remainder = call.admission.remainder.as_str();
    match (remainder, call.operation) {
        ("lookup-self", Operation::Read | Operation::Update) => lookup::own(call),
        ("lookup", Operation::Read | Operation::Update) => lookup::by_token(access, call),
        ("lookup-accessor", Operation::Update) => lookup::by_accessor(access, call),
        ("create", Operation::Update) => create::handle(access, call, Place::Plain),
        ("create-orphan", Operation::Update) => create::handle(access, call, Place::Orphan),
        ("renew-self", Operation::Update) => renew::own(server, call),
        ("renew", Operation::Update) => renew::by_token(server, call),
        ("renew-accessor", Operation::Update) => renew::by_accessor(server, call),
        ("revoke-orphan", Operation::Update) => revoke::alone(access, call),
        ("tidy", Operation::Update) => tidy::handle(access),
        ("accessors", Operation::List) => accessors::list(access, call),
        ("revoke-self", Operation::Update) => revoke::own(access, call),
        ("revoke", Operation::Update) => revoke::by_token(access, call),
        ("revoke-accessor", Operation::Update) => revoke::by_accessor(access, call),
        (path, operation) if let Some(role) = path.strip_prefix("create/") => match operation {
            Operation::Update if is_role_name(role) => {
                create::handle(access, call, Place::Role(role))
            }
            // A list ends in a slash, which no role's path does.
            operation if is_role_name(role) && operation != Operation::List => {
                Err(Fault::unsupported_operation())
            }
            _ => Err(Fault::unsupported_path()),
        },
        ("roles", Operation::List) => roles::names(access, call),
        (path, _) if let Some(name) = path.strip_prefix("roles/") => {
            roles::handle(access, call, name)
        }
        (
            "lookup-self" | "lookup" | "lookup-accessor" | "create" | "create-orphan"
            | "renew-self" | "renew" | "renew-accessor" | "revoke-self" | "revoke"
            | "revoke-accessor" | "revoke-orphan" | "tidy" | "accessors" | "roles",
            _,
        ) => Err(Fault::unsupported_operation()),
        _ => Err(Fault::unsupported_path()),
    }
}

/// The field `accessor`, which must be there.
fn accessor(fields: &super::fields::Fields<'_>) -> Result<String, Fault> {
    let accessor = fields.string("accessor")?.unwrap_or_default();
    if accessor.is_empty() {
        return Err(Fault::listed(400, "missing accessor"));
    }
    Ok(accessor)
}

/// The field `token`, which must be there.
fn token(fields: &super::fields::Fields<'_>) -> Result<String, Fault> {
    let token = fields.string("token")?.unwrap_or_default();
    if token.is_empty() {
        return Err(Fault::plain(400, "missing token ID"));
    }
    Ok(token)
}
