//! Token-store roles on the wire (contract 5.4).

use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::server::{ROOT, Server, listed};

const ROLE: &str = "auth/token/roles/ci";

#[test]
fn contract_5_4_a_role_is_shown_with_all_its_fields() {
    let server = Server::initialized();
    server.post(ROLE, "{}").expect(204);
    let mut plain = json!({"allowed_entity_aliases": null, "allowed_policies": [], "allowed_policies_glob": [],
        "disallowed_policies": [], "disallowed_policies_glob": [], "explicit_max_ttl": 0, "name": "ci", "orphan": false,
        "path_suffix": "", "period": 0, "renewable": true, "token_explicit_max_ttl": 0, "token_no_default_policy": false,
        "token_period": 0, "token_type": "default-service"});
    let answer = server.get(ROLE).expect(200);
    assert_eq!(answer.data(), plain);
    assert_eq!(answer.json()["mount_type"], "token");

    let body = r#"{"allowed_policies":"B, a","disallowed_policies":["x"],"allowed_policies_glob":"T*","disallowed_policies_glob":["*"],
        "allowed_entity_aliases":["Bob","svc-*"],"orphan":"true","renewable":false,"path_suffix":"v-1","token_period":"1h",
        "token_explicit_max_ttl":7200,"token_num_uses":"3","token_no_default_policy":1,"token_type":"service",
        "token_bound_cidrs":"192.0.2.0/24,192.0.2.1"}"#;
    server.send(Method::Put, ROLE, Some(ROOT), body).expect(204);
    let set = json!({"allowed_entity_aliases": ["bob", "svc-*"], "allowed_policies": ["a", "b"], "allowed_policies_glob": ["t*"],
        "disallowed_policies": ["x"], "disallowed_policies_glob": ["*"], "orphan": true, "renewable": false, "path_suffix": "v-1",
        "token_period": 3600, "token_explicit_max_ttl": 7200, "token_num_uses": 3, "token_no_default_policy": true,
        "token_type": "service", "token_bound_cidrs": ["192.0.2.0/24", "192.0.2.1"]});
    let Value::Object(set) = set else { panic!() };
    plain.as_object_mut().unwrap().extend(set);
    assert_eq!(server.get(ROLE).data(), plain);
}

#[test]
fn old_names_are_shown_as_long_as_they_count() {
    let server = Server::initialized();
    let old = r#"{"period":5,"explicit_max_ttl":6,"bound_cidrs":"192.0.2.1"}"#;
    server.post(ROLE, old).expect(204);
    let data = server.get(ROLE).data();
    for (old, new) in [
        ("period", "token_period"),
        ("explicit_max_ttl", "token_explicit_max_ttl"),
        ("bound_cidrs", "token_bound_cidrs"),
    ] {
        assert_eq!(data[old], data[new]);
        assert_ne!(data[new], json!(0));
    }
    let both = r#"{"period":5,"explicit_max_ttl":6,"bound_cidrs":"192.0.2.1","token_period":7,"token_explicit_max_ttl":8,
        "token_bound_cidrs":"192.0.2.2","role_name":"other","zz":1}"#;
    let text = |name: &str| {
        format!(
            "Both 'token_{name}' and deprecated '{name}' value supplied, ignoring the deprecated value"
        )
    };
    assert_eq!(
        server.post(ROLE, both).expect(200).warnings(),
        [
            text("period"),
            text("bound_cidrs"),
            text("explicit_max_ttl"),
            "Endpoint ignored these unrecognized parameters: [zz]".to_owned(),
            "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [role_name]"
                .to_owned(),
        ]
    );
    let data = server.get(ROLE).data();
    assert_eq!(
        (&data["period"], &data["token_period"]),
        (&json!(0), &json!(7))
    );
    assert_eq!(data["bound_cidrs"], Value::Null);
}

#[test]
fn contract_5_4_roles_are_listed_read_and_deleted() {
    let server = Server::initialized();
    server.list("auth/token/roles").silently_refused(404);
    server.get(ROLE).silently_refused(404);
    for name in ["b", "a", "B"] {
        server
            .post(&format!("auth/token/roles/{name}"), "{}")
            .expect(204);
    }
    let keys =
        |query: &str| server.list(&format!("auth/token/roles{query}")).data()["keys"].clone();
    assert_eq!(keys(""), json!(["B", "a", "b"]));
    assert_eq!(keys("/?after=B&limit=1"), json!(["a"]));
    for _ in 0..2 {
        server.delete("auth/token/roles/B").expect(204);
    }
    assert_eq!(keys(""), json!(["a", "b"]));
    let stored = server.access_store.keys();
    assert_eq!(
        stored
            .iter()
            .filter(|key| key.starts_with("token-role/"))
            .count(),
        2
    );
}

#[test]
fn a_life_that_the_mount_does_not_allow_is_warned_of() {
    let server = Server::initialized();
    let answer = server.post(ROLE, r#"{"token_explicit_max_ttl":"9999h"}"#);
    let warnings = answer.expect(200).warnings();
    let text = "Given explicit max TTL of 35996400 is greater than system/mount allowed value of 2764800 seconds;";
    assert!(warnings[0].starts_with(text), "{warnings:?}");
}

#[test]
fn refusals_of_roles_have_their_texts_and_store_nothing() {
    let server = Server::initialized();
    let before = server.commits();
    let batch = "'token_type' cannot be 'batch' when role is set to generate";
    let no_batch = "error parsing role fields: 'token_type' cannot be 'batch' or 'default_batch' when set to generate";
    let suffix = r"given role path suffix contains invalid characters; must match \w[\w-.]+\w";
    for (body, text) in [
        (r#"{"path_suffix":"a/b"}"#, suffix.to_owned()),
        (
            r#"{"path_suffix":"abc..d"}"#,
            "error registering path suffix: path cannot contain parent references".to_owned(),
        ),
        (r#"{"token_type":"default"}"#, "invalid 'token_type' value \"default\"".to_owned()),
        (r#"{"token_type":""}"#, "invalid 'token_type' value \"\"".to_owned()),
        (r#"{"token_type":"batch"}"#, format!("{batch} non-orphan tokens")),
        (
            r#"{"token_type":"batch","orphan":true}"#,
            format!("{batch} renewable tokens"),
        ),
        (
            r#"{"token_type":"batch","orphan":true,"token_period":5}"#,
            format!("{batch} periodic tokens"),
        ),
        (
            r#"{"token_type":"batch","orphan":true,"renewable":false,"explicit_max_ttl":5}"#,
            format!("{batch} tokens with an explicit max TTL"),
        ),
        (
            r#"{"token_type":"batch","orphan":true,"renewable":false,"token_num_uses":5}"#,
            format!("{no_batch} tokens with limited use count"),
        ),
        (
            r#"{"token_num_uses":-1}"#,
            "error parsing role fields: 'token_num_uses' cannot be negative".to_owned(),
        ),
        (
            r#"{"token_bound_cidrs":"x"}"#,
            "error parsing role fields: error parsing address \"x\": it is neither an IP address nor a CIDR".to_owned(),
        ),
        (
            r#"{"bound_cidrs":"x"}"#,
            "error parsing bound_cidrs: error parsing address \"x\": it is neither an IP address nor a CIDR".to_owned(),
        ),
    ] {
        server.post(ROLE, body).refused(400, &text);
    }
    for body in [
        r#"{"token_period":-1}"#,
        r#"{"orphan":"maybe"}"#,
        r#"{"period":"x"}"#,
    ] {
        server.post(ROLE, body).expect(400);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn paths_that_are_no_role_do_not_exist() {
    let server = Server::initialized();
    let unsupported = |method: Method, path: &str, status: u16, text: &str| {
        let answer = server.send(method, &format!("auth/token/{path}"), Some(ROOT), "{}");
        answer.refused(status, &listed(text));
    };
    for path in [
        "roles/a-",
        "roles/-a",
        "roles/a%20b",
        "roles/a/b",
        "roles/a/b/c",
    ] {
        unsupported(Method::Post, path, 404, "unsupported path");
    }
    for method in [Method::Get, Method::Post, Method::Delete] {
        unsupported(method, "roles", 405, "unsupported operation");
    }
    server.post(ROLE, "{}").expect(204);
    unsupported(Method::List, "roles/ci", 404, "unsupported path");
}

#[test]
fn a3_a_new_role_needs_create_and_one_that_is_there_update() {
    let server = Server::initialized();
    let token = |capability: &str| {
        server.token_with(&format!(
            r#"path "auth/token/roles/*" {{ capabilities = ["{capability}"] }}"#
        ))
    };
    let write = |token: &str| server.send(Method::Put, ROLE, Some(token), "{}");
    write(&token("update")).refused(403, &listed("permission denied"));
    assert!(server.get(ROLE).0.status == 404);
    write(&token("create")).expect(204);
    write(&token("create")).refused(403, &listed("permission denied"));
    write(&token("update")).expect(204);
}

/// A server with the role `role`, and a caller with policy `own` who may create tokens with it.
fn with_role(role: &str) -> (Server, String) {
    let server = Server::initialized();
    server.post(ROLE, role).expect(204);
    let policy = r#"path "auth/token/create/ci" { capabilities = ["update"] }"#;
    let caller = server.token_with(policy);
    (server, caller)
}

const CREATE: &str = "auth/token/create/ci";

#[test]
fn contract_5_4_a_token_under_a_role_says_so_in_lookups() {
    let (server, caller) =
        with_role(r#"{"allowed_policies":"a","path_suffix":"v-1","token_period":"1h"}"#);
    let made = server.send(
        Method::Post,
        CREATE,
        Some(&caller),
        r#"{"display_name":"x"}"#,
    );
    let auth = made.expect(200).json()["auth"].clone();
    assert_eq!(auth["policies"], json!(["a", "default"]));
    assert_eq!(
        (&auth["lease_duration"], &auth["orphan"]),
        (&json!(3600), &json!(false))
    );
    let body = json!({"token": auth["client_token"]}).to_string();
    let data = server.post("auth/token/lookup", &body).expect(200).data();
    assert_eq!(data["role"], "ci");
    assert_eq!(data["path"], "auth/token/create/ci/v-1");
    assert_eq!(data["period"], 3600);
    assert_eq!(data["display_name"], "token-x");
    let own = server.get("auth/token/lookup-self").data();
    assert_eq!(own.get("role"), None);

    server.delete(ROLE).expect(204);
    let gone = "original token role \"ci\" could not be found, not renewing";
    server.post("auth/token/renew", &body).refused(400, gone);
    server.post("auth/token/lookup", &body).expect(200);
}

#[test]
fn contract_5_4_refusals_of_a_role_have_their_texts() {
    let role = r#"{"allowed_policies":"a","allowed_policies_glob":"b*","disallowed_policies":"bad","allowed_entity_aliases":"bob"}"#;
    let (server, caller) = with_role(role);
    let before = server.commits();
    let create = |path: &str, body: &str| server.send(Method::Post, path, Some(ROOT), body);
    create("auth/token/create/none", "{}").refused(400, "unknown role none");
    create("auth/token/create/CI", "{}").refused(400, "unknown role CI");
    for (body, text) in [
        (
            r#"{"policies":["x"]}"#,
            r#"token policies (["default" "x"]) must be subset of the role's allowed policies (["a" "default"]) or glob policies (["b*"])"#,
        ),
        (
            r#"{"policies":["bad"]}"#,
            r#"token policy "bad" is disallowed by this role"#,
        ),
        (r#"{"entity_alias":"eve"}"#, "invalid 'entity_alias' value"),
        (r#"{"num_uses":-1}"#, "number of uses cannot be negative"),
        (
            r#"{"id":"mine"}"#,
            "root or sudo privileges required to specify token id",
        ),
        (
            r#"{"period":"1h"}"#,
            "root or sudo privileges required to create periodic token",
        ),
    ] {
        server
            .send(Method::Post, CREATE, Some(&caller), body)
            .refused(400, text);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_5_4_an_alias_gives_the_token_an_entity() {
    let (server, caller) = with_role(r#"{"allowed_policies":"a","allowed_entity_aliases":"bob"}"#);
    let create = || {
        server.send(
            Method::Post,
            CREATE,
            Some(&caller),
            r#"{"entity_alias":"Bob"}"#,
        )
    };
    let id = create().expect(200).json()["auth"]["entity_id"].clone();
    let path = format!("identity/entity/id/{}", id.as_str().unwrap());
    let aliases = server.get(&path).expect(200).data()["aliases"].clone();
    assert_eq!(aliases[0]["name"], "bob");
    assert_eq!(aliases[0]["mount_path"], "auth/token/");
    server.post(&path, r#"{"disabled":true}"#).expect(204);
    create().refused(403, "entity from given entity alias is disabled");
}

#[test]
fn warnings_of_a_role_come_before_the_others() {
    let (server, _) = with_role(r#"{"token_period":60,"token_explicit_max_ttl":"1h"}"#);
    let body = r#"{"policies":["a"],"period":90,"explicit_max_ttl":90,"role_name":"other","zz":1}"#;
    assert_eq!(
        server.post(CREATE, body).expect(200).warnings(),
        [
            "Explicit max TTL specified both during creation call and in role; using the lesser value of 90 seconds",
            "Period specified both during creation call and in role; using the lesser value of 60 seconds",
            "Policy \"a\" does not exist",
            "Endpoint ignored these unrecognized parameters: [zz]",
            "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [role_name]",
        ]
    );
}

#[test]
fn paths_below_create_are_those_of_roles() {
    let (server, _) = with_role("{}");
    for method in [Method::Get, Method::Delete] {
        let answer = server.send(method, CREATE, Some(ROOT), "");
        answer.refused(405, &listed("unsupported operation"));
    }
    for (method, path) in [
        (Method::List, CREATE),
        (Method::Post, "auth/token/create/a/b"),
        (Method::Post, "auth/token/create/-a"),
    ] {
        let answer = server.send(method, path, Some(ROOT), "{}");
        answer.refused(404, &listed("unsupported path"));
    }
}

#[test]
fn a4_a_role_whose_lists_are_blanks_is_not_written() {
    let server = Server::initialized();
    let bound =
        r#"{"allowed_policies":"a","token_bound_cidrs":"192.0.2.0/24","disallowed_policies":"b"}"#;
    server.post(ROLE, bound).expect(204);
    let before = server.get(ROLE).data();
    for field in [
        "allowed_policies",
        "allowed_policies_glob",
        "disallowed_policies",
        "disallowed_policies_glob",
        "allowed_entity_aliases",
        "token_bound_cidrs",
        "bound_cidrs",
    ] {
        for blanks in [json!([""]), json!([" ", ""]), json!(" "), json!(",")] {
            server
                .post(ROLE, &json!({field: blanks}).to_string())
                .expect(400);
        }
    }
    assert_eq!(server.get(ROLE).data(), before);
}

#[test]
fn contract_5_4_a_role_whose_default_type_is_batch_may_have_a_period_for_service_tokens() {
    let server = Server::initialized();
    let role = r#"{"token_type":"default-batch","token_period":60}"#;
    server.post("auth/token/roles/mixed", role).expect(204);
    let refused = server.post("auth/token/create/mixed", "{}");
    refused.expect(400);
    let made = server.post("auth/token/create/mixed", r#"{"type":"service"}"#);
    assert_eq!(made.expect(200).json()["auth"]["lease_duration"], 60);
}
