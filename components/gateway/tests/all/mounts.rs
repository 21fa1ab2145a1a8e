//! `sys/auth` (contract 6.3).

use gatehouse_access::{AccessService, Mounts as _};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use gatehouse_ports::doubles::SeededRandom;
use serde_json::json;

use super::server::{Server, identity};

#[test]
fn mounts_are_listed_in_data_and_at_the_top() {
    let server = Server::with_method();
    let listed = server.get("sys/auth").expect(200).json();
    let gcp = &listed["data"]["gcp/"];
    assert_eq!(gcp["type"], "gcp");
    assert_eq!(
        gcp["config"],
        json!({"default_lease_ttl": 0, "force_no_cache": false, "max_lease_ttl": 0, "token_type": "default-service"})
    );
    assert!(gcp["accessor"].as_str().unwrap().starts_with("auth_gcp_"));
    assert_eq!(gcp["uuid"].as_str().unwrap().len(), 36);
    assert_eq!(listed["data"]["token/"]["type"], "token");
    assert_eq!(&listed["gcp/"], gcp);
    let one = server.get("sys/auth/gcp").expect(200).json();
    assert_eq!(&one["data"], gcp);
    assert_eq!(one["accessor"], gcp["accessor"]);
}

#[test]
fn what_clients_send_to_enable_is_understood() {
    let server = Server::initialized();
    let body = r#"{"type":"gcp","description":"d","config":{"options":null,"default_lease_ttl":"1h","max_lease_ttl":"7200s","force_no_cache":true,
        "token_type":"service","listing_visibility":"unauth","audit_non_hmac_request_keys":"role,name","who":"knows"},"local":false,"seal_wrap":true,
        "external_entropy_access":false,"options":null}"#;
    server.post("sys/auth/a/b", body).expect(204);
    let mount = server.get("sys/auth/a/b").data();
    assert_eq!(
        mount["config"],
        json!({"default_lease_ttl": 3600, "force_no_cache": true, "max_lease_ttl": 7200, "token_type": "service",
            "listing_visibility": "unauth", "audit_non_hmac_request_keys": ["role", "name"]})
    );
    assert_eq!(
        (&mount["description"], &mount["seal_wrap"]),
        (&json!("d"), &json!(true))
    );
}

#[test]
fn refusals_have_their_texts_and_store_nothing() {
    let server = Server::with_method();
    let before = server.commits();
    for (path, body, text) in [
        ("x", "{}", "backend type must be specified as a string"),
        (
            "x",
            r#"{"type":"aws"}"#,
            "plugin not found in the catalog: aws",
        ),
        ("gcp", r#"{"type":"gcp"}"#, "path is already in use at gcp/"),
        (
            "gcp/below",
            r#"{"type":"gcp"}"#,
            "path is already in use at gcp/",
        ),
        (
            "token",
            r#"{"type":"gcp"}"#,
            "path is already in use at token/",
        ),
        (
            "x",
            r#"{"type":"gcp","config":{"default_lease_ttl":"2h","max_lease_ttl":"1h"}}"#,
            "given default lease TTL greater than given max lease TTL",
        ),
        (
            "x",
            r#"{"type":"gcp","config":{"token_type":"x"}}"#,
            "invalid value for 'token_type'",
        ),
        (
            "x",
            r#"{"type":"gcp","config":{"listing_visibility":"x"}}"#,
            "invalid listing_visibility x",
        ),
    ] {
        server
            .post(&format!("sys/auth/{path}"), body)
            .refused(400, text);
    }
    server
        .get("sys/auth/none")
        .refused(400, "No auth engine at none/");
    server
        .delete("sys/auth/token")
        .refused(400, "token credential backend cannot be disabled");
    assert_eq!(server.commits(), before);
}

#[test]
fn disabling_removes_what_the_method_kept() {
    let server = Server::with_role();
    server
        .post("auth/gcp/config", r#"{"iam_alias":"unique_id"}"#)
        .expect(204);
    assert!(!server.method_store.keys().is_empty());
    server.delete("sys/auth/gcp").expect(204);
    assert_eq!(server.method_store.keys(), Vec::<String>::new());
    assert_eq!(left_behind(&server), (false, false));
    server.delete("sys/auth/gcp").expect(204);
    let path = "no handler for route \"auth/gcp/config\". route entry not found.";
    server.get("auth/gcp/config").refused(404, path);
}

/// Two flags: the first is true if the method keeps data, the second if background work has to delete data.
fn left_behind(server: &Server) -> (bool, bool) {
    let keys = server.access_store.keys();
    let is_listed = keys.iter().any(|key| key.starts_with("disabled-mount/"));
    (!server.method_store.keys().is_empty(), is_listed)
}

fn full_disk() -> StoreError {
    StoreError::Unavailable("disk full".to_owned())
}

#[test]
fn a_mount_is_disabled_also_when_the_method_cannot_forget_it_at_once() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let login = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let login = server.send(Method::Put, "auth/gcp/login", None, login);
    let token = login.expect(200).json()["auth"]["client_token"].clone();
    let look_up = || server.send(Method::Get, "auth/token/lookup-self", token.as_str(), "");
    look_up().expect(200);
    let id = server.get("sys/auth/gcp").data()["uuid"].clone();

    server.method_store.fail_next_commit(full_disk().into());
    server.delete("sys/auth/gcp").expect(204);
    let id = id.as_str().unwrap();
    assert_eq!(
        server.operator_lines(),
        [format!(
            "disabled mount {id}: what was kept for it is still to be deleted: the store is unavailable: disk full"
        )]
    );
    look_up().expect(403);
    let no_mount = "No auth engine at gcp/";
    server.get("sys/auth/gcp").refused(400, no_mount);
    assert_eq!(left_behind(&server), (true, true));

    server.delete("sys/auth/gcp").expect(204);
    assert_eq!(left_behind(&server), (true, true));
    server.run_background();
    assert_eq!(left_behind(&server), (false, false));
    assert!(server.operator_lines().is_empty());
    let before = server.commits();
    server.run_background();
    assert_eq!(server.commits(), before);
}

#[test]
fn background_work_ends_what_a_cut_off_instance_began() {
    let server = Server::with_role();
    server
        .post("sys/auth/other", r#"{"type":"gcp"}"#)
        .expect(204);
    let access = AccessService::new(server.access_store, server.clock, SeededRandom::new(9));
    for path in ["gcp", "other"] {
        access.disable_mount(path).unwrap().unwrap();
    }
    assert_eq!(left_behind(&server), (true, true));

    // A failure for one mount does not hold up the others.
    server.access_store.fail_next_commit(full_disk().into());
    server.run_background();
    assert_eq!(server.operator_lines().len(), 1);
    assert_eq!(access.list_disabled_mounts(9).unwrap().len(), 1);

    server.run_background();
    assert_eq!(left_behind(&server), (false, false));
    assert!(server.operator_lines().is_empty());
}

#[test]
fn s14_texts_that_are_too_long_are_400_and_name_their_bound() {
    let server = Server::with_method();
    let commits = server.commits();
    let long = "x".repeat(64 * 1024 + 1);
    for (path, body, field, most) in [
        (
            "sys/auth/a",
            json!({"type": "gcp", "description": long}),
            "description",
            4096,
        ),
        (
            "sys/auth/gcp/tune",
            json!({"description": long}),
            "description",
            4096,
        ),
        (
            "auth/token/create",
            json!({"display_name": long}),
            "display_name",
            4096,
        ),
        (
            "auth/token/create",
            json!({"meta": {"a": long}}),
            "meta",
            65536,
        ),
        (
            "auth/token/create",
            json!({"policies": [long]}),
            "policies",
            65536,
        ),
        (
            "identity/entity",
            json!({"policies": [long]}),
            "policies",
            65536,
        ),
    ] {
        let text = format!("{field} may have at most {most} bytes: shorten it");
        server.post(path, &body.to_string()).refused(400, &text);
    }
    assert_eq!(server.commits(), commits);
}

#[test]
fn s14_lists_that_cost_work_for_each_entry_are_bounded() {
    let server = Server::with_method();
    let paths = |count: usize| vec!["a"; count].join(",");
    let ask = |count: usize| {
        let body = json!({ "paths": paths(count) }).to_string();
        server.post("sys/capabilities-self", &body)
    };
    ask(1000).expect(200);
    ask(1001).refused(400, "at most 1000 paths at once");
    let body = json!({ "entity_ids": paths(1001) }).to_string();
    let refused = server.post("identity/entity/batch-delete", &body);
    refused.refused(400, "at most 1000 entities are deleted at once");
}
