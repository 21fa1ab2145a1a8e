//! `identity/entity/merge`: the merge of several entities into one.

use gatehouse_access_api::{IdentityError, MergeRequest};

use crate::vault::call::{Answer, Call};
use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

/// `identity/entity/merge`
///
/// `force` is about second factors, which do not exist here.
pub(in crate::vault) fn merge(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    fields.boolean("force")?;
    let request = MergeRequest {
        from_entity_ids: fields.list("from_entity_ids")?.unwrap_or_default(),
        to_entity_id: fields.string("to_entity_id")?.unwrap_or_default(),
        alias_ids_to_keep: fields
            .list("conflicting_alias_ids_to_keep")?
            .unwrap_or_default(),
    };
    if request.to_entity_id.is_empty() {
        return Err(ApiError::plain(400, "missing entity id to merge to"));
    }
    if request.from_entity_ids.is_empty() {
        return Err(ApiError::plain(400, "missing entity ids to merge from"));
    }
    let access = call.server.access;
    access.merge_entities(&request).map_err(api_error)?;
    Ok(None)
}

fn api_error(error: IdentityError) -> ApiError {
    let text = match error {
        IdentityError::UnknownEntity => "entity id to merge to is invalid".to_owned(),
        IdentityError::UnknownMergedEntity => "entity id to merge from is invalid".to_owned(),
        IdentityError::MergedIntoItself => {
            "to_entity_id should not be present in from_entity_ids".to_owned()
        }
        IdentityError::ClashingAliases(accessor) => format!(
            "toEntity and at least one fromEntity have aliases with the same mount accessor, repeat the merge request with one of them in conflicting_alias_ids_to_keep, clash: mountAccessor: {}",
            quoted(&accessor)
        ),
        error => return super::api_error(error),
    };
    ApiError::plain(400, text)
}
