//! `roles` and `roles/<name>`: the roles under which tokens are created (contract 5.4).

pub(in crate::vault) mod fields;
mod shape;
mod text;

use gatehouse_access_api::{Access, Operation};

use crate::vault::call::{Answer, Call, ignored_fields, replaced_field};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::paging::Paging;
use crate::vault::spelling::is_role_name;

/// Answers a list of `roles`.
pub(super) fn names(access: &dyn Access, call: &Call<'_>) -> Answer {
    let paging = Paging::of(call)?;
    let page = access.list_token_roles(paging.after.as_deref(), paging.limit)?;
    paging.reply(&page)
}

/// Answers a request for `roles/<name>`.
pub(super) fn handle(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
    if !is_role_name(name) {
        return Err(Fault::unsupported_path());
    }
    match call.operation {
        Operation::Read => {
            let role = access.read_token_role(name)?.ok_or_else(Fault::absent)?;
            shape::shown(&role).map(Some)
        }
        Operation::CreateOrUpdate => write(access, call, name),
        Operation::Delete => {
            access.delete_token_role(name)?;
            Ok(None)
        }
        // A list ends in a slash, which no role's path does.
        Operation::List => Err(Fault::unsupported_path()),
        _ => Err(Fault::unsupported_operation()),
    }
}

/// A write without anything to warn of says nothing, not even of fields that it ignored.
fn write(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
    let fields = call.fields()?;
    let changes = fields::changes(&fields)?;
    let warnings = access
        .write_token_role(name, &changes, call.admission.write)
        .map_err(text::fault)?;
    if warnings.is_empty() {
        return Ok(None);
    }
    let reply = Reply::empty()
        .warned(warnings.iter().map(text::warning))
        .warned(ignored_fields(&fields, &fields::NAMES))
        .warned(replaced_field(&fields, "role_name"));
    Ok(Some(reply))
}
