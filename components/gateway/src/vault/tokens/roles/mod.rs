//! `roles` and `roles/<name>`: the roles under which tokens are created (contract 5.4).

pub(in crate::vault) mod fields;
mod shape;
mod text;

use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::paging::Paging;

/// LIST `roles`
pub(in crate::vault) fn list(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    Paging::keys(call, |after, limit| access.list_token_roles(after, limit))
}

pub(in crate::vault) fn read(call: &Call<'_>) -> Answer {
    let role = call.server.access.read_token_role(name(call)?)?;
    shape::reply(&role.ok_or_else(ApiError::absent)?).map(Some)
}

/// A write without warnings has no content, and so does not mention ignored fields either.
pub(in crate::vault) fn write(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let changes = fields::changes(&fields)?;
    let access = call.server.access;
    let warnings = access
        .write_token_role(name(call)?, &changes, call.admission.write)
        .map_err(text::api_error)?;
    if warnings.is_empty() {
        return Ok(None);
    }
    let reply = Reply::empty()
        .warned(warnings.iter().map(text::warning))
        .warned(fields.ignored_warning())
        .warned(fields.replaced_warning("role_name"));
    Ok(Some(reply))
}

pub(in crate::vault) fn delete(call: &Call<'_>) -> Answer {
    call.server.access.delete_token_role(name(call)?)?;
    Ok(None)
}

fn name<'c>(call: &'c Call<'_>) -> Result<&'c str, ApiError> {
    call.captured("role_name")
}
