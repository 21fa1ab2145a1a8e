//! Batch tokens as clients see them (contract 5.1, 5.4, 5.5).

use gatehouse_auth_method::TokenType;
use gatehouse_gateway::{Headers, Method};
use gatehouse_ports::{Change, Put, Store as _};
use serde_json::{Value, json};

use super::server::{Answer, NOW, Server, identity, request};

const CREATE: &str = "auth/token/create";
const LOGIN: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;
const INVALID: &str = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
/// The policy that allows everything.
const ALL: &str = "path \"*\" { capabilities = [\"create\", \"read\", \"update\", \"delete\", \"list\", \"patch\", \"sudo\"] }";

fn token_in(answer: &Answer) -> String {
    let token = &answer.json()["auth"]["client_token"];
    token.as_str().unwrap().to_owned()
}

/// A batch token that root created, with all rights and metadata.
fn made(server: &Server) -> (String, Value) {
    let policy = json!({ "policy": ALL }).to_string();
    server.post("sys/policies/acl/all", &policy).expect(204);
    let body =
        r#"{"type":"batch","policies":["all"],"ttl":"1h","meta":{"a":"b"},"display_name":"x"}"#;
    let answer = server.post(CREATE, body).expect(200);
    (token_in(&answer), answer.json()["auth"].clone())
}

fn naming(token: &str) -> String {
    json!({ "token": token }).to_string()
}

/// A login with a role that asks for batch tokens.
fn login(server: &Server, wrap_ttl: Option<&str>) -> Answer {
    let mut caller = identity();
    caller.token.token_type = TokenType::Batch;
    server.script.login.is(Ok(caller));
    let mut request = request(Method::Put, "auth/gcp/login", LOGIN);
    request.headers = wrap_ttl
        .iter()
        .map(|ttl| ("X-Vault-Wrap-TTL", *ttl))
        .collect::<Headers>();
    server.handle(&request)
}

#[test]
fn a_created_batch_token_shows_its_terms_and_itself() {
    let server = Server::initialized();
    let (token, auth) = made(&server);
    assert!(token.starts_with("hvb."));
    assert_eq!(
        auth,
        json!({"client_token": token, "accessor": "", "policies": ["all", "default"], "token_policies": ["all", "default"],
            "metadata": {"a": "b"}, "lease_duration": 3600, "renewable": false, "entity_id": "", "token_type": "batch",
            "orphan": false, "mfa_requirement": null, "num_uses": 0})
    );
    let shown = json!({"accessor": "", "creation_time": NOW, "creation_ttl": 3600, "display_name": "token-x",
        "entity_id": "", "expire_time": "2026-11-21T11:00:00Z", "explicit_max_ttl": 0, "id": token,
        "issue_time": "2026-11-21T10:00:00Z", "meta": {"a": "b"}, "num_uses": 0, "orphan": false,
        "path": "auth/token/create", "policies": ["all", "default"], "renewable": false, "ttl": 3600, "type": "batch"});
    let own = server.send(Method::Get, "auth/token/lookup-self", Some(&token), "");
    assert_eq!(own.expect(200).data(), shown);
    let other = server.post("auth/token/lookup", &naming(&token));
    assert_eq!(other.expect(200).data(), shown);
    let rights = server.send(
        Method::Post,
        "sys/capabilities-self",
        Some(&token),
        r#"{"path":"sys/mounts"}"#,
    );
    let rights = rights.expect(200).data();
    assert_eq!(
        rights["sys/mounts"],
        json!([
            "create", "delete", "list", "patch", "read", "sudo", "update"
        ])
    );
}

#[test]
fn what_cannot_be_done_with_a_batch_token_is_refused_in_the_contracts_words() {
    let server = Server::initialized();
    let (token, _) = made(&server);
    let before = server.commits();
    let own = |path: &str, body: &str| server.send(Method::Post, path, Some(&token), body);
    let not_renewed = "batch tokens cannot be renewed";
    own("auth/token/renew-self", "{}").refused(400, not_renewed);
    let named = server.post("auth/token/renew", &naming(&token));
    named.refused(400, not_renewed);
    let not_revoked = "batch tokens cannot be revoked";
    own("auth/token/revoke-self", "{}").refused(400, not_revoked);
    let named = server.post("auth/token/revoke", &naming(&token));
    named.refused(400, not_revoked);
    for path in [CREATE, "auth/token/create-orphan"] {
        for body in [
            r#"{"policies":["all"]}"#,
            r#"{"type":"batch"}"#,
            r#"{"type":"x"}"#,
        ] {
            own(path, body).refused(400, "batch tokens cannot create more tokens");
        }
    }
    assert_eq!(server.commits(), before);
    let own = server.send(Method::Get, "auth/token/lookup-self", Some(&token), "");
    own.expect(200);
}

#[test]
fn contract_5_4_refusals_of_create_have_their_texts_and_store_nothing() {
    let server = Server::initialized();
    made(&server);
    let before = server.commits();
    let long = format!(r#""policies":["a"],"meta":{{"a":"{}"}}"#, "x".repeat(8192));
    for (fields, text) in [
        (
            r#""num_uses":1"#,
            "batch tokens cannot have \"num_uses\" set",
        ),
        (
            r#""period":"1h""#,
            "batch tokens cannot have \"period\" set",
        ),
        (
            r#""explicit_max_ttl":"1h","num_uses":1,"period":"1h""#,
            "batch tokens cannot have \"explicit_max_ttl\" set",
        ),
        (r#""renewable":true"#, "batch tokens cannot be root tokens"),
        (
            r#""policies":["root"],"ttl":"1h""#,
            "batch tokens cannot be root tokens",
        ),
        (r#""policies":["a"],"ttl":"-1s""#, "ttl must be positive"),
        (
            r#""entity_alias":"a","policies":["a"]"#,
            "'entity_alias' is only allowed in combination with token role",
        ),
        (
            &long,
            "a batch token holds at most 8192 bytes: attach less metadata or fewer policies, or use a service token",
        ),
    ] {
        let body = format!(r#"{{"type":"batch",{fields}}}"#);
        for path in [CREATE, "auth/token/create-orphan"] {
            server.post(path, &body).refused(400, text);
        }
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_5_1_a_batch_token_is_unusable_once_its_parent_is_gone() {
    let server = Server::initialized();
    let parent = token_in(&server.post(CREATE, r#"{"policies":["default"]}"#));
    let policy = json!({ "policy": ALL }).to_string();
    server.post("sys/policies/acl/default", &policy).expect(204);
    let body = r#"{"type":"batch","ttl":"2h"}"#;
    let child = token_in(&server.send(Method::Post, CREATE, Some(&parent), body));
    let orphan = server.send(
        Method::Post,
        "auth/token/create-orphan",
        Some(&parent),
        body,
    );
    let orphan = token_in(&orphan);
    let own = |token: &str| server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    own(&child).expect(200);
    server
        .post("auth/token/revoke", &naming(&parent))
        .expect(204);
    own(&child).refused(403, INVALID);
    let named = server.post("auth/token/lookup", &naming(&child));
    named.refused(403, "bad token");
    assert_eq!(own(&orphan).expect(200).data()["orphan"], json!(true));
}

#[test]
fn t10_no_batch_token_that_is_not_valid_can_be_told_from_another_unknown_token() {
    let server = Server::initialized();
    let (token, _) = made(&server);
    let (left, right) = token.split_at(60);
    let other = if right.starts_with('A') { "B" } else { "A" };
    let altered = [left, other, right.split_at(1).1].concat();
    let cut = token.split_at(token.len() - 4).0.to_owned();
    let short = server.post(CREATE, r#"{"type":"batch","policies":["a"],"ttl":1}"#);
    let expired = token_in(&short);
    server.pass(1);
    let unknown = server.send(Method::Get, "sys/auth", Some("hvs.unknown"), "");
    for token in [altered, cut, expired, "hvb.".to_owned(), "hvb.%".to_owned()] {
        let answer = server.send(Method::Get, "sys/auth", Some(&token), "");
        assert_eq!((answer.0.status, answer.text()), (403, unknown.text()));
        server
            .post("auth/token/lookup", &naming(&token))
            .refused(403, "bad token");
        server
            .post("auth/token/renew", &naming(&token))
            .refused(400, "token not found");
        server
            .post("auth/token/revoke", &naming(&token))
            .expect(204);
    }
}

#[test]
fn a_batch_login_hands_out_a_token_that_works_and_stores_none() {
    let server = Server::with_role();
    let auth = login(&server, None).expect(200).json()["auth"].clone();
    let token = auth["client_token"].as_str().unwrap();
    assert_eq!(
        auth,
        json!({"client_token": token, "accessor": "", "policies": ["default", "prod"],
            "token_policies": ["default", "prod"], "metadata": {"project_id": "p1", "role": "dev"},
            "lease_duration": 2_764_800, "renewable": false, "entity_id": auth["entity_id"], "token_type": "batch",
            "orphan": true, "mfa_requirement": null, "num_uses": 0})
    );
    let own = server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    assert_eq!(own.expect(200).data()["path"], "auth/gcp/login");
    let before = server.commits();
    login(&server, None).expect(200);
    assert_eq!(server.commits(), before);
}

#[test]
fn d27_a_batch_login_with_a_limit_of_uses_or_a_period_is_refused() {
    let server = Server::with_role();
    let before = server.commits();
    for (num_uses, period, field) in [(1, 0, "num_uses"), (0, 60, "period"), (1, 60, "num_uses")] {
        let mut caller = identity();
        caller.token.token_type = TokenType::Batch;
        caller.token.number_of_uses = num_uses;
        caller.token.period = period;
        server.script.login.is(Ok(caller));
        let text = format!("batch tokens cannot have \"{field}\" set");
        server
            .send(Method::Put, "auth/gcp/login", None, LOGIN)
            .refused(400, &text);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn contract_1_8_a_wrapped_batch_login_names_no_accessor_and_unwraps_to_a_token_that_works() {
    let server = Server::with_role();
    let wrapped = login(&server, Some("60")).expect(200).json()["wrap_info"].clone();
    assert!(wrapped.get("wrapped_accessor").is_none(), "{wrapped}");
    let wrapping = wrapped["token"].as_str().unwrap();
    let answer = server.send(Method::Put, "sys/wrapping/unwrap", Some(wrapping), "");
    let auth = answer.expect(200).json()["auth"].clone();
    assert_eq!(
        (&auth["token_type"], &auth["accessor"]),
        (&json!("batch"), &json!(""))
    );
    let token = auth["client_token"].as_str().unwrap();
    let own = server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    own.expect(200);
}

#[test]
fn t11_a_new_token_that_cannot_be_wrapped_is_not_kept() {
    let server = Server::initialized();
    let tokens = || -> Vec<String> {
        let mut keys = server.access_store.keys();
        keys.retain(|key| key.starts_with("token/") || key.starts_with("accessor/"));
        keys
    };
    let before = tokens();
    let body = json!({ "meta": { "note": "x".repeat(720 * 1024) } }).to_string();
    let mut request = request(Method::Post, CREATE, &body);
    request.headers = Headers::from_iter([
        ("X-Vault-Wrap-TTL", "60"),
        ("X-Vault-Token", super::server::ROOT),
    ]);
    let answer = server.handle(&request);
    assert_eq!(answer.0.status, 400, "{}", answer.text());
    assert_eq!(tokens(), before);
}

#[test]
fn t11_a_renewal_that_cannot_be_wrapped_leaves_the_token_alone() {
    let server = Server::initialized();
    let body = json!({ "policies": ["default"], "meta": { "note": "short" } });
    let token = token_in(&server.post(CREATE, &body.to_string()).expect(200));
    // An earlier version did not limit the metadata, and could store this.
    for key in server.access_store.keys() {
        let entry = server.access_store.get(&[&key]).unwrap().remove(0);
        let value = String::from_utf8(entry.unwrap().value).unwrap();
        let long = value.replace("\"short\"", &format!("\"{}\"", "x".repeat(720 * 1024)));
        if long != value {
            let change = Change::Put(Put {
                key,
                value: long.into_bytes(),
                expires_at: None,
            });
            server
                .access_store
                .commit(Vec::new(), vec![change])
                .unwrap();
        }
    }
    let mut request = request(Method::Post, "auth/token/renew-self", "{}");
    request.headers = Headers::from_iter([
        ("X-Vault-Wrap-TTL", "60"),
        ("X-Vault-Token", token.as_str()),
    ]);
    assert_eq!(server.handle(&request).0.status, 400);
    let own = server.send(Method::Get, "auth/token/lookup-self", Some(&token), "");
    own.expect(200);
}

#[test]
fn a_supplied_id_is_ignored_with_a_warning() {
    let server = Server::initialized();
    let body = r#"{"type":"batch","policies":["default"],"id":"mine"}"#;
    let answer = server.post(CREATE, body).expect(200);
    assert_eq!(
        answer.warnings(),
        ["The supplied ID was ignored: a batch token consists of what it carries"]
    );
    let mine = server.send(Method::Get, "auth/token/lookup-self", Some("mine"), "");
    mine.refused(403, INVALID);
}
