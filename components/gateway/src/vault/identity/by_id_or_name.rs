//! Entities and groups found by identifier, by name or by lookup. The operations on them are the same for both.

use gatehouse_access_api::{Access, IdentityError, IdentityReference, IdentityTarget};

use super::Sought;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::fields::Fields;

/// A kind of object: entities or groups.
pub(in crate::vault) trait Kind {
    /// Writes the `fields` of `target`. `name` is the new name in the fields.
    fn write(
        access: &dyn Access,
        fields: &Fields<'_>,
        target: &IdentityTarget,
        name: Option<String>,
    ) -> Answer;

    /// The object at `reference`, as answers show it.
    fn read(access: &dyn Access, reference: &IdentityReference) -> Result<Option<Reply>, ApiError>;

    fn delete(access: &dyn Access, reference: &IdentityReference) -> Result<(), ApiError>;

    /// The text of the refusal of a name that another object has.
    const NAME_TAKEN: &'static str;

    /// The refusal of a write.
    fn api_error(error: IdentityError) -> ApiError {
        match error {
            IdentityError::NameTaken => ApiError::plain(400, Self::NAME_TAKEN),
            error => super::api_error(error),
        }
    }
}

/// POST `identity/entity`, `identity/group`
pub(in crate::vault) fn create<K: Kind>(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let (id, name) = (fields.string("id")?, fields.string("name")?);
    let target = match (id.as_deref(), name.as_deref()) {
        (Some(id), _) if !id.is_empty() => IdentityTarget::Id(id.into()),
        (_, Some(name)) if !name.is_empty() => IdentityTarget::Name(name.into()),
        _ => IdentityTarget::New,
    };
    write_to::<K>(call, &fields, &target)
}

/// POST below `id/` or `name/`
pub(in crate::vault) fn write<K: Kind>(call: &Call<'_>) -> Answer {
    let target = match call.find_captured("name") {
        Some(name) => IdentityTarget::Name(name.into()),
        None => IdentityTarget::Id(call.captured("id")?.into()),
    };
    write_to::<K>(call, &call.fields()?, &target)
}

/// GET below `id/` or `name/`
pub(in crate::vault) fn read<K: Kind>(call: &Call<'_>) -> Answer {
    let found = K::read(call.server.access, &reference(call)?)?;
    found.map(Some).ok_or_else(ApiError::absent)
}

/// DELETE below `id/` or `name/`
pub(in crate::vault) fn delete<K: Kind>(call: &Call<'_>) -> Answer {
    K::delete(call.server.access, &reference(call)?)?;
    Ok(None)
}

/// `identity/lookup/...`
pub(in crate::vault) fn lookup<K: Kind>(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let sought = Sought::from_fields(&fields)?;
    let found = K::read(call.server.access, &sought.reference()?)?;
    Ok(found.map(|reply| reply.warned(fields.ignored_warning())))
}

/// The object that the path names.
fn reference(call: &Call<'_>) -> Result<IdentityReference, ApiError> {
    Ok(match call.find_captured("name") {
        Some(name) => IdentityReference::Name(name.into()),
        None => IdentityReference::Id(call.captured("id")?.into()),
    })
}

fn write_to<K: Kind>(call: &Call<'_>, fields: &Fields<'_>, target: &IdentityTarget) -> Answer {
    let name = match target {
        // The target's name identifies the object, so the fields cannot rename it.
        IdentityTarget::Name(_) => None,
        _ => fields.string("name")?.filter(|name| !name.is_empty()),
    };
    K::write(call.server.access, fields, target, name)
}
