//! `identity/entity` and `identity/lookup/entity`.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_access::{
    Access, EntityChanges, EntityView, IdentityError, IdentityReference, IdentityTarget, Operation,
};
use jiff::Timestamp;
use serde::Serialize;

use super::aliases::{AliasFacts, AliasObject};
use super::{LOOKUP_FIELDS, Sought, keyed, named, require_list, shown_metadata, written};
use crate::vault::call::{Answer, Call, ignored_fields};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::fields::Fields;
use crate::vault::timestamp::timestamp;

const FIELDS: [&str; 5] = ["id", "name", "metadata", "policies", "disabled"];

#[derive(Serialize)]
struct Entity<'a> {
    aliases: Vec<AliasObject<'a>>,
    creation_time: Timestamp,
    direct_group_ids: &'a [String],
    disabled: bool,
    group_ids: BTreeSet<&'a String>,
    id: &'a str,
    inherited_group_ids: &'a [String],
    last_update_time: Timestamp,
    merged_entity_ids: (),
    metadata: Option<&'a BTreeMap<String, String>>,
    name: &'a str,
    namespace_id: &'static str,
    policies: &'a [String],
}

impl<'a> From<&'a EntityView> for Entity<'a> {
    fn from(entity: &'a EntityView) -> Self {
        let (direct, inherited) = (&entity.direct_group_ids, &entity.inherited_group_ids);
        Self {
            aliases: entity.aliases.iter().map(AliasObject::within).collect(),
            creation_time: timestamp(entity.creation_time),
            direct_group_ids: direct,
            disabled: entity.disabled,
            group_ids: direct.iter().chain(inherited).collect(),
            id: &entity.id,
            inherited_group_ids: inherited,
            last_update_time: timestamp(entity.last_update_time),
            merged_entity_ids: (),
            metadata: shown_metadata(&entity.metadata),
            name: &entity.name,
            namespace_id: "root",
            policies: &entity.policies,
        }
    }
}

#[derive(Serialize)]
struct Made {
    aliases: (),
    id: String,
    name: String,
}

#[derive(Serialize)]
struct Facts<'a> {
    name: &'a str,
    aliases: Vec<AliasFacts<'a>>,
}

/// `identity/entity`
pub(super) fn collection(access: &impl Access, call: &Call<'_>) -> Answer {
    match call.operation {
        Operation::Update => {
            let fields = call.fields()?;
            let (id, name) = (fields.string("id")?, fields.string("name")?);
            let target = match (id.as_deref(), name.as_deref()) {
                (Some(id), _) if !id.is_empty() => IdentityTarget::Id(id),
                (_, Some(name)) if !name.is_empty() => IdentityTarget::Name(name),
                _ => IdentityTarget::New,
            };
            write(access, &fields, target)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

/// `identity/entity/id/<id>`
pub(super) fn by_id(access: &impl Access, call: &Call<'_>, id: &str) -> Answer {
    match call.operation {
        Operation::Update => write(access, &call.fields()?, IdentityTarget::Id(id)),
        _ => read_or_delete(access, call, IdentityReference::Id(id)),
    }
}

/// `identity/entity/name/<name>`
pub(super) fn by_name(access: &impl Access, call: &Call<'_>, name: &str) -> Answer {
    match call.operation {
        Operation::Update => write(access, &call.fields()?, IdentityTarget::Name(name)),
        _ => read_or_delete(access, call, IdentityReference::Name(name)),
    }
}

fn read_or_delete(
    access: &impl Access,
    call: &Call<'_>,
    reference: IdentityReference<'_>,
) -> Answer {
    match call.operation {
        Operation::Read => {
            let entity = access.read_entity(reference)?.ok_or_else(Fault::absent)?;
            Reply::data(&Entity::from(&entity)).map(Some)
        }
        Operation::Delete => {
            access.delete_entity(reference).map_err(fault)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

fn write(access: &impl Access, fields: &Fields<'_>, target: IdentityTarget<'_>) -> Answer {
    let name = match target {
        // The name says which one is meant.
        IdentityTarget::Name(_) => None,
        _ => fields.string("name")?.filter(|name| !name.is_empty()),
    };
    let changes = EntityChanges {
        name,
        disabled: fields.boolean("disabled")?,
        policies: fields.list("policies")?,
        metadata: fields.map("metadata")?,
    };
    let done = access.write_entity(target, &changes).map_err(fault)?;
    written(done, fields, &FIELDS, |it| Made {
        aliases: (),
        id: it.id,
        name: it.name,
    })
}

/// LIST `identity/entity/id`
pub(super) fn list_by_id(access: &impl Access, operation: Operation) -> Answer {
    require_list(operation)?;
    let entities = access.list_entities()?;
    keyed(entities.iter().map(|entity| {
        let facts = Facts {
            name: &entity.name,
            aliases: entity.aliases.iter().map(AliasFacts::from).collect(),
        };
        (entity.id.as_str(), facts)
    }))
}

/// LIST `identity/entity/name`
pub(super) fn list_by_name(access: &impl Access, operation: Operation) -> Answer {
    require_list(operation)?;
    let entities = access.list_entities()?;
    named(entities.into_iter().map(|entity| entity.name))
}

/// `identity/entity/batch-delete`
pub(super) fn delete_several(access: &impl Access, call: &Call<'_>) -> Answer {
    if call.operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let ids = call.fields()?.list("entity_ids")?.unwrap_or_default();
    if ids.is_empty() {
        return Err(Fault::plain(400, "missing entity ids to delete"));
    }
    for id in &ids {
        let reference = IdentityReference::Id(id);
        access.delete_entity(reference).map_err(fault)?;
    }
    Ok(None)
}

/// `identity/lookup/entity`
pub(super) fn lookup(access: &impl Access, call: &Call<'_>) -> Answer {
    if call.operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let fields = call.fields()?;
    let sought = Sought::of(&fields)?;
    match access.read_entity(sought.reference()?)? {
        Some(entity) => {
            let reply = Reply::data(&Entity::from(&entity))?;
            Ok(Some(reply.warned(ignored_fields(&fields, &LOOKUP_FIELDS))))
        }
        None => Ok(None),
    }
}

fn fault(error: IdentityError) -> Fault {
    match error {
        IdentityError::NameTaken => Fault::plain(400, "entity name is already in use"),
        error => super::fault(error),
    }
}
