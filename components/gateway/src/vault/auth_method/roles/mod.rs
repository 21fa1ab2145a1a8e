//! `role` and `role/<name>` (contract 3).

pub(in crate::vault) mod fields;
pub(in crate::vault) mod lists;
mod text;

use gatehouse_access_api::{KeyPage, WritePermission};
use gatehouse_auth_method_api::Precondition;

use super::mount;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::paging::Paging;

/// LIST `role`, `roles`
pub(in crate::vault) fn list(call: &Call<'_>) -> Answer {
    let (auth_method, mount) = (call.server.auth_method, mount(call)?);
    Paging::keys(call, |after, limit| {
        let page = auth_method.list_roles_after(&mount, after, limit)?;
        let (keys, next) = (page.names, page.next);
        Ok::<_, ApiError>(KeyPage { keys, next })
    })
}

/// GET `role/<name>`
pub(in crate::vault) fn read(call: &Call<'_>) -> Answer {
    let auth_method = call.server.auth_method;
    let role = auth_method.read_role(&mount(call)?, name(call)?)?;
    let role = role.ok_or_else(ApiError::absent)?;
    Reply::data(&fields::RoleDescription(&role)).map(Some)
}

/// POST `role/<name>`
pub(in crate::vault) fn write(call: &Call<'_>) -> Answer {
    // The decision depends on the policies and on the existence of the role. Only the store can check both in one step.
    let precondition = match call.admission.write {
        WritePermission {
            create: true,
            update: true,
        } => Precondition::Any,
        WritePermission { create: true, .. } => Precondition::MustBeNew,
        WritePermission { update: true, .. } => Precondition::MustExist,
        WritePermission { .. } => return Err(ApiError::denied()),
    };
    let sent = call.known_fields()?;
    let changes = fields::changes(&sent)?;
    let (auth_method, mount) = (call.server.auth_method, mount(call)?);
    let written = auth_method
        .write_role(&mount, name(call)?, changes, precondition)
        .map_err(text::api_error)?;
    let warnings = written.warnings.iter().map(text::warning);
    let reply = Reply::empty()
        .warned(warnings)
        .warned(sent.replaced_warning(fields::NAME.name));
    Ok(Some(reply))
}

/// DELETE `role/<name>`
pub(in crate::vault) fn delete(call: &Call<'_>) -> Answer {
    let auth_method = call.server.auth_method;
    auth_method.delete_role(&mount(call)?, name(call)?)?;
    Ok(None)
}

fn name<'c>(call: &'c Call<'_>) -> Result<&'c str, ApiError> {
    call.captured(fields::NAME.name)
}
