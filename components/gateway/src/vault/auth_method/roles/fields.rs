//! The fields of a role: names, types and texts (contract 1.4, 3.2).

use gatehouse_auth_method_api::RoleChanges;

use crate::vault::field::{Field, boolean, choice, integer, role_name, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields, fields_of_write};

/// The name of a role, which stands in the path.
pub(in crate::vault) const NAME: Field = role_name("name", "Name of the role.");

/// A list of a role that has an endpoint of its own.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) enum List {
    ServiceAccounts,
    Labels,
}

fields_of_write! {
    RoleChanges {
        role_type: string = choice("type", &["iam", "gce"], "Who logs in: service accounts or instances. It stays as it was made.").required();
        bound_service_accounts: bounding_list = texts("bound_service_accounts", "Addresses or unique identifiers of the service accounts that may log in; \"*\" for all.");
        service_accounts: bounding_list = texts("service_accounts", "As bound_service_accounts.").deprecated();
        bound_projects: bounding_list = texts("bound_projects", "The projects of which accounts and instances must be.");
        project_id: bound = text("project_id", "As bound_projects, for one of them.").deprecated();
        add_group_aliases: boolean = boolean("add_group_aliases", "Whether a login carries the projects, folders and organizations above it as group aliases.");
        max_jwt_exp: duration = seconds("max_jwt_exp", "How far ahead the expiry of a JWT may be on an iam role.");
        allow_gce_inference: boolean = boolean("allow_gce_inference", "Whether instances may log in on an iam role by their service account.");
        bound_zones: bounding_list = texts("bound_zones", "The zones in which instances must be.");
        bound_regions: bounding_list = texts("bound_regions", "The regions in which instances must be.");
        bound_instance_groups: bounding_list = texts("bound_instance_groups", "The groups of which instances must be members.");
        bound_labels: labels = texts("bound_labels", "The labels that instances must have, each as key:value.");
        bound_zone: bound = text("bound_zone", "As bound_zones.").deprecated();
        bound_region: bound = text("bound_region", "As bound_regions.").deprecated();
        bound_instance_group: bound = text("bound_instance_group", "As bound_instance_groups.").deprecated();
        token_ttl: duration = seconds("token_ttl", "How long tokens live until they are renewed.");
        token_max_ttl: duration = seconds("token_max_ttl", "How long tokens live at most.");
        token_explicit_max_ttl: duration = seconds("token_explicit_max_ttl", "How long tokens live at most, whatever is changed later.");
        token_period: duration = seconds("token_period", "How long tokens live from each renewal, without an end.");
        token_policies: list = texts("token_policies", "The policies of tokens.");
        token_bound_cidrs: bounding_list = texts("token_bound_cidrs", "The address ranges from which logins and tokens are accepted.");
        token_no_default_policy: boolean = boolean("token_no_default_policy", "Whether tokens go without the policy \"default\".");
        token_num_uses: integer = integer("token_num_uses", "How often a token may be used, 0 for any number.");
        token_type: string = choice("token_type", &["default", "default-service", "default-batch", "service", "batch"], "The type of tokens.");
        policies: list = texts("policies", "As token_policies.").deprecated();
        ttl: duration = seconds("ttl", "As token_ttl.").deprecated();
        max_ttl: duration = seconds("max_ttl", "As token_max_ttl.").deprecated();
        period: duration = seconds("period", "As token_period.").deprecated();
        bound_folders: bounding_list = texts("bound_folders", "The folders, one of which must hold the project.");
        bound_organizations: bounding_list = texts("bound_organizations", "The organizations, one of which must hold the project.");
        bound_audiences: bounding_list = texts("bound_audiences", "Audiences that a JWT may have beside the one of the role.");
        alias_source: string = text("alias_source", "What logins under this role are known by, other than the method's configuration says.");
        refuse_replay: boolean = boolean("refuse_replay", "Whether a JWT logs in only once.");
        live_checks: boolean = boolean("live_checks", "Whether Google is asked at each login.");
        max_instance_age: duration = seconds("max_instance_age", "How old an instance may be when it logs in.");
    }
    without_effect {}
}
