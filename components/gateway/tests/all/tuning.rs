//! `sys/auth/<path>/tune` and `sys/mounts/auth/<path>/tune` (contract 6.3).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, identity, listed};

const BOTH: [&str; 2] = ["sys/auth/gcp/tune", "sys/mounts/auth/gcp/tune"];

#[test]
fn the_leases_in_force_are_shown_in_data_and_at_the_top() {
    let server = Server::with_method();
    for path in BOTH {
        let tuning = server.get(path).expect(200).json();
        assert_eq!(
            tuning["data"],
            json!({"default_lease_ttl": 2_764_800, "max_lease_ttl": 2_764_800, "force_no_cache": false,
                "token_type": "default-service", "description": ""})
        );
        assert_eq!(tuning["max_lease_ttl"], 2_764_800);
        assert_eq!(tuning["mount_type"], "system");
    }
    assert_eq!(
        server.get("sys/auth").data()["gcp/"]["config"]["max_lease_ttl"],
        0
    );
}

#[test]
fn what_the_command_line_sends_changes_only_what_it_names() {
    let server = Server::with_method();
    let body = r#"{"options":null,"default_lease_ttl":"1h0m0s","max_lease_ttl":"","force_no_cache":false}"#;
    server.post("sys/mounts/auth/gcp/tune", body).expect(204);
    let tuning = server.get("sys/auth/gcp/tune").data();
    assert_eq!(
        (&tuning["default_lease_ttl"], &tuning["max_lease_ttl"]),
        (&json!(3600), &json!(2_764_800))
    );
    let body =
        r#"{"options":null,"default_lease_ttl":"","max_lease_ttl":"2h","description":"ours"}"#;
    server.post("sys/mounts/auth/gcp/tune", body).expect(204);
    let mount = server.get("sys/auth/gcp").data();
    assert_eq!(
        mount["config"],
        json!({"default_lease_ttl": 3600, "max_lease_ttl": 7200, "force_no_cache": false, "token_type": "default-service"})
    );
    assert_eq!(mount["description"], "ours");
}

#[test]
fn every_member_is_stored_shown_and_taken_away_again() {
    let server = Server::with_method();
    let body = r#"{"default_lease_ttl":60,"max_lease_ttl":"120","description":"d","listing_visibility":"unauth","token_type":"batch",
        "audit_non_hmac_request_keys":"role,name","audit_non_hmac_response_keys":["a"],"passthrough_request_headers":["X-A"],
        "allowed_response_headers":"X-B","options":{"k":"v"},"identity_token_key":"default","plugin_version":"",
        "trim_request_trailing_slashes":true,"user_lockout_config":null}"#;
    server.post("sys/auth/gcp/tune", body).expect(204);
    assert_eq!(
        server.get("sys/auth/gcp/tune").data(),
        json!({"default_lease_ttl": 60, "max_lease_ttl": 120, "description": "d", "listing_visibility": "unauth",
            "token_type": "batch", "force_no_cache": false, "options": {"k": "v"}, "identity_token_key": "default",
            "audit_non_hmac_request_keys": ["role", "name"], "audit_non_hmac_response_keys": ["a"],
            "passthrough_request_headers": ["X-A"], "allowed_response_headers": ["X-B"],
            "trim_request_trailing_slashes": true})
    );
    let shown = &server.get("sys/auth/gcp").data()["config"]["identity_token_key"];
    assert_eq!(shown, "default");
    let cleared = r#"{"default_lease_ttl":"system","max_lease_ttl":"system","description":"","listing_visibility":"","token_type":"default-service",
        "audit_non_hmac_request_keys":[],"audit_non_hmac_response_keys":[""],"passthrough_request_headers":"",
        "allowed_response_headers":[],"options":{},"identity_token_key":"",
        "trim_request_trailing_slashes":false}"#;
    server.post("sys/auth/gcp/tune", cleared).expect(204);
    let tuning = server.get("sys/auth/gcp/tune").data();
    assert_eq!(tuning["default_lease_ttl"], 2_764_800);
    assert_eq!(tuning["max_lease_ttl"], 2_764_800);
    for gone in [
        "listing_visibility",
        "audit_non_hmac_request_keys",
        "audit_non_hmac_response_keys",
        "passthrough_request_headers",
        "allowed_response_headers",
        "options",
        "identity_token_key",
        "trim_request_trailing_slashes",
    ] {
        assert_eq!(tuning.get(gone), None, "{gone}");
    }
}

#[test]
fn refusals_have_their_texts_and_store_nothing() {
    let server = Server::with_method();
    server
        .post("sys/auth/gcp/tune", r#"{"default_lease_ttl":"3h"}"#)
        .expect(204);
    let before = server.commits();
    let conflict =
        "backend max lease TTL of 7200 would be less than backend default lease TTL of 10800";
    for (body, text) in [
        (r#"{"max_lease_ttl":"2h"}"#, conflict),
        (
            r#"{"max_lease_ttl":"2h","default_lease_ttl":"3h"}"#,
            conflict,
        ),
        (
            r#"{"token_type":"x","description":"not stored"}"#,
            "invalid value for 'token_type'",
        ),
        (
            r#"{"listing_visibility":"x"}"#,
            "invalid listing_visibility x",
        ),
        (
            r#"{"description":"not stored","user_lockout_config":{"lockout_threshold":5}}"#,
            "tuning of user lockout configuration for auth type \"gcp\" not allowed",
        ),
        (
            r#"{"description":"not stored","identity_token_key":"signer"}"#,
            "identity_token_key: the only key is \"default\"",
        ),
        (
            r#"{"default_lease_ttl":-1}"#,
            "Field validation failed: error converting input for field \"default_lease_ttl\": cannot provide negative value '-1'",
        ),
        (
            r#"{"max_lease_ttl":"-2s"}"#,
            "Field validation failed: error converting input for field \"max_lease_ttl\": cannot provide negative value '-2'",
        ),
    ] {
        server.post("sys/auth/gcp/tune", body).refused(400, text);
    }
    server
        .post("sys/auth/gcp/tune", r#"{"plugin_version":"v9"}"#)
        .expect(400);
    server
        .post("sys/auth/token/tune", r#"{"token_type":"batch"}"#)
        .refused(
            400,
            "'token_type' cannot be set for 'token' or 'ns_token' auth mounts",
        );
    for path in ["sys/auth/a/b/tune", "sys/mounts/auth/a/b/tune"] {
        server
            .get(path)
            .refused(400, "cannot fetch sysview for path \"auth/a/b/\"");
        server.post(path, "{}").refused(
            400,
            "tune of path \"auth/a/b/\" failed: no mount entry found",
        );
        server
            .delete(path)
            .refused(405, &listed("unsupported operation"));
    }
    // A request that changes nothing writes nothing.
    server
        .post("sys/auth/gcp/tune", r#"{"default_lease_ttl":10800}"#)
        .expect(204);
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_5_6_only_the_path_below_auth_needs_sudo() {
    let server = Server::with_method();
    let token = server.token_with(
        r#"path "sys/auth/*" { capabilities = ["read", "update"] }
path "sys/mounts/auth/*" { capabilities = ["read", "update"] }"#,
    );
    let as_operator =
        |method, path| server.send(method, path, Some(&token), r#"{"description":"d"}"#);
    as_operator(Method::Get, "sys/auth/gcp/tune").expect(403);
    as_operator(Method::Put, "sys/auth/gcp/tune").expect(403);
    as_operator(Method::Get, "sys/mounts/auth/gcp/tune").expect(200);
    as_operator(Method::Put, "sys/mounts/auth/gcp/tune").expect(204);
}

#[test]
fn a_nested_mount_is_tuned_and_its_next_login_lives_by_that() {
    let server = Server::with_role();
    server
        .post("sys/auth/a/b/c", r#"{"type":"gcp"}"#)
        .expect(204);
    server
        .post("sys/mounts/auth/a/b/c/tune", r#"{"max_lease_ttl":"30m"}"#)
        .expect(204);
    server.script.login.is(Ok(identity()));
    let login = server.send(
        Method::Put,
        "auth/a/b/c/login",
        None,
        r#"{"role":"dev","jwt":"a.b.c"}"#,
    );
    assert_eq!(login.expect(200).json()["auth"]["lease_duration"], 1800);
    assert_eq!(
        server.get("sys/auth/a/b/c/tune").data()["default_lease_ttl"],
        1800
    );
    assert_eq!(
        server.get("sys/auth/gcp/tune").data()["default_lease_ttl"],
        2_764_800
    );
}

#[test]
fn contract_6_1_a_path_below_a_mount_tunes_the_mount_and_escapes_no_denial() {
    let server = Server::with_method();
    for path in [
        "sys/mounts/auth/gcp/config/tune",
        "sys/auth/gcp/config/tune",
        "sys/mounts/auth/gcp/a/b/tune",
    ] {
        let body = format!(r#"{{"description":"by {path}"}}"#);
        server.post(path, &body).expect(204);
        let tuning = server.get(path).data();
        assert_eq!(tuning["description"], format!("by {path}"));
        assert_eq!(server.get("sys/auth/gcp/tune").data(), tuning);
    }
    let rules = [
        (
            r#"path "sys/mounts/auth/gcp/*" { capabilities = ["read", "update"] }"#,
            200,
            204,
        ),
        (
            r#"path "sys/mounts/auth/*" { capabilities = ["read", "update"] }
            path "sys/mounts/auth/gcp/tune" { capabilities = ["deny"] }"#,
            403,
            403,
        ),
        (
            r#"path "sys/mounts/auth/*" { capabilities = ["read", "update"] }
            path "sys/mounts/auth/gcp/tune" { capabilities = ["read"] }"#,
            200,
            403,
        ),
    ];
    for (rules, read, written) in rules {
        let token = server.token_with(rules);
        let path = "sys/mounts/auth/gcp/config/tune";
        let send = |method, body| server.send(method, path, Some(&token), body);
        send(Method::Get, "").expect(read);
        send(Method::Post, r#"{"description":""}"#).expect(written);
    }
}
