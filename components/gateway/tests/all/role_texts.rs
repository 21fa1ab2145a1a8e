//! Every refusal of a role and every warning about one, with status and text (contract 3.2, 3.3).

use gatehouse_auth_method::{
    AboveBound, DeprecatedField, FieldsOfOtherType, RoleBound, RoleError, RoleType, RoleWarning,
    RoleWritten, SentTwice,
};
use gatehouse_ports::StoreError;

use super::rows::{rows, texts};
use super::server::{Server, listed};

const BODY: &str = r#"{"type":"gce"}"#;

fn refused(error: RoleError, status: u16, text: &str) {
    let server = Server::with_method();
    let before = server.commits();
    server.script.role_write.is(Err(error));
    server.post("auth/gcp/role/r", BODY).refused(status, text);
    assert_eq!(server.commits(), before);
}

rows! { refused:
    name_invalid: RoleError::InvalidName => 404 &listed("unsupported path");
    create_without_the_right_to_update: RoleError::Exists => 403 &listed("permission denied");
    update_without_the_right_to_create: RoleError::DoesNotExist => 403 &listed("permission denied");
    token_bound_cidrs_unreadable: RoleError::BoundCidr("x".to_owned()) => 400 "error parsing address \"x\": it is neither an IP address nor a CIDR";
    token_num_uses_negative: RoleError::NegativeNumberOfUses => 400 "'token_num_uses' cannot be negative";
    token_type_unknown: RoleError::TokenType("x".to_owned()) => 400 "invalid 'token_type' value \"x\"";
    token_type_batch_with_period: RoleError::PeriodicBatch => 400 "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens";
    token_type_batch_with_uses: RoleError::LimitedUseBatch => 400 "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count";
    token_max_ttl_below_token_ttl: RoleError::TtlAboveMaximumTtl => 400 "'token_ttl' cannot be greater than 'token_max_ttl'";
    token_period_above_the_mount: RoleError::PeriodAboveMountMaximum(AboveBound { given: 360_000, bound: 2_764_800 }) => 400 "'period' of '100h0m0s' is greater than the backend's maximum lease TTL of '768h0m0s'";
    type_missing: RoleError::TypeMissing => 400 "role type cannot be empty";
    type_unknown: RoleError::TypeInvalid("x".to_owned()) => 400 "role type 'x' is invalid";
    type_changed: RoleError::TypeChanged => 400 "role type cannot be changed for an existing role";
    d8_wildcard_with_others: RoleError::WildcardWithOthers => 400 "cannot provide IAM service account wildcard '*' (for all service accounts) with other service accounts";
    projects_under_both_names: RoleError::ProjectsTwice => 400 "only one of 'bound_projects' or 'project_id' can be given";
    fields_of_iam_on_gce: RoleError::FieldsOfOtherType(FieldsOfOtherType { role_type: RoleType::Gce, fields: vec!["allow_gce_inference".into(), "max_jwt_exp".into()] }) => 400 "invalid args found for role of type gce: allow_gce_inference,max_jwt_exp";
    max_jwt_exp_above_an_hour: RoleError::JwtLifetimeTooLong => 400 "max_jwt_exp cannot be more than 60 minutes";
    iam_without_service_accounts: RoleError::NoServiceAccounts => 400 "IAM role type must have at least one service account";
    groups_without_location: RoleError::GroupsWithoutLocation => 400 "region or zone information must be specified if an instance group is given";
    labels_invalid: RoleError::InvalidLabels(texts(&["bad", "Worse:x"])) => 400 "invalid labels given: [\"bad\" \"Worse:x\"]";
    zones_under_both_names: RoleError::SentTwice(SentTwice { old: "bound_zone".into(), new: "bound_zones".into() }) => 400 "cannot specify both \"bound_zone\" and \"bound_zones\"";
    regions_under_both_names: RoleError::SentTwice(SentTwice { old: "bound_region".into(), new: "bound_regions".into() }) => 400 "cannot specify both \"bound_region\" and \"bound_regions\"";
    groups_under_both_names: RoleError::SentTwice(SentTwice { old: "bound_instance_group".into(), new: "bound_instance_groups".into() }) => 400 "cannot specify both \"bound_instance_group\" and \"bound_instance_groups\"";
    alias_source_of_iam: RoleError::AliasSource(RoleType::Iam) => 400 "invalid 'alias_source': must be one of: role_id, unique_id";
    alias_source_of_gce: RoleError::AliasSource(RoleType::Gce) => 400 "invalid 'alias_source': must be one of: instance_id, role_id";
    ancestor_not_a_number: RoleError::AncestorNumber("x".to_owned()) => 400 "\"x\" is not the number of a folder or an organization";
    live_checks_off_with_bounds_that_need_them: RoleError::NeedsLiveChecks(vec!["bound_folders".into(), "bound_labels".into()]) => 400 "cannot be checked while 'live_checks' is off: bound_folders,bound_labels";
    blank_list: RoleError::BlankList("bound_projects".into()) => 400 "'bound_projects' holds only blanks: give it without entries if it is to bind nothing";
    too_many: RoleError::TooMany(RoleBound { field: "bound_service_accounts".into(), maximum: 10_000 }) => 400 "'bound_service_accounts' cannot have more than 10000 entries";
    too_long: RoleError::TooLong(RoleBound { field: "bound_zones".into(), maximum: 512 }) => 400 "an entry of 'bound_zones' cannot be longer than 512 bytes";
    too_large: RoleError::TooLarge => 400 "the role is too large to be stored";
    no_randomness: RoleError::Random => 500 &listed("internal error");
    sealed: RoleError::Storage(StoreError::Sealed.into()) => 503 "Vault is sealed";
}

/// Asserts the answer to a write that causes `warning`.
fn warned(warning: RoleWarning, status: u16, text: &str) {
    let server = Server::with_method();
    server.script.role_write.is(Ok(RoleWritten {
        created: true,
        warnings: vec![warning.clone()],
    }));
    let answer = server.post("auth/gcp/role/r", BODY).expect(status);
    assert_eq!(answer.warnings(), [text]);
    assert_eq!(answer.data(), serde_json::Value::Null);
    server.script.edit.is(Ok(vec![warning]));
    let answer = server.post("auth/gcp/role/r/labels", r#"{"add":"a:b"}"#);
    assert_eq!(answer.expect(status).warnings(), [text]);
}

fn deprecated(used: &'static str, instead: &'static str) -> RoleWarning {
    RoleWarning::DeprecatedField(DeprecatedField {
        used: used.into(),
        instead: instead.into(),
    })
}

rows! { warned:
    warns_of_project_id: deprecated("project_id", "bound_projects") => 200 "The \"project_id\" (singular) field is deprecated. Use \"bound_projects\" instead.";
    warns_of_service_accounts: deprecated("service_accounts", "bound_service_accounts") => 200 "The \"service_accounts\" field is deprecated. Use \"bound_service_accounts\" instead.";
    warns_of_bound_zone: deprecated("bound_zone", "bound_zones") => 200 "The \"bound_zone\" field is deprecated. Use \"bound_zones\" instead.";
    warns_of_ttl_above_the_maximum: RoleWarning::TtlAboveMountMaximum(AboveBound { given: 7200, bound: 3600 }) => 200 "Given token ttl of \"2h0m0s\" is greater than the maximum system/mount TTL of \"1h0m0s\". The TTL will be capped at \"1h0m0s\" during login.";
    warns_of_max_ttl_above_the_maximum: RoleWarning::MaximumTtlAboveMountMaximum(AboveBound { given: 7200, bound: 3600 }) => 200 "Given token max ttl of \"2h0m0s\" is greater than the maximum system/mount TTL of \"1h0m0s\". The TTL will be capped at \"1h0m0s\" during login.";
    warns_of_period_above_the_maximum: RoleWarning::PeriodAboveMountMaximum(AboveBound { given: 7200, bound: 3600 }) => 200 "Given token period of \"2h0m0s\" is greater than the maximum system/mount TTL of \"1h0m0s\". The TTL will be capped at \"1h0m0s\" during login.";
    warns_of_ttl_above_the_default: RoleWarning::TtlAboveMountDefault(AboveBound { given: 9, bound: 8 }) => 200 "Given ttl of 9 seconds greater than current mount/system default of 8 seconds; ttl will be capped at login time";
    warns_of_max_ttl_above_the_default: RoleWarning::MaximumTtlAboveMountDefault(AboveBound { given: 9, bound: 8 }) => 200 "Given max_ttl of 9 seconds greater than current mount/system default of 8 seconds; max_ttl will be capped at login time";
    warns_of_regions_beside_zones: RoleWarning::RegionsBesideZones => 200 "Given both \"bound_regions\" and \"bound_zones\" fields for role type \"gce\", \"bound_regions\" will be ignored in favor of the more specific \"bound_zones\" field. To mend it, write the role with one of the two empty.";
    warns_of_group_aliases_on_a_shared_entity: RoleWarning::GroupAliasesOnSharedEntity => 200 "\"add_group_aliases\" is on while the alias of this role is \"role_id\": all users of this role share one entity, and with it the groups of the last one that logged in";
    warns_of_any_account_of_any_project: RoleWarning::AnyServiceAccountOfAnyProject => 200 "\"bound_service_accounts\" is \"*\" and \"bound_projects\" is empty: every service account of Google Cloud can log in with this role";
    warns_of_labels_alone: RoleWarning::BoundByLabelsOnly => 200 "\"bound_labels\" alone binds this role: everyone who may edit an instance, in any project, can give it these labels";
    warns_of_trusted_claims: RoleWarning::ClaimsTrusted => 200 "\"live_checks\" is off: an instance that was deleted, or an account that was disabled, can log in until its token expires";
}

#[test]
fn d18_every_warning_is_returned() {
    let server = Server::with_method();
    server.script.role_write.is(Ok(RoleWritten {
        created: true,
        warnings: vec![
            deprecated("bound_zone", "bound_zones"),
            RoleWarning::RegionsBesideZones,
            RoleWarning::BoundByLabelsOnly,
        ],
    }));
    let answer = server.post("auth/gcp/role/r", r#"{"type":"gce","name":"x"}"#);
    assert_eq!(answer.expect(200).warnings().len(), 4);
}
