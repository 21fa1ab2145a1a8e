//! A role as reads show it.

use gatehouse_access_api::TokenRole;
use serde::Serialize;

use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::mounts::token_type;

#[derive(Serialize)]
struct TokenRoleDescription<'a> {
    allowed_entity_aliases: Option<&'a [String]>,
    allowed_policies: &'a [String],
    allowed_policies_glob: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_cidrs: &'a [String],
    disallowed_policies: &'a [String],
    disallowed_policies_glob: &'a [String],
    explicit_max_ttl: u64,
    name: &'a str,
    orphan: bool,
    path_suffix: &'a str,
    period: u64,
    renewable: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    token_bound_cidrs: &'a [String],
    token_explicit_max_ttl: u64,
    token_no_default_policy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_num_uses: Option<u64>,
    token_period: u64,
    token_type: &'static str,
}

/// The answer to a read.
///
/// # Errors
///
/// Only when the role cannot be written as JSON, which is a bug.
pub(super) fn reply(role: &TokenRole) -> Result<Reply, ApiError> {
    let old = &role.old_spellings;
    Reply::data(&TokenRoleDescription {
        allowed_entity_aliases: role.allowed_entity_aliases.as_deref(),
        allowed_policies: &role.allowed_policies,
        allowed_policies_glob: &role.allowed_policies_glob,
        bound_cidrs: &old.bound_cidrs,
        disallowed_policies: &role.disallowed_policies,
        disallowed_policies_glob: &role.disallowed_policies_glob,
        explicit_max_ttl: old.explicit_max_ttl,
        name: &role.name,
        orphan: role.orphan,
        path_suffix: &role.path_suffix,
        period: old.period,
        renewable: role.renewable,
        token_bound_cidrs: &role.bound_cidrs,
        token_explicit_max_ttl: role.explicit_max_ttl,
        token_no_default_policy: role.no_default_policy,
        token_num_uses: (role.num_uses > 0).then_some(role.num_uses),
        token_period: role.period,
        token_type: token_type(role.token_type),
    })
}
