//! The fields of a role: names and types (contract 1.4, 3.2).

use gatehouse_auth_method_api::RoleChanges;

use crate::vault::field::{Field, boolean, choice, integer, role_name, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields};

/// The name of a role, which stands in the path.
pub(in crate::vault) const NAME: Field = role_name("name", "Name of the role.");

/// All that a write may say, beside the name.
pub(in crate::vault) const ROLE: &[Field] = &[
    choice(
        "type",
        &["iam", "gce"],
        "Who logs in: service accounts or instances. It stays as it was made.",
    )
    .required(),
    texts(
        "bound_service_accounts",
        "Addresses or unique identifiers of the service accounts that may log in; \"*\" for all.",
    ),
    texts("service_accounts", "As bound_service_accounts.").deprecated(),
    texts(
        "bound_projects",
        "The projects of which accounts and instances must be.",
    ),
    text("project_id", "As bound_projects, for one of them.").deprecated(),
    boolean(
        "add_group_aliases",
        "Whether a login carries the projects, folders and organizations above it as group aliases.",
    ),
    seconds(
        "max_jwt_exp",
        "How far ahead the expiry of a JWT may be on an iam role.",
    ),
    boolean(
        "allow_gce_inference",
        "Whether instances may log in on an iam role by their service account.",
    ),
    texts("bound_zones", "The zones in which instances must be."),
    text("bound_zone", "As bound_zones.").deprecated(),
    texts("bound_regions", "The regions in which instances must be."),
    text("bound_region", "As bound_regions.").deprecated(),
    texts(
        "bound_instance_groups",
        "The groups of which instances must be members.",
    ),
    text("bound_instance_group", "As bound_instance_groups.").deprecated(),
    texts(
        "bound_labels",
        "The labels that instances must have, each as key:value.",
    ),
    seconds("token_ttl", "How long tokens live until they are renewed."),
    seconds("ttl", "As token_ttl.").deprecated(),
    seconds("token_max_ttl", "How long tokens live at most."),
    seconds("max_ttl", "As token_max_ttl.").deprecated(),
    seconds(
        "token_explicit_max_ttl",
        "How long tokens live at most, whatever is changed later.",
    ),
    seconds(
        "token_period",
        "How long tokens live from each renewal, without an end.",
    ),
    seconds("period", "As token_period.").deprecated(),
    texts("token_policies", "The policies of tokens."),
    texts("policies", "As token_policies.").deprecated(),
    texts(
        "token_bound_cidrs",
        "The address ranges from which logins and tokens are accepted.",
    ),
    boolean(
        "token_no_default_policy",
        "Whether tokens go without the policy \"default\".",
    ),
    integer(
        "token_num_uses",
        "How often a token may be used, 0 for any number.",
    ),
    choice(
        "token_type",
        &[
            "default",
            "default-service",
            "default-batch",
            "service",
            "batch",
        ],
        "The type of tokens.",
    ),
    texts(
        "bound_folders",
        "The folders, one of which must hold the project.",
    ),
    texts(
        "bound_organizations",
        "The organizations, one of which must hold the project.",
    ),
    texts(
        "bound_audiences",
        "Audiences that a JWT may have beside the one of the role.",
    ),
    text(
        "alias_source",
        "What logins under this role are known by, other than the method's configuration says.",
    ),
    boolean("refuse_replay", "Whether a JWT logs in only once."),
    boolean("live_checks", "Whether Google is asked at each login."),
    seconds(
        "max_instance_age",
        "How old an instance may be when it logs in.",
    ),
];

/// What a write says.
///
/// # Errors
///
/// When a field has a value that its type does not take.
pub(in crate::vault) fn changes(fields: &Fields<'_>) -> Result<RoleChanges, ConversionError> {
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
