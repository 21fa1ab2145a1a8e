//! Groups, as requests write them and answers show them.

use gatehouse_access_api::{
    Access, GroupChanges, GroupType, GroupView, IdentityReference, IdentityTarget,
};
use jiff::Timestamp;
use serde::Serialize;

use super::aliases::{AliasFacts, AliasObject};
use super::by_id_or_name::Kind;
use super::{keyed, reply_to_write, shown_metadata};
use crate::metadata::Metadata;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::fields::Fields;
use crate::vault::paging::Paging;
use crate::vault::text::quoted;
use crate::vault::timestamp::timestamp;

/// A group without an alias shows an empty object.
#[derive(Serialize)]
#[serde(untagged)]
enum Alias<'a> {
    Some(Box<AliasObject<'a>>),
    None {},
}

#[derive(Serialize)]
struct Group<'a> {
    alias: Alias<'a>,
    creation_time: Timestamp,
    id: &'a str,
    last_update_time: Timestamp,
    member_entity_ids: &'a [String],
    member_group_ids: &'a [String],
    metadata: Option<Metadata<'a>>,
    modify_index: u64,
    name: &'a str,
    namespace_id: &'static str,
    parent_group_ids: &'a [String],
    policies: &'a [String],
    #[serde(rename = "type")]
    group_type: &'static str,
}

impl<'a> From<&'a GroupView> for Group<'a> {
    fn from(group: &'a GroupView) -> Self {
        Self {
            alias: match &group.alias {
                Some(alias) => Alias::Some(Box::new(AliasObject::within(alias))),
                None => Alias::None {},
            },
            creation_time: timestamp(group.creation_time),
            id: &group.id,
            last_update_time: timestamp(group.last_update_time),
            member_entity_ids: &group.member_entity_ids,
            member_group_ids: &group.member_group_ids,
            metadata: shown_metadata(&group.metadata),
            modify_index: group.modify_index,
            name: &group.name,
            namespace_id: "root",
            parent_group_ids: &group.parent_group_ids,
            policies: &group.policies,
            group_type: match group.group_type {
                GroupType::Internal => "internal",
                GroupType::External => "external",
            },
        }
    }
}

#[derive(Serialize)]
struct Made {
    id: String,
    name: String,
}

#[derive(Serialize)]
struct Facts<'a> {
    name: &'a str,
    num_parent_groups: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<AliasFacts<'a>>,
}

/// The objects below `identity/group`.
pub(in crate::vault) struct Groups;

impl Kind for Groups {
    const NAME_TAKEN: &'static str = "group name is already in use";

    fn write(
        access: &dyn Access,
        fields: &Fields<'_>,
        target: &IdentityTarget,
        name: Option<String>,
    ) -> Answer {
        let changes = GroupChanges {
            name,
            group_type: group_type(fields)?,
            policies: fields.list("policies")?,
            metadata: fields.map("metadata")?,
            member_entity_ids: fields.list("member_entity_ids")?,
            member_group_ids: fields.list("member_group_ids")?,
        };
        let done = access
            .write_group(target, &changes)
            .map_err(Self::api_error)?;
        reply_to_write(done, fields, |it| Made {
            id: it.id,
            name: it.name,
        })
    }

    fn read(access: &dyn Access, reference: &IdentityReference) -> Result<Option<Reply>, ApiError> {
        let group = access.read_group(reference)?;
        group
            .map(|group| Reply::data(&Group::from(&group)))
            .transpose()
    }

    fn delete(access: &dyn Access, reference: &IdentityReference) -> Result<(), ApiError> {
        access.delete_group(reference).map_err(Self::api_error)?;
        Ok(())
    }
}

fn group_type(fields: &Fields<'_>) -> Result<Option<GroupType>, ApiError> {
    match fields.string("type")?.as_deref() {
        None | Some("") => Ok(None),
        Some("internal") => Ok(Some(GroupType::Internal)),
        Some("external") => Ok(Some(GroupType::External)),
        Some(other) => Err(ApiError::plain(
            400,
            format!("invalid group type {}", quoted(other)),
        )),
    }
}

/// LIST `identity/group/id`
pub(in crate::vault) fn list_by_id(call: &Call<'_>) -> Answer {
    let paging = Paging::from_query(call)?;
    let page = call
        .server
        .access
        .list_groups(paging.after.as_deref(), paging.limit)?;
    keyed(paging, (&page.groups, page.next.as_deref()), |group| {
        let facts = Facts {
            name: &group.name,
            num_parent_groups: group.parent_group_ids.len(),
            alias: group.alias.as_ref().map(AliasFacts::from),
        };
        (group.id.as_str(), facts)
    })
}

/// LIST `identity/group/name`
pub(in crate::vault) fn list_by_name(call: &Call<'_>) -> Answer {
    let access = call.server.access;
    Paging::keys(call, |after, limit| access.list_group_names(after, limit))
}
