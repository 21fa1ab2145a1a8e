//! The fields of a role: names, types and texts (contract 1.4, 3.2), and the values that reads show (contract 3.5).

use std::collections::BTreeMap;

use gatehouse_auth_method_api::{
    AliasSource, GceRules, IamRules, Role, RoleChanges, RoleRules, RoleType, TokenType,
};
use serde::{Serialize, Serializer};

use crate::vault::field::{Field, boolean, choice, integer, role_name, seconds, text, texts};
use crate::vault::fields::{ConversionError, Fields, fields_of_write};

/// The name of a role, as a part of the path.
pub(in crate::vault) const NAME: Field = role_name("name", "Name of the role.");

/// A list of a role with an endpoint of its own.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) enum List {
    ServiceAccounts,
    Labels,
}

fields_of_write! {
    RoleChanges {
        role_type: string = choice("type", &["iam", "gce"], "What can log in: service accounts or instances. It cannot be changed.").required();
        bound_service_accounts: bounding_list = texts("bound_service_accounts", "Addresses or unique identifiers of the service accounts that may log in; \"*\" for all.");
        service_accounts: bounding_list = texts("service_accounts", "As bound_service_accounts.").deprecated();
        bound_projects: bounding_list = texts("bound_projects", "The projects that accounts and instances must belong to.");
        project_id: bound = text("project_id", "As bound_projects, for one of them.").deprecated();
        add_group_aliases: boolean = boolean("add_group_aliases", "True if a login carries its project and the folders and organization above it as group aliases.");
        max_jwt_exp: duration = seconds("max_jwt_exp", "How far ahead the expiry of a JWT may be on an iam role.");
        allow_gce_inference: boolean = boolean("allow_gce_inference", "True if instances may log in on an iam role by their service account.");
        bound_zones: bounding_list = texts("bound_zones", "The zones in which instances must be.");
        bound_regions: bounding_list = texts("bound_regions", "The regions in which instances must be.");
        bound_instance_groups: bounding_list = texts("bound_instance_groups", "The groups of which instances must be members.");
        bound_labels: labels = texts("bound_labels", "The labels that instances must have, each as key:value.");
        bound_zone: bound = text("bound_zone", "As bound_zones.").deprecated();
        bound_region: bound = text("bound_region", "As bound_regions.").deprecated();
        bound_instance_group: bound = text("bound_instance_group", "As bound_instance_groups.").deprecated();
        token_ttl: duration = seconds("token_ttl", "How long tokens live until they are renewed.");
        token_max_ttl: duration = seconds("token_max_ttl", "How long tokens live at most.");
        token_explicit_max_ttl: duration = seconds("token_explicit_max_ttl", "How long tokens live at most; no renewal or later setting extends it.");
        token_period: duration = seconds("token_period", "How long tokens live from each renewal, without a maximum.");
        token_policies: list = texts("token_policies", "The policies of tokens.");
        token_bound_cidrs: bounding_list = texts("token_bound_cidrs", "The address ranges from which logins and tokens are accepted.");
        token_no_default_policy: boolean = boolean("token_no_default_policy", "True if tokens do not get the policy \"default\".");
        token_num_uses: integer = integer("token_num_uses", "How often a token may be used, 0 for any number.");
        token_type: string = choice("token_type", &["default", "service", "batch"], "The type of tokens.");
        policies: list = texts("policies", "As token_policies.").deprecated();
        ttl: duration = seconds("ttl", "As token_ttl.").deprecated();
        max_ttl: duration = seconds("max_ttl", "As token_max_ttl.").deprecated();
        period: duration = seconds("period", "As token_period.").deprecated();
        bound_folders: bounding_list = texts("bound_folders", "The folders, one of which must hold the project.");
        bound_organizations: bounding_list = texts("bound_organizations", "The organizations, one of which must hold the project.");
        bound_audiences: bounding_list = texts("bound_audiences", "Audiences that a JWT may have in addition to the one of the role.");
        alias_source: string = text("alias_source", "How logins under this role are named in identity, in place of what the method's configuration says.");
        refuse_replay: boolean = boolean("refuse_replay", "True if a JWT logs in only once.");
        live_checks: boolean = boolean("live_checks", "True if Google is asked at each login.");
        max_instance_age: duration = seconds("max_instance_age", "How old an instance may be when it logs in.");
    }
    without_effect {}
}

/// A value that reads show.
#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Flag(bool),
    Number(u64),
    Text(&'a str),
    Texts(&'a [String]),
    Labels(BTreeMap<&'a str, &'a str>),
}

/// A member of the answer to a read: its name, and its value, which is `None` for roles that are shown without it.
type Member = (&'static str, fn(&Role) -> Option<Value<'_>>);

/// The fields that reads show, in this order. Fields that the reference does not have are shown only if they are set.
#[rustfmt::skip]
const MEMBERS: &[Member] = &[
    ("add_group_aliases", |role| Some(Value::Flag(role.add_group_aliases))),
    ("alias_source", |role| role.options.alias.map(|alias| Value::Text(alias_source(alias, role)))),
    ("bound_audiences", |role| some_texts(&role.options.bound_audiences)),
    ("bound_folders", |role| some_texts(&role.options.bound_folders)),
    ("bound_organizations", |role| some_texts(&role.options.bound_organizations)),
    ("bound_projects", |role| some_texts(&role.bound_projects)),
    ("bound_service_accounts", |role| some_texts(&role.bound_service_accounts)),
    ("live_checks", |role| role.options.trust_claims.then_some(Value::Flag(false))),
    ("max_ttl", |role| some_number(role.legacy.maximum_ttl?)),
    ("period", |role| some_number(role.legacy.period?)),
    ("policies", |role| some_texts(role.legacy.policies.as_ref()?)),
    ("refuse_replay", |role| role.options.refuse_replay.then_some(Value::Flag(true))),
    ("role_id", |role| Some(Value::Text(&role.role_id))),
    ("token_bound_cidrs", |role| Some(Value::Texts(&role.token.bound_cidrs))),
    ("token_explicit_max_ttl", |role| Some(Value::Number(role.token.explicit_maximum_ttl))),
    ("token_max_ttl", |role| Some(Value::Number(role.token.maximum_ttl))),
    ("token_no_default_policy", |role| Some(Value::Flag(role.token.no_default_policy))),
    ("token_num_uses", |role| Some(Value::Number(role.token.number_of_uses))),
    ("token_period", |role| Some(Value::Number(role.token.period))),
    ("token_policies", |role| Some(Value::Texts(&role.token.policies))),
    ("token_ttl", |role| Some(Value::Number(role.token.ttl))),
    ("token_type", |role| Some(Value::Text(token_type(role.token.token_type)))),
    ("ttl", |role| some_number(role.legacy.ttl?)),
    ("type", |role| Some(Value::Text(role_type(role)))),
    ("allow_gce_inference", |role| Some(Value::Flag(iam(role)?.allow_gce_inference))),
    ("max_jwt_exp", |role| Some(Value::Number(iam(role)?.maximum_jwt_lifetime))),
    ("bound_instance_groups", |role| some_texts(&gce(role)?.bound_instance_groups)),
    ("bound_labels", |role| some_labels(&gce(role)?.bound_labels)),
    ("bound_regions", |role| some_texts(&gce(role)?.bound_regions)),
    ("bound_zones", |role| some_texts(&gce(role)?.bound_zones)),
    ("max_instance_age", |role| some_number(gce(role)?.maximum_instance_age)),
];

/// A role as reads show it.
pub(super) struct RoleDescription<'a>(pub(super) &'a Role);

impl Serialize for RoleDescription<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = MEMBERS.iter();
        serializer.collect_map(members.filter_map(|(name, value)| Some((name, value(self.0)?))))
    }
}

/// A list, shown unless it is empty.
fn some_texts(texts: &[String]) -> Option<Value<'_>> {
    (!texts.is_empty()).then_some(Value::Texts(texts))
}

/// A number, shown unless it is 0.
fn some_number(number: u64) -> Option<Value<'static>> {
    (number > 0).then_some(Value::Number(number))
}

/// Labels, shown unless there are none.
fn some_labels(labels: &[(String, String)]) -> Option<Value<'_>> {
    let pairs = labels
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    (!labels.is_empty()).then(|| Value::Labels(pairs.collect()))
}

const fn iam(role: &Role) -> Option<&IamRules> {
    match &role.rules {
        RoleRules::Iam(rules) => Some(rules),
        RoleRules::Gce(_) => None,
    }
}

const fn gce(role: &Role) -> Option<&GceRules> {
    match &role.rules {
        RoleRules::Gce(rules) => Some(rules),
        RoleRules::Iam(_) => None,
    }
}

const fn role_type(role: &Role) -> &'static str {
    match role.rules.role_type() {
        RoleType::Iam => "iam",
        RoleType::Gce => "gce",
    }
}

const fn alias_source(alias: AliasSource, role: &Role) -> &'static str {
    match (alias, role.rules.role_type()) {
        (AliasSource::RoleId, _) => "role_id",
        (AliasSource::Caller, RoleType::Iam) => "unique_id",
        (AliasSource::Caller, RoleType::Gce) => "instance_id",
    }
}

const fn token_type(of: TokenType) -> &'static str {
    match of {
        TokenType::Default => "default",
        TokenType::Service => "service",
        TokenType::Batch => "batch",
    }
}
