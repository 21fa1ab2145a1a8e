//! The fields of a role: names and types (contract 1.4).

use gatehouse_access_api::TokenRoleChanges;

use crate::vault::field::{Field, boolean, choice, integer, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields};

/// All that a write may say, beside the name.
pub(in crate::vault) const ROLE: &[Field] = &[
    texts("allowed_policies", "The policies that tokens may have."),
    texts(
        "allowed_policies_glob",
        "Patterns of the policies that tokens may have.",
    ),
    texts("disallowed_policies", "The policies that no token has."),
    texts(
        "disallowed_policies_glob",
        "Patterns of the policies that no token has.",
    ),
    texts(
        "allowed_entity_aliases",
        "The aliases that may be asked for.",
    ),
    boolean("orphan", "Whether tokens have no parent."),
    boolean("renewable", "Whether tokens can be renewed."),
    text(
        "path_suffix",
        "What the path of tokens ends in, for revocation by prefix.",
    ),
    texts(
        "token_bound_cidrs",
        "The address ranges from which tokens are accepted.",
    ),
    texts("bound_cidrs", "As token_bound_cidrs.").deprecated(),
    seconds(
        "token_explicit_max_ttl",
        "How long tokens live at most, whatever is changed later.",
    ),
    seconds("explicit_max_ttl", "As token_explicit_max_ttl.").deprecated(),
    boolean(
        "token_no_default_policy",
        "Whether tokens go without the policy \"default\".",
    ),
    integer(
        "token_num_uses",
        "How often a token may be used, 0 for any number.",
    ),
    seconds(
        "token_period",
        "How long tokens live from each renewal, without an end.",
    ),
    seconds("period", "As token_period.").deprecated(),
    choice(
        "token_type",
        &["default-service", "default-batch", "service", "batch"],
        "The type of tokens.",
    ),
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
