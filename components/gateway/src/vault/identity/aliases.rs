//! `identity/entity-alias` and `identity/group-alias`, which differ little except in the objects that the aliases lead to.

use gatehouse_access_api::{AliasRequest, AliasView, IdentityError};
use jiff::Timestamp;
use serde::Serialize;

use super::{keyed, shown_ids, shown_metadata};
use crate::metadata::Metadata;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::paging::Paging;
use crate::vault::timestamp::timestamp;

/// The kind of object that an alias leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Kind {
    Entity,
    Group,
}

/// An alias as answers show it.
#[derive(Serialize)]
pub(super) struct AliasObject<'a> {
    canonical_id: &'a str,
    creation_time: Timestamp,
    custom_metadata: Option<Metadata<'a>>,
    id: &'a str,
    last_update_time: Timestamp,
    local: bool,
    merged_from_canonical_ids: Option<&'a [String]>,
    metadata: Option<Metadata<'a>>,
    mount_accessor: &'a str,
    mount_path: &'a str,
    mount_type: &'a str,
    name: &'a str,
    /// Present only if the alias is shown on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace_id: Option<&'static str>,
}

impl<'a> AliasObject<'a> {
    /// The alias as a part of the object that it leads to.
    pub(super) fn within(alias: &'a AliasView) -> Self {
        Self {
            canonical_id: &alias.canonical_id,
            creation_time: timestamp(alias.creation_time),
            custom_metadata: shown_metadata(&alias.custom_metadata),
            id: &alias.id,
            last_update_time: timestamp(alias.last_update_time),
            local: false,
            merged_from_canonical_ids: shown_ids(&alias.merged_from_canonical_ids),
            metadata: shown_metadata(&alias.metadata),
            mount_accessor: &alias.mount_accessor,
            mount_path: &alias.mount_path,
            mount_type: &alias.mount_type,
            name: &alias.name,
            namespace_id: None,
        }
    }

    fn alone(alias: &'a AliasView) -> Self {
        Self {
            namespace_id: Some("root"),
            ..Self::within(alias)
        }
    }
}

/// An alias in the list of an object's aliases.
#[derive(Serialize)]
pub(super) struct AliasFacts<'a> {
    id: &'a str,
    mount_accessor: &'a str,
    mount_path: &'a str,
    mount_type: &'a str,
    name: &'a str,
}

impl<'a> From<&'a AliasView> for AliasFacts<'a> {
    fn from(alias: &'a AliasView) -> Self {
        Self {
            id: &alias.id,
            mount_accessor: &alias.mount_accessor,
            mount_path: &alias.mount_path,
            mount_type: &alias.mount_type,
            name: &alias.name,
        }
    }
}

/// An alias in a list of aliases.
#[derive(Serialize)]
struct ListedAlias<'a> {
    canonical_id: &'a str,
    custom_metadata: Option<Metadata<'a>>,
    local: bool,
    metadata: Option<Metadata<'a>>,
    mount_accessor: &'a str,
    mount_path: &'a str,
    mount_type: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct Written {
    canonical_id: String,
    id: String,
}

/// POST `identity/entity-alias`, `identity/group-alias`, and below their `id/`
pub(in crate::vault) fn write(call: &Call<'_>, kind: Kind) -> Answer {
    let fields = &call.fields()?;
    let id = match call.find_captured("id") {
        None => fields.string("id")?.filter(|id| !id.is_empty()),
        Some(id) => Some(id.to_owned()),
    };
    let request = AliasRequest {
        id,
        name: fields.string("name")?,
        mount_accessor: fields.string("mount_accessor")?,
        canonical_id: fields.string("canonical_id")?,
        custom_metadata: fields.map("custom_metadata")?,
    };
    let access = call.server.access;
    let written = match kind {
        Kind::Entity => access.write_entity_alias(&request),
        Kind::Group => access.write_group_alias(&request),
    };
    let written = written.map_err(|error| api_error(error, kind))?;
    if !written.changed {
        return Ok(None);
    }
    let reply = Reply::data(&Written {
        canonical_id: written.canonical_id,
        id: written.id,
    })?;
    Ok(Some(reply.warned(fields.ignored_warning())))
}

/// GET below `id/`
pub(in crate::vault) fn read(call: &Call<'_>, kind: Kind) -> Answer {
    let (access, id) = (call.server.access, call.captured("id")?);
    let alias = match kind {
        Kind::Entity => access.read_entity_alias(id)?,
        Kind::Group => access.read_group_alias(id)?,
    };
    let alias = alias.ok_or_else(ApiError::absent)?;
    Reply::data(&AliasObject::alone(&alias)).map(Some)
}

/// DELETE below `id/`
pub(in crate::vault) fn delete(call: &Call<'_>, kind: Kind) -> Answer {
    let (access, id) = (call.server.access, call.captured("id")?);
    let deleted = match kind {
        Kind::Entity => access.delete_entity_alias(id),
        Kind::Group => access.delete_group_alias(id),
    };
    deleted.map_err(|error| api_error(error, kind))?;
    Ok(None)
}

/// LIST `.../id`
pub(in crate::vault) fn list(call: &Call<'_>, kind: Kind) -> Answer {
    let access = call.server.access;
    let paging = Paging::from_query(call)?;
    let (after, limit) = (paging.after.as_deref(), paging.limit);
    let page = match kind {
        Kind::Entity => access.list_entity_aliases(after, limit)?,
        Kind::Group => access.list_group_aliases(after, limit)?,
    };
    keyed(paging, (&page.aliases, page.next.as_deref()), |alias| {
        let facts = ListedAlias {
            canonical_id: &alias.canonical_id,
            custom_metadata: shown_metadata(&alias.custom_metadata),
            local: false,
            metadata: shown_metadata(&alias.metadata),
            mount_accessor: &alias.mount_accessor,
            mount_path: &alias.mount_path,
            mount_type: &alias.mount_type,
            name: &alias.name,
        };
        (alias.id.as_str(), facts)
    })
}

fn api_error(error: IdentityError, kind: Kind) -> ApiError {
    match error {
        IdentityError::UnknownEntity => ApiError::plain(400, "invalid canonical ID"),
        IdentityError::UnknownGroup => {
            ApiError::plain(400, "invalid group ID given in 'canonical_id'")
        }
        IdentityError::MissingMountAccessor | IdentityError::MissingAliasName
            if kind == Kind::Entity =>
        {
            let text = "'id' or 'mount_accessor' and 'name' must be provided";
            ApiError::plain(400, text)
        }
        IdentityError::MissingMountAccessor => ApiError::plain(400, "missing mount_accessor"),
        IdentityError::AlreadyAliased if kind == Kind::Entity => ApiError::plain(
            400,
            "Alias already exists for requested entity and mount accessor",
        ),
        IdentityError::AlreadyAliased => {
            ApiError::plain(400, "the group has another alias: delete that first")
        }
        error => super::api_error(error),
    }
}
