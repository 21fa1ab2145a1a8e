//! One path, one spelling (SEC-A2, A3).

use gatehouse_gateway::{Method, Request};

use super::server::{ROOT, Server, listed, request};

fn as_root(method: Method, raw_path: &str) -> Request {
    let mut request = Request::new(method, raw_path);
    request.headers.push("x-vault-token", ROOT);
    request
}

#[test]
fn a2_ambiguous_paths_are_refused_before_anything_is_looked_up() {
    let server = Server::with_role();
    let before = (server.commits(), server.reads());
    for path in [
        "/v1/auth/gcp/%2e%2e/gcp/role/dev",
        "/v1/auth/gcp/.%2E/role/dev",
        "/v1/auth//gcp/%2e/role/dev",
        "/v1/auth/%2e%2e/../gcp/role/dev",
        "/v1/auth/gcp/..%2fgcp/role/dev",
        "/v1/auth/gcp/%2e%2e%2fgcp/role/dev",
        "/v1/auth/gcp%2F%2Frole/dev",
        "/v1/auth/gcp%252Frole/dev",
        "/v1/auth/gcp%5Crole/dev",
        "/v1/auth/gcp/..%5cgcp/role/dev",
        "/v1/auth/gcp/role/dev%00",
        "/v1/auth/gcp/role/%0adev",
        "/v1/auth/gcp/role/%E2%80%8Bdev",
        "/v1/auth/gcp/role/%ff",
        "/v1/auth/gcp/role/%zz",
    ] {
        for method in [Method::Get, Method::Delete, Method::Post] {
            let answer = server.handle(&as_root(method, path)).expect(400);
            let text = answer.json()["errors"][0].as_str().unwrap().to_owned();
            assert!(text.starts_with("path "), "{path}: {text}");
        }
    }
    assert_eq!((server.commits(), server.reads()), before);
    server.get("auth/gcp/role/dev").expect(200);
}

#[test]
fn a2_ambiguous_paths_to_organizations_are_refused_before_anything_is_looked_up() {
    let server = Server::with_role();
    let before = (server.commits(), server.reads());
    for path in [
        "/api/v2/organizations%252Facme",
        "/api/v2/organizations/%2e%2e%2facme",
        "/api/v2/organizations/..%5cacme",
    ] {
        for method in [Method::Get, Method::Delete, Method::Post] {
            let mut request = Request::new(method, path);
            request.headers.push("authorization", "Bearer root-token");
            let answer = server.handle(&request);
            // A malformed path does not exist in that protocol.
            assert_eq!(answer.0.status, 404, "{path}: {}", answer.text());
            assert_eq!(answer.json()["errors"][0]["status"], "404", "{path}");
        }
    }
    assert_eq!((server.commits(), server.reads()), before);
}

#[test]
fn a2_an_encoded_slash_reaches_a_nested_mount_and_escapes_no_denial() {
    let server = Server::initialized();
    let enable = r#"{"type":"gcp"}"#;
    server.post("sys/auth/cloud%2Fprod", enable).expect(204);
    let role = r#"{"type":"iam","bound_service_accounts":"a@b.iam.gserviceaccount.com"}"#;
    let written = server.post("auth/cloud%2Fprod/role/dev", role);
    written.expect(200);
    let read = server.get("auth/cloud/prod/role/dev").expect(200);
    let policy = r#"
        path "auth/cloud/*" { capabilities = ["read"] }
        path "auth/cloud/prod/role/dev" { capabilities = ["deny"] }
        path "auth/cloud%2Fprod/role/dev" { capabilities = ["read"] }
    "#;
    let denied = server.token_with(policy);
    let before = server.commits();
    for path in [
        "auth/cloud%2Fprod/role/dev",
        "auth%2fcloud%2fprod%2frole%2fdev",
        "auth/cloud/prod/role%2Fdev",
        "auth/cloud/prod/role%2FDEV",
    ] {
        let shown = server.get(path).expect(200);
        assert_eq!(shown.json()["data"], read.json()["data"], "{path}");
        let refused = server.send(Method::Get, path, Some(&denied), "");
        refused.refused(403, &listed("permission denied"));
    }
    let listed = server.send(Method::List, "auth/cloud%2Fprod/roles%2F", Some(ROOT), "");
    assert_eq!(listed.expect(200).json()["data"]["keys"][0], "dev");
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_1_1_needless_slashes_and_dots_lead_to_the_plain_path_with_nothing_done() {
    let server = Server::with_role();
    let before = server.commits();
    for (path, plain) in [
        ("/v1/auth/gcp/./role/dev", "/v1/auth/gcp/role/dev"),
        ("/v1/auth/gcp/../gcp/role/dev", "/v1/auth/gcp/role/dev"),
        ("/v1/auth//gcp/role/dev", "/v1/auth/gcp/role/dev"),
        ("//v1/auth/gcp/role/dev", "/v1/auth/gcp/role/dev"),
        ("/v1/auth/gcp/role//", "/v1/auth/gcp/role/"),
        (
            "/v1/../../v1/auth/gcp/role/d%65v",
            "/v1/auth/gcp/role/d%65v",
        ),
        ("//evil.example/", "/evil.example/"),
    ] {
        for method in [Method::Get, Method::Delete, Method::Put, Method::List] {
            let mut request = as_root(method, path);
            request.body = br#"{"token_ttl":1}"#.to_vec();
            let answer = server.handle(&request).expect(307).0;
            assert_eq!(answer.header("location"), Some(plain), "{path}");
            assert!(answer.body.is_empty(), "{path}");
            request.query = "list=true&a=%2F".to_owned();
            let answer = server.handle(&request).expect(307).0;
            let target = format!("{plain}?list=true&a=%2F");
            assert_eq!(answer.header("location"), Some(target.as_str()), "{path}");
        }
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_1_6_at_a_mount_itself_the_path_is_unsupported_and_without_one_there_is_no_handler() {
    let server = Server::with_role();
    for path in ["auth/gcp", "auth/gcp/", "auth/token"] {
        server.get(path).refused(404, &listed("unsupported path"));
    }
    for path in ["auth/gcp", "auth/token"] {
        server.list(path).refused(404, &listed("unsupported path"));
        server
            .post(path, "{}")
            .refused(404, &listed("unsupported path"));
    }
    for path in ["auth/gc", "auth/none", "auth"] {
        let text = format!("no handler for route \"{path}\". route entry not found.");
        server.get(path).refused(404, &text);
    }
}

#[test]
fn contract_1_6_what_has_a_path_and_no_list_is_405() {
    let server = Server::with_role();
    server
        .post(
            "sys/policies/acl/team/app",
            r#"{"policy":"path \"x\" { capabilities = [\"read\"] }"}"#,
        )
        .expect(204);
    for path in [
        "sys/policies/acl/team/app",
        "sys/policies/acl/team",
        "sys/policy/team/app",
        "auth/gcp/config",
    ] {
        assert_eq!(server.list(path).0.status, 405, "{path}");
    }
}

#[test]
fn contract_5_6_the_rule_that_ends_in_a_slash_decides_a_list_and_what_may_be_done_there() {
    let server = Server::with_role();
    let token = server.token_with(
        r#"
        path "auth/gcp/role/" { capabilities = ["list"] }
        path "auth/gcp/role" { capabilities = ["deny"] }
        "#,
    );
    for path in ["auth/gcp/role", "auth/gcp/role/"] {
        let answer = server.send(Method::List, path, Some(&token), "");
        assert_eq!(answer.expect(200).data()["keys"][0], "dev", "{path}");
    }
    let asked = r#"{"paths":["auth/gcp/role/","auth/gcp/role"]}"#;
    let answer = server.send(Method::Post, "sys/capabilities-self", Some(&token), asked);
    let data = answer.expect(200).data();
    assert_eq!(data["auth/gcp/role/"], serde_json::json!(["list"]));
    assert_eq!(data["auth/gcp/role"], serde_json::json!(["deny"]));
}

#[test]
fn a2_policy_and_handler_see_the_decoded_path() {
    let server = Server::with_role();
    let token = server.token_with(r#"path "auth/gcp/role/dev" { capabilities = ["read"] }"#);
    for path in [
        "/v1/auth/gcp/role/dev",
        "/v1/auth/gcp/role/%64ev",
        "/v1/%61uth/gcp/role/dev",
    ] {
        let mut request = Request::new(Method::Get, path);
        request.headers.push("x-vault-token", token.as_str());
        server.handle(&request).expect(200);
    }
    let mut request = Request::new(Method::Get, "/v1/auth/gcp/role/%2564ev");
    request.headers.push("x-vault-token", token);
    let answer = server.handle(&request);
    answer.refused(400, "path must not be encoded twice");
}

#[test]
fn a2_g17_a_denied_name_is_denied_under_every_spelling() {
    let server = Server::with_role();
    server
        .post("sys/policies/acl/prod", r#"{"policy":"path \"x\" {}"}"#)
        .expect(204);
    let token = server.token_with(
        r#"
        path "sys/policies/acl/*" { capabilities = ["create", "read", "update", "delete"] }
        path "sys/policies/acl/prod" { capabilities = ["deny"] }
        path "sys/policy/*" { capabilities = ["create", "read", "update", "delete"] }
        path "sys/policy/prod" { capabilities = ["deny"] }
        path "auth/gcp/role/*" { capabilities = ["create", "read", "update", "delete"] }
        path "auth/gcp/role/dev" { capabilities = ["deny"] }
        "#,
    );
    let before = server.commits();
    for path in [
        "sys/policies/acl/prod",
        "sys/policies/acl/PROD",
        "sys/policies/acl/pRo%44",
        "sys/policy/Prod",
        "auth/gcp/role/dev",
        "auth/gcp/role/DEV",
        "auth/gcp/role/%44ev",
    ] {
        for method in [Method::Get, Method::Put, Method::Delete] {
            let answer = server.send(method, path, Some(&token), r#"{"policy":"x"}"#);
            answer.refused(403, &listed("permission denied"));
        }
    }
    for path in ["sys/policies/acl/%20prod", "sys/policy/prod%20"] {
        for method in [Method::Get, Method::Put, Method::Delete] {
            server
                .send(method, path, Some(&token), "{}")
                .refused(400, "policy names must not begin or end with a blank");
        }
    }
    assert_eq!(server.commits(), before);
    let asked = r#"{"paths":["auth/gcp/role/DEV","auth/gcp/role/Other"]}"#;
    let shown = server.send(Method::Post, "sys/capabilities-self", Some(&token), asked);
    assert_eq!(
        shown.data()["auth/gcp/role/DEV"],
        serde_json::json!(["deny"])
    );
    server
        .send(Method::Get, "auth/gcp/role/Other", Some(&token), "")
        .silently_refused(404);
}

#[test]
fn a_mount_answers_under_its_name_as_it_is_listed() {
    let server = Server::initialized();
    server
        .post("sys/auth/a/b/c", r#"{"type":"gcp"}"#)
        .expect(204);
    let listed_mounts = server.get("sys/auth").data();
    assert!(listed_mounts.get("a/b/c/").is_some());
    let read = server.get("sys/auth/a/b/c/").expect(200).data();
    assert_eq!(read, server.get("sys/auth/a/b/c").data());
    let before = server.commits();
    server
        .post("sys/auth/a/b/c/", r#"{"type":"gcp"}"#)
        .refused(400, "cannot write to a path ending in '/'");
    assert_eq!(server.commits(), before);
    server.delete("sys/auth/a/b/c/").expect(204);
    assert_eq!(server.get("sys/auth").data().get("a/b/c/"), None);
}

#[test]
fn a3_all_spellings_of_list_need_the_same_capability() {
    let server = Server::with_role();
    let lists = [
        (Method::List, "auth/gcp/roles"),
        (Method::List, "auth/gcp/roles/"),
        (Method::Get, "auth/gcp/roles?list=true"),
        (Method::Get, "auth/gcp/roles/?list=1"),
    ];
    let reader = server.token_with(r#"path "auth/gcp/*" { capabilities = ["read"] }"#);
    for (method, target) in lists {
        let answer = server.send(method, target, Some(&reader), "");
        answer.refused(403, &listed("permission denied"));
    }
    let lister = server.token_with(r#"path "auth/gcp/roles" { capabilities = ["list"] }"#);
    for (method, target) in lists {
        let answer = server.send(method, target, Some(&lister), "").expect(200);
        assert_eq!(answer.data(), serde_json::json!({"keys": ["dev"]}));
    }
    // A list shows the entries below the path, so a rule for that path decides.
    let below = server.token_with(r#"path "auth/gcp/roles/" { capabilities = ["list"] }"#);
    for (method, target) in lists {
        server.send(method, target, Some(&below), "").expect(200);
    }
    let denied = server.token_with(
        r#"path "auth/gcp/*" { capabilities = ["list"] } path "auth/gcp/roles/*" { capabilities = ["deny"] }"#,
    );
    for (method, target) in lists {
        let answer = server.send(method, target, Some(&denied), "");
        answer.refused(403, &listed("permission denied"));
    }
    // A plain read is not a list, with or without a slash.
    server
        .get("auth/gcp/roles")
        .refused(405, &listed("unsupported operation"));
    server
        .get("auth/gcp/roles/")
        .refused(404, &listed("unsupported path"));
}

#[test]
fn a3_post_and_put_are_one_and_method_overrides_have_no_effect() {
    let server = Server::with_role();
    for method in [Method::Post, Method::Put] {
        let answer = server.send(
            method,
            "auth/gcp/role/dev",
            Some(ROOT),
            r#"{"token_ttl":5}"#,
        );
        answer.expect(200);
    }
    let mut overridden = request(Method::Get, "auth/gcp/role/dev", "");
    overridden.headers.push("X-Vault-Token", ROOT);
    overridden.headers.push("X-HTTP-Method-Override", "DELETE");
    server.handle(&overridden).expect(200);
    server.get("auth/gcp/role/dev").expect(200);
}

#[test]
fn a_write_to_a_path_ending_in_a_slash_is_refused() {
    let server = Server::with_role();
    let before = server.commits();
    let text = "cannot write to a path ending in '/'";
    server
        .post("auth/gcp/role/dev/", r#"{"type":"iam"}"#)
        .refused(400, text);
    server
        .delete("auth/gcp/role/dev/")
        .refused(404, &listed("unsupported path"));
    assert_eq!(server.commits(), before);
}

#[test]
fn a2_that_a_path_cannot_be_served_is_told_to_those_only_who_show_a_valid_token() {
    let server = Server::with_role();
    let policy = r#"path "auth/gcp/*" { capabilities = ["read", "deny"] }"#;
    let denied = server.token_with(policy);
    let invalid = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
    let deep = "a/".repeat(64) + "a";
    let long = format!("auth/gcp/role/{}", "a".repeat(1025));
    for path in [deep.as_str(), long.as_str()] {
        for method in [Method::Get, Method::Delete, Method::Post, Method::List] {
            let send = |token| server.send(method, path, token, "{}");
            send(None).refused(403, "permission denied");
            send(Some("hvs.none")).refused(403, invalid);
            for token in [ROOT, denied.as_str()] {
                send(Some(token)).refused(400, "malformed path");
            }
        }
    }
}

#[test]
fn t4_a_path_that_cannot_be_served_takes_a_use_of_the_token() {
    let server = Server::with_role();
    let made = server.post(
        "auth/token/create",
        r#"{"policies":["default"],"num_uses":2}"#,
    );
    let token = made.expect(200).json()["auth"]["client_token"].clone();
    let token = token.as_str().unwrap();
    let deep = "a/".repeat(64) + "a";
    for _ in 0..2 {
        let answer = server.send(Method::Get, &deep, Some(token), "");
        answer.refused(400, "malformed path");
    }
    server.send(Method::Get, &deep, Some(token), "").expect(403);
}

/// Contract 5.6, D31: the request is authorized and carried out without the slash.
#[test]
fn a3_a_final_slash_of_what_is_no_list_is_told_to_those_only_who_may_go_there() {
    let server = Server::with_role();
    let before = server.commits();
    let paths = [
        "auth/gcp/role/dev/",
        "auth/gcp/config/",
        "sys/policies/acl/default/",
    ];
    for path in paths {
        for method in [Method::Get, Method::Delete] {
            let send = |token| server.send(method, path, token, "");
            send(None).refused(403, "permission denied");
            send(Some("hvs.none")).expect(403);
            send(Some(ROOT)).refused(404, &listed("unsupported path"));
        }
    }
    assert_eq!(server.commits(), before);
    let denied = server.token_with(r#"path "auth/gcp/roles" { capabilities = ["read"] }"#);
    for path in paths {
        let answer = server.send(Method::Get, path, Some(&denied), "");
        answer.refused(403, &listed("permission denied"));
    }
}

#[test]
fn what_is_outside_the_protocols_is_not_found() {
    let server = Server::initialized();
    for path in ["/", "/ui", "/v1", "/v2/x", "/v1x/sys/health"] {
        server
            .handle(&Request::new(Method::Get, path))
            .silently_refused(404);
    }
}

#[test]
fn other_methods_are_refused() {
    let server = Server::initialized();
    for method in [Method::Options, Method::Other] {
        server
            .send(method, "sys/auth", Some(ROOT), "")
            .silently_refused(405);
    }
    let head = server
        .send(Method::Head, "sys/auth", Some(ROOT), "")
        .expect(405);
    assert!(head.0.body.is_empty());
    let patch = server.send(Method::Patch, "sys/auth", Some(ROOT), "{}");
    patch.refused(
        415,
        "PATCH requires Content-Type of application/merge-patch+json, provided ",
    );
    let mut patch = request(Method::Patch, "sys/auth", "{}");
    patch
        .headers
        .push("content-type", "application/merge-patch+json");
    patch.headers.push("x-vault-token", ROOT);
    server
        .handle(&patch)
        .refused(405, &listed("unsupported operation"));
    server.get("sys/auth?list=maybe").silently_refused(400);
}
