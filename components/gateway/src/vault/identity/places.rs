//! Where entities and groups are found: by their identifier, by their name, or by a lookup. What is done there is the same for both.

use gatehouse_access_api::{Access, IdentityError, IdentityReference, IdentityTarget, Operation};

use super::{LOOKUP_FIELDS, Sought};
use crate::vault::call::{Answer, Call, ignored_fields};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::fields::Fields;

/// What is kept at such places.
pub(super) trait Kind {
    /// Writes what `fields` say of `target`; `name` is the one that they give it.
    fn write(
        access: &dyn Access,
        fields: &Fields<'_>,
        target: &IdentityTarget,
        name: Option<String>,
    ) -> Answer;

    /// What is at `reference`, as it is shown.
    fn shown(access: &dyn Access, reference: &IdentityReference) -> Result<Option<Reply>, Fault>;

    fn delete(access: &dyn Access, reference: &IdentityReference) -> Result<(), Fault>;

    /// The text for a name that somebody else has.
    const NAME_TAKEN: &'static str;

    /// The refusal of a write.
    fn fault(error: IdentityError) -> Fault {
        match error {
            IdentityError::NameTaken => Fault::plain(400, Self::NAME_TAKEN),
            error => super::fault(error),
        }
    }
}

/// `identity/entity`, `identity/group`
pub(super) fn collection<K: Kind>(access: &dyn Access, call: &Call<'_>) -> Answer {
    match call.operation {
        Operation::Update => {
            let fields = call.fields()?;
            let (id, name) = (fields.string("id")?, fields.string("name")?);
            let target = match (id.as_deref(), name.as_deref()) {
                (Some(id), _) if !id.is_empty() => &IdentityTarget::Id(id.into()),
                (_, Some(name)) if !name.is_empty() => &IdentityTarget::Name(name.into()),
                _ => &IdentityTarget::New,
            };
            write::<K>(access, &fields, target)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// Below `id/`.
pub(super) fn by_id<K: Kind>(access: &dyn Access, call: &Call<'_>, id: &str) -> Answer {
    match call.operation {
        Operation::Update => write::<K>(access, &call.fields()?, &IdentityTarget::Id(id.into())),
        _ => read_or_delete::<K>(access, call, &IdentityReference::Id(id.into())),
    }
}

/// Below `name/`.
pub(super) fn by_name<K: Kind>(access: &dyn Access, call: &Call<'_>, name: &str) -> Answer {
    match call.operation {
        Operation::Update => {
            write::<K>(access, &call.fields()?, &IdentityTarget::Name(name.into()))
        }
        _ => read_or_delete::<K>(access, call, &IdentityReference::Name(name.into())),
    }
}

/// `identity/lookup/...`
pub(super) fn lookup<K: Kind>(access: &dyn Access, call: &Call<'_>) -> Answer {
    if call.operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let fields = call.fields()?;
    let sought = Sought::of(&fields)?;
    let found = K::shown(access, &sought.reference()?)?;
    Ok(found.map(|reply| reply.warned(ignored_fields(&fields, &LOOKUP_FIELDS))))
}

fn write<K: Kind>(access: &dyn Access, fields: &Fields<'_>, target: &IdentityTarget) -> Answer {
    let name = match target {
        // The name says which one is meant.
        IdentityTarget::Name(_) => None,
        _ => fields.string("name")?.filter(|name| !name.is_empty()),
    };
    K::write(access, fields, target, name)
}

fn read_or_delete<K: Kind>(
    access: &dyn Access,
    call: &Call<'_>,
    reference: &IdentityReference,
) -> Answer {
    match call.operation {
        Operation::Read => K::shown(access, reference)?
            .map(Some)
            .ok_or_else(Fault::absent),
        Operation::Delete => {
            K::delete(access, reference)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}
