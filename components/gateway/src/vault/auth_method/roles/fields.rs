//! The fields of a role: names and types (contract 1.4, 3.2).

use gatehouse_auth_method_api::RoleChanges;

use crate::vault::fields::{ConversionError, Fields};

/// All that a write may say.
pub(in crate::vault) const NAMES: [&str; 36] = [
    "name",
    "type",
    "bound_service_accounts",
    "service_accounts",
    "bound_projects",
    "project_id",
    "add_group_aliases",
    "max_jwt_exp",
    "allow_gce_inference",
    "bound_zones",
    "bound_zone",
    "bound_regions",
    "bound_region",
    "bound_instance_groups",
    "bound_instance_group",
    "bound_labels",
    "token_ttl",
    "ttl",
    "token_max_ttl",
    "max_ttl",
    "token_explicit_max_ttl",
    "token_period",
    "period",
    "token_policies",
    "policies",
    "token_bound_cidrs",
    "token_no_default_policy",
    "token_num_uses",
    "token_type",
    "bound_folders",
    "bound_organizations",
    "bound_audiences",
    "alias_source",
    "refuse_replay",
    "live_checks",
    "max_instance_age",
];

/// What a write says.
///
/// # Errors
///
/// When a field has a value that its type does not take.
pub(super) fn changes(fields: &Fields<'_>) -> Result<RoleChanges, ConversionError> {
    Ok(RoleChanges {
        role_type: fields.string("type")?,
        bound_service_accounts: fields.bounding_list("bound_service_accounts")?,
        service_accounts: fields.bounding_list("service_accounts")?,
        bound_projects: fields.bounding_list("bound_projects")?,
        project_id: fields.bound("project_id")?,
        add_group_aliases: fields.boolean("add_group_aliases")?,
        max_jwt_exp: fields.duration("max_jwt_exp")?,
        allow_gce_inference: fields.boolean("allow_gce_inference")?,
        bound_zones: fields.bounding_list("bound_zones")?,
        bound_regions: fields.bounding_list("bound_regions")?,
        bound_instance_groups: fields.bounding_list("bound_instance_groups")?,
        bound_labels: fields.labels("bound_labels")?,
        bound_zone: fields.bound("bound_zone")?,
        bound_region: fields.bound("bound_region")?,
        bound_instance_group: fields.bound("bound_instance_group")?,
        token_ttl: fields.duration("token_ttl")?,
        token_max_ttl: fields.duration("token_max_ttl")?,
        token_explicit_max_ttl: fields.duration("token_explicit_max_ttl")?,
        token_period: fields.duration("token_period")?,
        token_policies: fields.list("token_policies")?,
        token_bound_cidrs: fields.bounding_list("token_bound_cidrs")?,
        token_no_default_policy: fields.boolean("token_no_default_policy")?,
        token_num_uses: fields.integer("token_num_uses")?,
        token_type: fields.string("token_type")?,
        policies: fields.list("policies")?,
        ttl: fields.duration("ttl")?,
        max_ttl: fields.duration("max_ttl")?,
        period: fields.duration("period")?,
        bound_folders: fields.bounding_list("bound_folders")?,
        bound_organizations: fields.bounding_list("bound_organizations")?,
        bound_audiences: fields.bounding_list("bound_audiences")?,
        alias_source: fields.string("alias_source")?,
        refuse_replay: fields.boolean("refuse_replay")?,
        live_checks: fields.boolean("live_checks")?,
        max_instance_age: fields.duration("max_instance_age")?,
    })
}
