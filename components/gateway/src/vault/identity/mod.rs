//! The handlers below `identity/` (contract 7.2).

pub(in crate::vault) mod aliases;
pub(in crate::vault) mod by_id_or_name;
pub(in crate::vault) mod entities;
pub(in crate::vault) mod groups;
pub(in crate::vault) mod merge;

use std::collections::BTreeMap;

use gatehouse_access_api::{AliasPlace, IdentityError, IdentityReference, IdentityWritten};
use serde::Serialize;

use super::call::Answer;
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::Fields;
use super::paging::Paging;
use super::text::quoted;
use crate::metadata::Metadata;

/// Keys, and some facts about each, which spare clients a read of every object.
#[derive(Serialize)]
struct Keys<'a, T> {
    keys: Vec<&'a str>,
    key_info: BTreeMap<&'a str, T>,
}

/// A page of objects, keyed and sorted by their identifiers.
fn keyed<'a, V, T: Serialize>(
    paging: Paging,
    (items, next): (&'a [V], Option<&str>),
    facts: impl Fn(&'a V) -> (&'a str, T),
) -> Answer {
    if items.is_empty() {
        return Err(ApiError::absent());
    }
    let key_info: BTreeMap<&str, T> = items.iter().map(facts).collect();
    let keys = key_info.keys().copied().collect();
    let reply = Reply::data(&Keys { keys, key_info })?;
    Ok(Some(reply.warned(paging.warnings(next))))
}

/// The answer to a write: a new object is shown, a change is not (204).
fn reply_to_write<T: Serialize>(
    written: IdentityWritten,
    fields: &Fields<'_>,
    shown: impl FnOnce(IdentityWritten) -> T,
) -> Answer {
    if !written.created {
        return Ok(None);
    }
    let reply = Reply::data(&shown(written))?;
    Ok(Some(reply.warned(fields.ignored_warning())))
}

/// The fields of a lookup.
struct Sought {
    id: String,
    name: String,
    alias_id: String,
    alias_name: String,
    alias_mount_accessor: String,
}

impl Sought {
    fn from_fields(fields: &Fields<'_>) -> Result<Self, ApiError> {
        let field = |name| Ok::<_, ApiError>(fields.string(name)?.unwrap_or_default());
        Ok(Self {
            id: field("id")?,
            name: field("name")?,
            alias_id: field("alias_id")?,
            alias_name: field("alias_name")?,
            alias_mount_accessor: field("alias_mount_accessor")?,
        })
    }

    /// The only reference that the fields give.
    fn reference(&self) -> Result<IdentityReference, ApiError> {
        let given = [
            self.id.as_str(),
            &self.name,
            &self.alias_id,
            &self.alias_name,
            &self.alias_mount_accessor,
        ]
        .map(|text| !text.is_empty());
        let refused = |text: &str| Err(ApiError::plain(400, text));
        match given {
            [true, false, false, false, false] => Ok(IdentityReference::Id(self.id.clone())),
            [false, true, false, false, false] => Ok(IdentityReference::Name(self.name.clone())),
            [false, false, true, false, false] => {
                Ok(IdentityReference::AliasId(self.alias_id.clone()))
            }
            [false, false, false, true, true] => Ok(IdentityReference::Alias(AliasPlace {
                mount_accessor: self.alias_mount_accessor.clone(),
                name: self.alias_name.clone(),
            })),
            [false, false, false, false, false] => refused("query parameter not supplied"),
            [false, false, false, true, false] | [false, false, false, false, true] => {
                refused("both 'alias_name' and 'alias_mount_accessor' needs to be set")
            }
            _ => {
                refused("query parameter conflict; please supply distinct set of query parameters")
            }
        }
    }
}

/// The refusal of a write, except for texts that differ between entities and groups.
fn api_error(error: IdentityError) -> ApiError {
    let text = match error {
        IdentityError::Failure(failure) => return failure.into(),
        IdentityError::UnknownEntity => "entity not found from id".to_owned(),
        IdentityError::UnknownGroup => "invalid group id".to_owned(),
        IdentityError::UnknownAlias => "invalid alias ID provided".to_owned(),
        IdentityError::UnknownMountAccessor(accessor) => {
            format!("invalid mount accessor {}", quoted(&accessor))
        }
        IdentityError::UnknownMemberEntity(id) => format!("invalid entity ID {}", quoted(&id)),
        IdentityError::UnknownMemberGroup(id) => format!("invalid member group ID {}", quoted(&id)),
        IdentityError::ExternalMembers => {
            "member entities can't be set manually for external groups".to_owned()
        }
        IdentityError::InternalAlias => "alias can't be set on an internal group".to_owned(),
        IdentityError::CyclicGroups => {
            "cyclic relationship detected for member group ID".to_owned()
        }
        error => error.to_string(),
    };
    ApiError::plain(400, text)
}

/// Identifiers as answers show them: `None` for an empty list.
fn shown_ids(ids: &[String]) -> Option<&[String]> {
    Some(ids).filter(|ids| !ids.is_empty())
}

/// Metadata as answers show it: `None` for an empty object.
fn shown_metadata(metadata: &[(String, String)]) -> Option<Metadata<'_>> {
    Some(Metadata(metadata)).filter(|_| !metadata.is_empty())
}
