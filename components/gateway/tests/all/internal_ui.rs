//! Paths for user interfaces: `sys/internal/ui`, `sys/mounts` (contract 6.3, 6.4).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{Answer, Server, listed};

const MOUNTS: &str = "sys/internal/ui/mounts";

fn get(server: &Server, token: &str, path: &str) -> Answer {
    server.send(Method::Get, path, Some(token), "")
}

fn names(mounts: &Value) -> Vec<&str> {
    mounts
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn contract_6_4_without_a_token_only_open_mounts_are_shown() {
    let server = Server::with_method();
    let shown = || {
        server
            .send(Method::Get, MOUNTS, None, "")
            .expect(200)
            .data()
    };
    assert_eq!(shown(), json!({"auth": {}, "secret": {}}));
    let tuning = r#"{"listing_visibility":"unauth","description":"cloud","options":{"a":"b"}}"#;
    server.post("sys/auth/gcp/tune", tuning).expect(204);
    assert_eq!(
        shown(),
        json!({"auth": {"gcp/": {"description": "cloud", "options": {"a": "b"}, "type": "gcp"}}, "secret": {}})
    );
}

#[test]
fn h13_nothing_else_below_answers_without_a_token() {
    let server = Server::with_method();
    for path in [
        "sys/internal/ui/mounts/auth/gcp",
        "sys/internal/ui/resultant-acl",
        "sys/internal/ui",
        "sys/mounts",
        "sys/leases/lookup",
    ] {
        server
            .send(Method::Get, path, None, "")
            .refused(403, "permission denied");
    }
    let invalid = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
    get(&server, "bad", MOUNTS).refused(403, invalid);
    server
        .send(Method::Post, MOUNTS, None, "{}")
        .refused(405, "unsupported operation");
}

#[test]
fn contract_6_4_a_caller_sees_the_mounts_that_it_has_rights_below() {
    let server = Server::with_method();
    server
        .post("sys/auth/other", r#"{"type":"gcp"}"#)
        .expect(204);
    let all = server.get(MOUNTS).expect(200).data();
    assert_eq!(names(&all["auth"]), ["gcp/", "other/", "token/"]);
    assert_eq!(names(&all["secret"]), ["cubbyhole/", "identity/", "sys/"]);
    assert_eq!(all["auth"]["gcp/"], server.get("sys/auth/gcp").data());
    assert_eq!(all["secret"], server.get("sys/mounts").data());

    let token = server.token_with(r#"path "auth/gcp/role/dev" { capabilities = ["read"] }"#);
    let own = get(&server, &token, MOUNTS).expect(200).data();
    // The policy `default` grants the others.
    assert_eq!(names(&own["auth"]), ["gcp/", "token/"]);
    assert_eq!(names(&own["secret"]), ["cubbyhole/", "sys/"]);
    let tuning = r#"{"listing_visibility":"unauth"}"#;
    server.post("sys/auth/other/tune", tuning).expect(204);
    let own = get(&server, &token, MOUNTS).data();
    assert_eq!(own["auth"]["other/"], server.get("sys/auth/other").data());
}

#[test]
fn contract_6_4_the_mount_of_a_path_is_shown_to_who_has_rights_below_it() {
    let server = Server::with_method();
    let token = server.token_with(r#"path "auth/gcp/role/dev" { capabilities = ["read"] }"#);
    let mut expected = server.get("sys/auth/gcp").data();
    expected["path"] = json!("gcp/");
    for path in [
        "auth/gcp",
        "auth/gcp/",
        "auth/gcp/login",
        "auth/gcp/no/such",
    ] {
        let shown = get(&server, &token, &format!("{MOUNTS}/{path}")).expect(200);
        assert_eq!(shown.data(), expected, "{path}");
    }
    server
        .post("sys/auth/other", r#"{"type":"gcp"}"#)
        .expect(204);
    for path in [
        "auth/other",
        "auth/none/x",
        "auth",
        "identity",
        "secret",
        "auth/gc",
    ] {
        get(&server, &token, &format!("{MOUNTS}/{path}")).refused(
            403,
            &format!("preflight capability check returned 403, please ensure client's policies grant access to path \"{path}/\""),
        );
    }
    let system = server.get(&format!("{MOUNTS}/sys/auth")).expect(200).data();
    assert_eq!(
        (&system["type"], &system["path"]),
        (&json!("system"), &json!("sys/"))
    );
    server
        .post(&format!("{MOUNTS}/auth/gcp"), "{}")
        .refused(405, "unsupported operation");
}

#[test]
fn contract_6_4_the_resultant_acl_has_rules_or_says_root() {
    let server = Server::initialized();
    let path = "sys/internal/ui/resultant-acl";
    assert_eq!(server.get(path).expect(200).data(), json!({"root": true}));
    let token = server.token_with(
        "path \"a\" { capabilities = [\"update\", \"sudo\", \"patch\", \"create\", \"read\", \"list\", \"delete\"] }
         path \"b/*\" { capabilities = [\"deny\"] }
         path \"c/+/d\" { capabilities = [\"read\"] }",
    );
    let shown = get(&server, &token, path).expect(200).data();
    assert_eq!(shown["root"], json!(false));
    assert_eq!(
        shown["exact_paths"]["a"],
        json!({"capabilities": ["create", "delete", "list", "read", "sudo", "update", "patch"]})
    );
    assert_eq!(
        shown["exact_paths"]["auth/token/lookup-self"],
        json!({"capabilities": ["read"]})
    );
    assert_eq!(
        shown["glob_paths"],
        json!({
            "b/": {"capabilities": ["deny"]},
            "cubbyhole/": {"capabilities": ["create", "delete", "list", "read", "update"]},
            "sys/tools/hash/": {"capabilities": ["update"]},
        })
    );
    server
        .post(path, "{}")
        .refused(405, &listed("unsupported operation"));
    server
        .get("sys/internal/ui/x")
        .refused(404, &listed("unsupported path"));
}

#[test]
fn contract_6_3_what_is_always_mounted_is_listed() {
    let server = Server::with_method();
    let listed_mounts = server.get("sys/mounts").expect(200).json();
    assert_eq!(
        names(&listed_mounts["data"]),
        ["cubbyhole/", "identity/", "sys/"]
    );
    let system = &listed_mounts["data"]["sys/"];
    assert_eq!(&listed_mounts["sys/"], system);
    assert_eq!(system["type"], "system");
    assert_eq!(
        system["config"],
        json!({"default_lease_ttl": 0, "force_no_cache": false, "max_lease_ttl": 0})
    );
    assert_eq!(
        system["accessor"].as_str().unwrap().len(),
        "system_".len() + 8
    );
    assert_eq!(system["uuid"].as_str().unwrap().len(), 36);
    assert_ne!(system["uuid"], listed_mounts["data"]["identity/"]["uuid"]);
    assert_eq!(server.get("sys/mounts/sys").expect(200).data(), *system);
    assert_eq!(
        server.get("sys/mounts/auth/gcp").expect(200).data(),
        server.get("sys/auth/gcp").data()
    );
    server
        .get("sys/mounts/none")
        .refused(400, "No secret engine mount at none/");
    server
        .post("sys/mounts/kv", r#"{"type":"kv"}"#)
        .refused(405, &listed("unsupported operation"));
}
