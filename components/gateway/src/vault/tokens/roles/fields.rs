//! The fields of a role: names, types and texts (contract 1.4).

use gatehouse_access_api::TokenRoleChanges;

use crate::vault::field::{Field, boolean, choice, integer, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields, fields_of_write};

fields_of_write! {
    TokenRoleChanges {
        allowed_policies: bounding_list = texts("allowed_policies", "The policies that tokens may have.");
        allowed_policies_glob: bounding_list = texts("allowed_policies_glob", "Patterns of the policies that tokens may have.");
        disallowed_policies: bounding_list = texts("disallowed_policies", "The policies that no token has.");
        disallowed_policies_glob: bounding_list = texts("disallowed_policies_glob", "Patterns of the policies that no token has.");
        allowed_entity_aliases: list = texts("allowed_entity_aliases", "The aliases that may be asked for.");
        orphan: boolean = boolean("orphan", "True if tokens have no parent.");
        renewable: boolean = boolean("renewable", "True if tokens can be renewed.");
        path_suffix: string = text("path_suffix", "What the path of tokens ends in, for revocation by prefix.");
        bound_cidrs: bounding_list = texts("token_bound_cidrs", "The address ranges from which tokens are accepted.");
        explicit_max_ttl: duration = seconds("token_explicit_max_ttl", "How long tokens live at most; no renewal or later setting extends it.");
        no_default_policy: boolean = boolean("token_no_default_policy", "True if tokens do not get the policy \"default\".");
        num_uses: integer = integer("token_num_uses", "How often a token may be used, 0 for any number.");
        period: duration = seconds("token_period", "How long tokens live from each renewal, without a maximum.");
        token_type: string = choice("token_type", &["default-service", "default-batch", "service", "batch"], "The type of tokens.");
        old_bound_cidrs: bounding_list = texts("bound_cidrs", "As token_bound_cidrs.").deprecated();
        old_explicit_max_ttl: duration = seconds("explicit_max_ttl", "As token_explicit_max_ttl.").deprecated();
        old_period: duration = seconds("period", "As token_period.").deprecated();
    }
    without_effect {}
}
