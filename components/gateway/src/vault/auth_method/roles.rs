//! `role` and `role/<name>` (contract 3).

pub(in crate::vault) mod fields;
pub(in crate::vault) mod lists;
mod shape;
mod text;

pub(super) use lists::{List, edit};

use gatehouse_access_api::{KeyPage, Operation, WritePermission};
use gatehouse_auth_method_api::{AuthMethod, Mount, Precondition, RoleChanges};

use crate::http::Request;
use crate::vault::call::{Answer, Call, fields_among, replaced_field};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::paging::Paging;

/// Answers a list of `role` or `roles`.
pub(super) fn names(auth_method: &dyn AuthMethod, call: &Call<'_>, mount: &Mount) -> Answer {
    let paging = Paging::of(call)?;
    let page = auth_method.list_roles_after(mount, paging.after.as_deref(), paging.limit)?;
    let (keys, next) = (page.names, page.next);
    paging.reply(&KeyPage { keys, next })
}

/// Answers a request for `role/<name>`.
pub(super) fn handle(
    auth_method: &dyn AuthMethod,
    call: &Call<'_>,
    mount: &Mount,
    name: &str,
) -> Answer {
    match call.operation {
        Operation::Read => match auth_method.read_role(mount, name)? {
            Some(role) => shape::shown(&role).map(Some),
            None => Err(Fault::absent()),
        },
        Operation::CreateOrUpdate => write(auth_method, call, mount, name).map(Some),
        Operation::Delete => {
            auth_method.delete_role(mount, name)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// What the body of a write says.
pub(in crate::vault) fn changes(request: &Request) -> Result<RoleChanges, Fault> {
    let sent = fields_among(request, &fields::NAMES)?;
    Ok(fields::changes(&sent)?)
}

fn write(
    auth_method: &dyn AuthMethod,
    call: &Call<'_>,
    mount: &Mount,
    name: &str,
) -> Result<Reply, Fault> {
    // What policies allow and what is there decide together, and only the store can decide in one step.
    let precondition = match call.admission.write {
        WritePermission {
            create: true,
            update: true,
        } => Precondition::Any,
        WritePermission { create: true, .. } => Precondition::MustBeNew,
        WritePermission { update: true, .. } => Precondition::MustExist,
        WritePermission { .. } => return Err(Fault::denied()),
    };
    let sent = fields_among(call.request, &fields::NAMES)?;
    let changes = fields::changes(&sent)?;
    let written = auth_method
        .write_role(mount, name, changes, precondition)
        .map_err(text::fault)?;
    let warnings = written.warnings.iter().map(text::warning);
    Ok(Reply::empty()
        .warned(warnings)
        .warned(replaced_field(&sent, "name")))
}
