//! A role as reads show it (contract 3.5). What goes beyond the reference is shown only where it was set.

use std::collections::BTreeMap;

use gatehouse_auth_method_api::{
    AliasSource, GceRules, IamRules, Role, RoleRules, RoleType, TokenType,
};
use serde::Serialize;

use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;

#[derive(Serialize)]
struct Shown<'a> {
    add_group_aliases: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias_source: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_audiences: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_folders: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_organizations: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_projects: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    bound_service_accounts: &'a [String],
    #[serde(skip_serializing_if = "is_on")]
    live_checks: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<&'a [String]>,
    #[serde(skip_serializing_if = "is_off")]
    refuse_replay: bool,
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
    #[serde(flatten)]
    rules: Rules<'a>,
}

/// The members that only one kind of role has.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Rules<'a> {
    Iam {
        allow_gce_inference: bool,
        max_jwt_exp: u64,
    },
    Gce {
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        bound_instance_groups: &'a [String],
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        bound_labels: BTreeMap<&'a str, &'a str>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        bound_regions: &'a [String],
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        bound_zones: &'a [String],
        #[serde(skip_serializing_if = "is_zero")]
        max_instance_age: u64,
    },
}

const fn is_on(flag: &bool) -> bool {
    *flag
}

const fn is_off(flag: &bool) -> bool {
    !*flag
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The answer to a read.
///
/// # Errors
///
/// Only when the role cannot be written as JSON, which is a bug.
pub(super) fn reply(role: &Role) -> Result<Reply, ApiError> {
    let token = &role.token;
    Reply::data(&Shown {
        add_group_aliases: role.add_group_aliases,
        alias_source: role.alias.map(|alias| alias_source(alias, role)),
        bound_audiences: &role.bound_audiences,
        bound_folders: &role.bound_folders,
        bound_organizations: &role.bound_organizations,
        bound_projects: &role.bound_projects,
        bound_service_accounts: &role.bound_service_accounts,
        live_checks: !role.trust_claims,
        max_ttl: nonzero(role.legacy.maximum_ttl),
        period: nonzero(role.legacy.period),
        policies: role
            .legacy
            .policies
            .as_deref()
            .filter(|policies| !policies.is_empty()),
        refuse_replay: role.refuse_replay,
        role_id: &role.role_id,
        rules: rules(&role.rules),
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
        ttl: nonzero(role.legacy.ttl),
    })
}

/// A duration by an old name, which is not shown once it was emptied.
fn nonzero(seconds: Option<u64>) -> Option<u64> {
    seconds.filter(|seconds| *seconds > 0)
}

const fn alias_source(alias: AliasSource, role: &Role) -> &'static str {
    match (alias, role.rules.role_type()) {
        (AliasSource::RoleId, _) => "role_id",
        (AliasSource::Caller, RoleType::Iam) => "unique_id",
        (AliasSource::Caller, RoleType::Gce) => "instance_id",
    }
}

fn rules(rules: &RoleRules) -> Rules<'_> {
    match rules {
        RoleRules::Iam(IamRules {
            maximum_jwt_lifetime,
            allow_gce_inference,
        }) => Rules::Iam {
            allow_gce_inference: *allow_gce_inference,
            max_jwt_exp: *maximum_jwt_lifetime,
        },
        RoleRules::Gce(GceRules {
            bound_zones,
            bound_regions,
            bound_instance_groups,
            bound_labels,
            maximum_instance_age,
        }) => Rules::Gce {
            bound_instance_groups,
            bound_labels: bound_labels
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect(),
            bound_regions,
            bound_zones,
            max_instance_age: *maximum_instance_age,
        },
    }
}
