//! Entities, as requests write them and answers show them.

use std::collections::BTreeSet;

use gatehouse_access_api::{Access, EntityChanges, EntityView, IdentityReference, IdentityTarget};
use jiff::Timestamp;
use serde::Serialize;

use super::aliases::{AliasFacts, AliasObject};
use super::by_id_or_name::Kind;
use super::{keyed, reply_to_write, shown_ids, shown_metadata};
use crate::metadata::Metadata;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::fields::Fields;
use crate::vault::paging::Paging;
use crate::vault::timestamp::timestamp;

/// The maximum number of entities that one request deletes, each in a commit of its own.
const MAXIMUM_DELETED: usize = 1000;

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
    merged_entity_ids: Option<&'a [String]>,
    metadata: Option<Metadata<'a>>,
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
            merged_entity_ids: shown_ids(&entity.merged_entity_ids),
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

/// The objects below `identity/entity`.
pub(in crate::vault) struct Entities;

impl Kind for Entities {
    const NAME_TAKEN: &'static str = "entity name is already in use";

    fn write(
        access: &dyn Access,
        fields: &Fields<'_>,
        target: &IdentityTarget,
        name: Option<String>,
    ) -> Answer {
        let changes = EntityChanges {
            name,
            disabled: fields.boolean("disabled")?,
            policies: fields.list("policies")?,
            metadata: fields.map("metadata")?,
        };
        let done = access
            .write_entity(target, &changes)
            .map_err(Self::api_error)?;
        reply_to_write(done, fields, |it| Made {
            aliases: (),
            id: it.id,
            name: it.name,
        })
    }

    fn read(access: &dyn Access, reference: &IdentityReference) -> Result<Option<Reply>, ApiError> {
        let entity = access.read_entity(reference)?;
        entity
            .map(|entity| Reply::data(&Entity::from(&entity)))
            .transpose()
    }

    fn delete(access: &dyn Access, reference: &IdentityReference) -> Result<(), ApiError> {
        access.delete_entity(reference).map_err(Self::api_error)?;
        Ok(())
    }
}

/// LIST `identity/entity/id`
pub(in crate::vault) fn list_by_id(call: &Call<'_>) -> Answer {
    let paging = Paging::from_query(call)?;
    let page = call
        .server
        .access
        .list_entities(paging.after.as_deref(), paging.limit)?;
    keyed(paging, (&page.entities, page.next.as_deref()), |entity| {
        let facts = Facts {
            name: &entity.name,
            aliases: entity.aliases.iter().map(AliasFacts::from).collect(),
        };
        (entity.id.as_str(), facts)
    })
}

/// LIST `identity/entity/name`
pub(in crate::vault) fn list_by_name(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    Paging::keys(call, |after, limit| access.list_entity_names(after, limit))
}

/// `identity/entity/batch-delete`
pub(in crate::vault) fn delete_several(call: &Call<'_>) -> Answer {
    let ids = call.fields()?.list("entity_ids")?.unwrap_or_default();
    if ids.is_empty() {
        return Err(ApiError::plain(400, "missing entity ids to delete"));
    }
    if ids.len() > MAXIMUM_DELETED {
        let text = format!("at most {MAXIMUM_DELETED} entities are deleted at once");
        return Err(ApiError::plain(400, text));
    }
    for id in &ids {
        Entities::delete(call.server.access, &IdentityReference::Id(id.into()))?;
    }
    Ok(None)
}
