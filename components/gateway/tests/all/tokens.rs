//! Tokens (contract 5.4, 5.5).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{NOW, ROOT, Server, listed};

fn create(server: &Server, body: &str) -> (String, serde_json::Value) {
    let auth = server.post("auth/token/create", body).expect(200).json()["auth"].clone();
    (auth["client_token"].as_str().unwrap().to_owned(), auth)
}

#[test]
fn a_created_token_is_shown_once_and_looks_itself_up() {
    let server = Server::initialized();
    let body = r#"{"policies":["default"],"ttl":"1h0m0s","explicit_max_ttl":"0s","period":"0s","display_name":"ci","num_uses":0,
        "renewable":true,"type":"service","entity_alias":"","meta":{"a":"b"}}"#;
    let (token, auth) = create(&server, body);
    assert_eq!(
        auth,
        json!({"client_token": token, "accessor": auth["accessor"], "policies": ["default"], "token_policies": ["default"],
            "metadata": {"a": "b"}, "lease_duration": 3600, "renewable": true, "entity_id": "", "token_type": "service",
            "orphan": false, "mfa_requirement": null, "num_uses": 0})
    );
    let lookup = server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .expect(200)
        .json();
    assert_eq!(lookup["mount_type"], "token");
    assert_eq!(
        lookup["data"],
        json!({"accessor": auth["accessor"], "creation_time": NOW, "creation_ttl": 3600, "display_name": "token-ci",
            "entity_id": "", "expire_time": "2026-11-21T11:00:00Z", "explicit_max_ttl": 0, "id": token,
            "issue_time": "2026-11-21T10:00:00Z", "meta": {"a": "b"}, "num_uses": 0, "orphan": false,
            "path": "auth/token/create", "policies": ["default"], "renewable": true, "ttl": 3600, "type": "service"})
    );
    let stored = server.access_store.values().concat();
    assert!(!String::from_utf8_lossy(&stored).contains(&token));
}

#[test]
fn lookups_by_token_and_accessor() {
    let server = Server::initialized();
    let (token, auth) = create(&server, "{}");
    let other = server
        .post("auth/token/lookup", &json!({"token": token}).to_string())
        .expect(200);
    assert_eq!(other.data()["id"], token.as_str());
    assert_eq!(server.post("auth/token/lookup", "{}").data()["id"], ROOT);
    let read = |target: &str| server.get(target).expect(200).data();
    assert_eq!(read("auth/token/lookup")["id"], ROOT);
    let named = read(&format!("auth/token/lookup?token={token}"));
    assert_eq!(named, other.data());
    server
        .get("auth/token/lookup?token=hvs.x")
        .refused(403, "bad token");
    let by_accessor = json!({"accessor": auth["accessor"]}).to_string();
    let by_accessor = server
        .post("auth/token/lookup-accessor", &by_accessor)
        .expect(200);
    assert_eq!(by_accessor.data()["id"], "");
    server
        .post("auth/token/lookup", r#"{"token":"hvs.x"}"#)
        .refused(403, "bad token");
    server
        .post("auth/token/lookup-accessor", "{}")
        .refused(400, &listed("missing accessor"));
    let unknown = server.post("auth/token/lookup-accessor", r#"{"accessor":"x"}"#);
    unknown.refused(400, &listed("invalid accessor"));
}

#[test]
fn renewal_extends_and_says_when_it_was() {
    let server = Server::initialized();
    let (token, _) = create(&server, r#"{"policies":["default"],"ttl":"1h"}"#);
    server.pass(600);
    let renew = |body: &str| server.send(Method::Put, "auth/token/renew-self", Some(&token), body);
    let auth = renew(r#"{"increment":0}"#).expect(200).json()["auth"].clone();
    assert_eq!(
        (&auth["client_token"], &auth["lease_duration"]),
        (&json!(token), &json!(3600))
    );
    let data = server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .data();
    assert_eq!(data["last_renewal_time"], NOW + 600);
    assert_eq!(data["last_renewal"], "2026-11-21T10:10:00Z");
    assert_eq!(
        renew(r#"{"increment":"2h"}"#).json()["auth"]["lease_duration"],
        7200
    );
    let capped = renew(r#"{"increment":"9999h"}"#).expect(200).warnings();
    assert!(
        capped[0].starts_with(
            "TTL of \"9999h\" exceeded the effective max_ttl of \"767h50m\"; TTL value is capped"
        ),
        "{capped:?}"
    );
    renew(r#"{"increment":-1}"#).expect(400);
    server
        .post("auth/token/renew-self", "")
        .refused(400, "lease is not renewable");
    server
        .post("auth/token/renew", "{}")
        .refused(400, "missing token ID");
    server
        .post("auth/token/renew", r#"{"token":"x"}"#)
        .refused(400, "token not found");
}

#[test]
fn revocation_ends_a_token_and_its_children() {
    let server = Server::initialized();
    let (parent, auth) = create(&server, r#"{"policies":["root"]}"#);
    let child = server
        .send(Method::Post, "auth/token/create", Some(&parent), "{}")
        .expect(200)
        .json();
    let child = child["auth"]["client_token"].as_str().unwrap().to_owned();
    let body = json!({"accessor": auth["accessor"]}).to_string();
    server.post("auth/token/revoke-accessor", &body).expect(204);
    for token in [&parent, &child] {
        server
            .send(Method::Get, "auth/token/lookup-self", Some(token), "")
            .expect(403);
    }
    let again = server.post("auth/token/revoke-accessor", &body).expect(200);
    assert_eq!(again.warnings(), ["No token found with this accessor"]);
    server
        .post("auth/token/revoke", r#"{"token":"hvs.x"}"#)
        .expect(204);
    server
        .post("auth/token/revoke", "{}")
        .refused(400, "missing token ID");
    let (token, _) = create(&server, "{}");
    server
        .send(Method::Put, "auth/token/revoke-self", Some(&token), "")
        .expect(204);
    server
        .send(Method::Put, "auth/token/revoke-self", Some(&token), "")
        .expect(403);
}

#[test]
fn contract_5_4_revoke_orphan_ends_a_token_and_leaves_its_children() {
    let server = Server::initialized();
    let (parent, _) = create(&server, r#"{"policies":["root"]}"#);
    let child = server.send(Method::Post, "auth/token/create", Some(&parent), "{}");
    let child = child.expect(200).json()["auth"]["client_token"].clone();
    let child = child.as_str().unwrap();
    let body = json!({ "token": parent }).to_string();
    let revoke = |caller: &str, body: &str| {
        server.send(Method::Put, "auth/token/revoke-orphan", Some(caller), body)
    };
    let update = |sudo: &str| {
        let policy =
            format!(r#"path "auth/token/revoke-orphan" {{ capabilities = ["update"{sudo}] }}"#);
        server.token_with(&policy)
    };
    let without = "root or sudo privileges required to revoke and orphan";
    revoke(&update(""), &body).refused(400, without);
    revoke(&update(""), "{}").refused(400, "missing token ID");
    revoke(&update(r#","sudo""#), &body).expect(204);
    revoke(ROOT, &body).refused(400, "token to revoke not found");
    let own = |token: &str| server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    own(&parent).expect(403);
    assert_eq!(own(child).expect(200).data()["orphan"], true);
    let keys = server.access_store.keys();
    assert!(keys.iter().any(|key| key.starts_with("relinquished/")));
}

#[test]
fn contract_5_4_tidy_is_accepted_and_background_work_removes_what_leads_nowhere() {
    let server = Server::initialized();
    server.run_background();
    let before = server.access_store.keys();
    let (parent, _) = create(&server, r#"{"policies":["root"],"ttl":"1m"}"#);
    server
        .send(
            Method::Post,
            "auth/token/create",
            Some(&parent),
            r#"{"ttl":"1h"}"#,
        )
        .expect(200);
    server.pass(60);
    assert_ne!(server.access_store.keys(), before);
    let answer = server.post("auth/token/tidy", "").expect(202);
    assert!(answer.warnings()[0].starts_with("Tidy operation successfully started."));
    assert_eq!(answer.data(), json!(null));
    // No request deletes records by the clock, which may be wrong (SEC-T6).
    assert_ne!(server.access_store.keys(), before);
    let again = server.post("auth/token/tidy", "").expect(200);
    assert_eq!(again.warnings(), ["Tidy operation already in progress."]);
    server.run_background();
    assert_eq!(server.access_store.keys(), before);
    server.get("auth/token/tidy").expect(405);
}

#[test]
fn refusals_of_create_have_their_texts_and_store_nothing() {
    let server = Server::initialized();
    let before = server.commits();
    for (body, text) in [
        (r#"{"ttl":"-1s"}"#, "ttl must be positive"),
        (r#"{"num_uses":-1}"#, "number of uses cannot be negative"),
        (r#"{"type":"x"}"#, "invalid 'token_type' value"),
        (
            r#"{"id":"hvs.x"}"#,
            "custom token ID cannot have the 'hvs.' prefix",
        ),
        (
            r#"{"id":"root-token"}"#,
            "cannot create a token with a duplicate ID",
        ),
        (
            r#"{"policies":["response-wrapping"]}"#,
            "cannot assign policy \"response-wrapping\"",
        ),
        (
            r#"{"entity_alias":"x"}"#,
            "'entity_alias' is only allowed in combination with token role",
        ),
        (
            r#"{"type":"batch","num_uses":1,"policies":["a"]}"#,
            "batch tokens cannot have \"num_uses\" set",
        ),
    ] {
        server.post("auth/token/create", body).refused(400, text);
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn warnings_come_in_the_order_of_the_contract() {
    let server = Server::initialized();
    let body = r#"{"id":"mine","policies":["a,b"],"ttl":"9999h","zz":1,"yy":2}"#;
    let warnings = server
        .post("auth/token/create", body)
        .expect(200)
        .warnings();
    let position = |part: &str| warnings.iter().position(|warning| warning.contains(part));
    assert!(
        position("Policy \"a,b\" does not exist").is_some(),
        "{warnings:?}"
    );
    assert!(
        position("TTL of \"9999h\"") < position("Policy \"a,b\""),
        "{warnings:?}"
    );
    let last = "Endpoint ignored these unrecognized parameters: [yy zz]";
    assert_eq!(warnings.last().unwrap(), last);
}

#[test]
fn t10_tokens_that_are_not_valid_are_refused_in_the_same_bytes() {
    let server = Server::initialized();
    let (expired, _) = create(&server, r#"{"policies":["default"],"ttl":"1m"}"#);
    let (revoked, _) = create(&server, r#"{"policies":["default"]}"#);
    let (used_up, _) = create(&server, r#"{"policies":["default"],"num_uses":1}"#);
    let (orphaned, _) = create(&server, r#"{"policies":["default"]}"#);
    let (live, auth) = create(&server, r#"{"policies":["default"]}"#);
    let end = |path: &str, token: &str| {
        server
            .post(path, &json!({ "token": token }).to_string())
            .expect(204);
    };
    end("auth/token/revoke", &revoked);
    end("auth/token/revoke-orphan", &orphaned);
    let own = |token: &str| server.send(Method::Get, "auth/token/lookup-self", Some(token), "");
    own(&used_up).expect(200);
    server.pass(60);
    own(&live).expect(200);
    let unknown = own("hvs.unknown").expect(403);
    for token in [
        &expired,
        &revoked,
        &used_up,
        &orphaned,
        auth["accessor"].as_str().unwrap(),
        &live[..live.len() - 1],
        &format!("{live}x"),
        "hvs.",
        "hvb.",
        "hvb.AAAA",
        "s.x",
        "x",
        &"x".repeat(5_000),
        "\u{e4}",
    ] {
        let refused = own(token).expect(403);
        assert_eq!(refused.0.body, unknown.0.body, "{token}");
        let names = |answer: &super::server::Answer| format!("{:?}", answer.0.headers);
        assert_eq!(names(&refused), names(&unknown));
    }
}

#[test]
fn a4_blank_policies_never_make_a_root_token() {
    let server = Server::initialized();
    for path in ["auth/token/create", "auth/token/create-orphan"] {
        for blanks in [json!([""]), json!([" "]), json!(" "), json!("")] {
            let body = json!({"policies": blanks}).to_string();
            let auth = server.post(path, &body).expect(200).json()["auth"].clone();
            assert_eq!(auth["policies"], json!(["default"]), "{path} {blanks}");
            assert_ne!(auth["lease_duration"], 0);
        }
    }
}
