//! Deliberate differences from the reference (contract 11), as callers see them.

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, identity};

#[test]
fn d13_unset_aliases_and_lifetimes_are_shown_with_their_defaults() {
    let server = Server::with_method();
    let config = server.get("auth/gcp/config").expect(200).data();
    for (name, value) in [
        ("iam_alias", json!("role_id")),
        ("gce_alias", json!("role_id")),
        ("identity_token_ttl", json!(3600)),
    ] {
        assert_eq!(config[name], value);
    }
}

#[test]
fn d23_deleting_a_configuration_is_answered_with_204() {
    let server = Server::with_method();
    for _ in 0..2 {
        server.delete("auth/gcp/config").expect(204);
    }
}

#[test]
fn d26_the_list_of_policies_is_there_when_it_is_empty() {
    let server = Server::with_role();
    let mut caller = identity();
    caller.token.policies = Vec::new();
    caller.token.no_default_policy = true;
    server.script.login.is(Ok(caller));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let answer = server.send(Method::Put, "auth/gcp/login", None, body);
    let auth = answer.expect(200).json()["auth"].clone();
    assert_eq!(auth["token_policies"], json!([]));
    assert_eq!(auth["num_uses"], json!(0));
}

#[test]
fn d20_null_is_absent_in_every_field_of_a_gce_role() {
    let server = Server::with_method();
    let role = r#"{"type":"gce","bound_projects":"p1","bound_zones":"z","bound_instance_groups":"g","bound_labels":"a:b","token_ttl":60}"#;
    server.post("auth/gcp/role/vm", role).expect(200);
    let before = server.get("auth/gcp/role/vm").data();
    for field in [
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
    ] {
        let body = json!({ field: null }).to_string();
        server.post("auth/gcp/role/vm", &body).expect(200);
        assert_eq!(server.get("auth/gcp/role/vm").data(), before, "{field}");
    }
}
