//! The fields of a role: names and types (contract 1.4).

use gatehouse_access_api::TokenRoleChanges;

use crate::vault::fields::{ConversionError, Fields};

/// All that a write may say.
pub(in crate::vault) const NAMES: [&str; 18] = [
    "role_name",
    "allowed_policies",
    "allowed_policies_glob",
    "disallowed_policies",
    "disallowed_policies_glob",
    "allowed_entity_aliases",
    "orphan",
    "renewable",
    "path_suffix",
    "token_bound_cidrs",
    "token_explicit_max_ttl",
    "token_no_default_policy",
    "token_num_uses",
    "token_period",
    "token_type",
    "bound_cidrs",
    "explicit_max_ttl",
    "period",
];

/// What a write says.
///
/// # Errors
///
/// When a field has a value that its type does not take.
pub(super) fn changes(fields: &Fields<'_>) -> Result<TokenRoleChanges, ConversionError> {
    Ok(TokenRoleChanges {
        allowed_policies: fields.bounding_list("allowed_policies")?,
        allowed_policies_glob: fields.bounding_list("allowed_policies_glob")?,
        disallowed_policies: fields.bounding_list("disallowed_policies")?,
        disallowed_policies_glob: fields.bounding_list("disallowed_policies_glob")?,
        allowed_entity_aliases: fields.list("allowed_entity_aliases")?,
        orphan: fields.boolean("orphan")?,
        renewable: fields.boolean("renewable")?,
        path_suffix: fields.string("path_suffix")?,
        bound_cidrs: fields.bounding_list("token_bound_cidrs")?,
        explicit_max_ttl: fields.duration("token_explicit_max_ttl")?,
        no_default_policy: fields.boolean("token_no_default_policy")?,
        num_uses: fields.integer("token_num_uses")?,
        period: fields.duration("token_period")?,
        token_type: fields.string("token_type")?,
        old_bound_cidrs: fields.bounding_list("bound_cidrs")?,
        old_explicit_max_ttl: fields.duration("explicit_max_ttl")?,
        old_period: fields.duration("period")?,
    })
}
