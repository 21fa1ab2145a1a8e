//! `role` and `role/<name>`: names and types of their fields (contract 3).

mod text;

use gatehouse_access::{Operation, WritePermission};
use gatehouse_auth_method::{
    AuthMethod, Mount, Precondition, Role, RoleChanges, RoleRules, TokenType,
};
use serde::Serialize;

use crate::json::Duplicates;
use crate::vault::call::{Answer, Call, replaced_field};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;
use crate::vault::fields::{ConversionError, Fields};

const FIELDS: [&str; 29] = [
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
];

const MAXIMUM_NAME_BYTES: usize = 128;

#[derive(Serialize)]
struct Keys {
    keys: Vec<String>,
}

#[derive(Serialize)]
struct Shown<'a> {
    add_group_aliases: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_gce_inference: Option<bool>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_projects: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_service_accounts: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_jwt_exp: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<&'a [String]>,
    role_id: &'a str,
    token_bound_cidrs: &'a [String],
    token_explicit_max_ttl: u64,
    token_max_ttl: u64,
    token_no_default_policy: bool,
    token_num_uses: u64,
    token_period: u64,
    token_policies: &'a [String],
    token_ttl: u64,
    token_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<u64>,
    #[serde(rename = "type")]
    role_type: String,
}

/// Answers a list of `role` or `roles`.
pub(super) fn names(auth_method: &impl AuthMethod, mount: &Mount) -> Answer {
    let keys = auth_method.list_roles(mount)?;
    if keys.is_empty() {
        return Err(Fault::absent());
    }
    Reply::data(&Keys { keys }).map(Some)
}

/// Whether the path of a role may end in this name (contract 3.1): up to 128 word characters, and between the first and the last
/// of them also dots and hyphens.
pub(super) fn routes(name: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_inner = |character: char| is_word(character) || matches!(character, '.' | '-');
    name.len() <= MAXIMUM_NAME_BYTES
        && name.starts_with(is_word)
        && name.ends_with(is_word)
        && name.chars().all(is_inner)
}

/// Answers a request for `role/<name>`.
pub(super) fn handle(
    auth_method: &impl AuthMethod,
    call: &Call<'_>,
    mount: &Mount,
    name: &str,
) -> Answer {
    match call.operation {
        Operation::Read => match auth_method.read_role(mount, name)? {
            Some(role) => shown(&role).map(Some),
            None => Err(Fault::absent()),
        },
        Operation::CreateOrUpdate => write(auth_method, call, mount, name).map(Some),
        Operation::Delete => {
            auth_method.delete_role(mount, name)?;
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

fn write(
    auth_method: &impl AuthMethod,
    call: &Call<'_>,
    mount: &Mount,
    name: &str,
) -> Result<Reply, Fault> {
    // What policies allow and what is there decide together, and only the store can decide in one step.
    let precondition = match call.admission.write {
        WritePermission {
            create: true,
            update: true,
        } => Precondition::Any,
        WritePermission { create: true, .. } => Precondition::MustBeNew,
        WritePermission { update: true, .. } => Precondition::MustExist,
        WritePermission { .. } => return Err(Fault::denied()),
    };
    let fields = call.fields_among(&FIELDS, Duplicates::LastWins)?;
    let changes = changes(&fields)?;
    let written = auth_method
        .write_role(mount, name, changes, precondition)
        .map_err(text::fault)?;
    let warnings = written.warnings.iter().map(text::warning);
    Ok(Reply::empty()
        .warned(warnings)
        .warned(replaced_field(&fields, "name")))
}

fn changes(fields: &Fields<'_>) -> Result<RoleChanges, ConversionError> {
    Ok(RoleChanges {
        role_type: fields.string("type")?,
        bound_service_accounts: fields.list("bound_service_accounts")?,
        service_accounts: fields.list("service_accounts")?,
        bound_projects: fields.list("bound_projects")?,
        project_id: fields.string("project_id")?,
        add_group_aliases: fields.boolean("add_group_aliases")?,
        max_jwt_exp: fields.duration("max_jwt_exp")?,
        allow_gce_inference: fields.boolean("allow_gce_inference")?,
        bound_zones: fields.list("bound_zones")?,
        bound_regions: fields.list("bound_regions")?,
        bound_instance_groups: fields.list("bound_instance_groups")?,
        bound_labels: fields.labels("bound_labels")?,
        bound_zone: fields.string("bound_zone")?,
        bound_region: fields.string("bound_region")?,
        bound_instance_group: fields.string("bound_instance_group")?,
        token_ttl: fields.duration("token_ttl")?,
        token_max_ttl: fields.duration("token_max_ttl")?,
        token_explicit_max_ttl: fields.duration("token_explicit_max_ttl")?,
        token_period: fields.duration("token_period")?,
        token_policies: fields.list("token_policies")?,
        token_bound_cidrs: fields.list("token_bound_cidrs")?,
        token_no_default_policy: fields.boolean("token_no_default_policy")?,
        token_num_uses: fields.integer("token_num_uses")?,
        token_type: fields.string("token_type")?,
        policies: fields.list("policies")?,
        ttl: fields.duration("ttl")?,
        max_ttl: fields.duration("max_ttl")?,
        period: fields.duration("period")?,
    })
}

fn shown(role: &Role) -> Result<Reply, Fault> {
    let RoleRules::Iam {
        maximum_jwt_lifetime,
        allow_gce_inference,
    } = role.rules;
    let token = &role.token;
    Reply::data(&Shown {
        add_group_aliases: role.add_group_aliases,
        allow_gce_inference: Some(allow_gce_inference),
        bound_projects: &role.bound_projects,
        bound_service_accounts: &role.bound_service_accounts,
        max_jwt_exp: Some(maximum_jwt_lifetime),
        max_ttl: role.legacy.maximum_ttl,
        period: role.legacy.period,
        policies: role.legacy.policies.as_deref(),
        role_id: &role.role_id,
        token_bound_cidrs: &token.bound_cidrs,
        token_explicit_max_ttl: token.explicit_maximum_ttl,
        token_max_ttl: token.maximum_ttl,
        token_no_default_policy: token.no_default_policy,
        token_num_uses: token.number_of_uses,
        token_period: token.period,
        token_policies: &token.policies,
        token_ttl: token.ttl,
        token_type: match token.token_type {
            TokenType::Default => "default",
            TokenType::Service => "service",
            TokenType::Batch => "batch",
        },
        ttl: role.legacy.ttl,
        role_type: role.rules.role_type().to_string(),
    })
}
