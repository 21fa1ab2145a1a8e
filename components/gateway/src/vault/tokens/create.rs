//! `create` and `create-orphan`: new tokens for callers that have a token (contract 5.4).

use gatehouse_access_api::{CreateError, CreateRequest, Parent};
use zeroize::Zeroizing;

use crate::vault::auth_block::Granted;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::fields::{ConversionError, Fields};
use crate::vault::text::{quoted, quoted_list};

/// `create`, `create/<role>`
pub(in crate::vault) fn child(call: &Call<'_>) -> Answer {
    create(call, false)
}

/// `create-orphan`
pub(in crate::vault) fn orphan(call: &Call<'_>) -> Answer {
    create(call, true)
}

fn create(call: &Call<'_>, orphan_path: bool) -> Answer {
    let fields = call.fields()?;
    let mut request = request(&fields)?;
    request.role = call.find_captured("role_name").map(str::to_owned);
    let parent = Parent {
        token: call.caller_token()?.into(),
        sudo: call.admission.sudo,
        limited_uses: call.admission.limited_uses,
        orphan_path,
    };
    let access = call.server.access;
    let issued = access.create_token(&parent, &request).map_err(api_error)?;
    let reply = Reply::auth(Granted::New(Zeroizing::new(issued)));
    Ok(Some(reply.warned(fields.ignored_warning())))
}

fn request(fields: &Fields<'_>) -> Result<CreateRequest, ConversionError> {
    // `lease` is an old name for `ttl`, which counts only where `ttl` is missing or 0.
    let ttl = match fields.signed_duration("ttl")? {
        None | Some(0) => fields.signed_duration("lease")?,
        ttl => ttl,
    };
    Ok(CreateRequest {
        role: None,
        id: fields.string("id")?.filter(|id| !id.is_empty()),
        policies: fields.unsplit_list("policies")?,
        metadata: fields.map("meta")?.map(|it| it.into_iter().collect()),
        no_parent: fields.boolean("no_parent")?.unwrap_or_default(),
        no_default_policy: fields.boolean("no_default_policy")?.unwrap_or_default(),
        renewable: fields.boolean("renewable")?,
        ttl,
        explicit_max_ttl: fields.signed_duration("explicit_max_ttl")?,
        period: fields.signed_duration("period")?,
        display_name: fields.string("display_name")?,
        num_uses: fields.integer("num_uses")?,
        token_type: fields.string("type")?,
        entity_alias: fields.string("entity_alias")?,
    })
}

fn api_error(error: CreateError) -> ApiError {
    let text = match error {
        CreateError::Failure(failure) => return failure.into(),
        CreateError::InvalidToken => {
            return crate::vault::errors::refusal(
                gatehouse_access_api::AdmissionError::InvalidToken,
                "",
            );
        }
        CreateError::AliasEntityUnusable => return ApiError::plain(403, error.to_string()),
        CreateError::PoliciesNotOfRole(it) => format!(
            "token policies ({}) must be subset of the role's allowed policies ({}) or glob policies ({})",
            quoted_list(&it.policies),
            quoted_list(&it.allowed),
            quoted_list(&it.allowed_glob),
        ),
        CreateError::PolicyDisallowedByRole(name) => {
            format!("token policy {} is disallowed by this role", quoted(&name))
        }
        CreateError::UnassignablePolicy(name) => format!("cannot assign policy {}", quoted(&name)),
        // The texts of the other errors are those of the contract.
        error => error.to_string(),
    };
    ApiError::plain(400, text)
}
