//! The wrapping of any answer.

use gatehouse_gateway::{Headers, Method};
use serde_json::{Value, json};

use super::{INVALID, naming, send_wrapped, token_of, unwrap, without_id, wrapped};
use crate::server::{ROOT, Server, identity, request};

#[test]
fn a_list_is_wrapped_and_unwrapped_as_it_was() {
    let server = Server::with_role();
    let plain = server.list("auth/gcp/roles").expect(200);
    let answer = wrapped(&server, Method::List, "auth/gcp/roles", "").expect(200);
    let token = token_of(&answer);
    let envelope = answer.json();
    let accessor = envelope["wrap_info"]["accessor"].as_str().unwrap();
    assert_eq!(
        (token.len(), accessor.len()),
        (gatehouse_access::ROOT_TOKEN_CHARACTERS, 26)
    );
    assert_eq!(
        envelope,
        json!({"request_id": "", "lease_id": "", "renewable": false, "lease_duration": 0, "data": null,
            "wrap_info": {"token": token, "accessor": accessor, "ttl": 60, "creation_time": "2026-11-21T10:00:00Z",
                "creation_path": "auth/gcp/roles/"},
            "warnings": null, "auth": null, "mount_type": ""})
    );
    let unwrapped = unwrap(&server, &token).expect(200);
    assert_eq!(without_id(&unwrapped), without_id(&plain));
    assert_ne!(unwrapped.json()["request_id"], plain.json()["request_id"]);
    unwrap(&server, &token).refused(400, INVALID);
}

#[test]
fn members_copied_to_the_top_level_and_warnings_come_back() {
    let server = Server::with_role();
    for (method, target, body) in [
        (Method::Get, "sys/policy", ""),
        (Method::Get, "sys/auth", ""),
        (Method::Post, "auth/gcp/role/dev", r#"{"project_id":"p1"}"#),
        (
            Method::Post,
            "auth/token/revoke-accessor",
            r#"{"accessor":"x"}"#,
        ),
    ] {
        let plain = server.send(method, target, Some(ROOT), body).expect(200);
        let answer = wrapped(&server, method, target, body).expect(200);
        assert_eq!(answer.json()["warnings"], Value::Null);
        assert!(answer.json().get("keys").is_none());
        let unwrapped = unwrap(&server, &token_of(&answer)).expect(200);
        assert_eq!(without_id(&unwrapped), without_id(&plain), "{target}");
    }
}

#[test]
fn a_wrapped_login_shows_its_token_to_nobody_but_who_unwraps_it() {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    let answer = send_wrapped(&server, Method::Put, "auth/gcp/login", None, "5m0s", body);
    let envelope = answer.json();
    let info = &envelope["wrap_info"];
    assert_eq!(
        (&envelope["auth"], &envelope["data"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&info["ttl"], &info["creation_path"]),
        (&json!(300), &json!("auth/gcp/login"))
    );

    let unwrapped = unwrap(&server, &token_of(&answer)).expect(200).json();
    let auth = &unwrapped["auth"];
    let inner = auth["client_token"].as_str().unwrap();
    assert!(!answer.text().contains(inner));
    assert_eq!(info["wrapped_accessor"], auth["accessor"]);
    assert_eq!(auth["policies"], json!(["default", "prod"]));
    assert_eq!(
        (&unwrapped["mount_type"], &unwrapped["wrap_info"]),
        (&json!("gcp"), &Value::Null)
    );
    server
        .send(Method::Get, "auth/token/lookup-self", Some(inner), "")
        .expect(200);
}

#[test]
fn t2_neither_the_wrapping_token_nor_the_token_inside_is_stored_in_clear() {
    let server = Server::initialized();
    let answer = wrapped(
        &server,
        Method::Post,
        "auth/token/create",
        r#"{"policies":["default"]}"#,
    );
    let outer = token_of(&answer);
    let stored = server.access_store.values().concat();
    let inner = unwrap(&server, &outer).json()["auth"]["client_token"].clone();
    for token in [outer.as_str(), inner.as_str().unwrap()] {
        assert!(!String::from_utf8_lossy(&stored).contains(token));
    }
}

#[test]
fn errors_and_answers_without_a_body_are_not_wrapped() {
    let server = Server::with_method();
    let before = server.access_store.keys();
    wrapped(&server, Method::Get, "auth/gcp/role/none", "").silently_refused(404);
    wrapped(&server, Method::Get, "secret/x", "").expect(404);
    wrapped(&server, Method::Post, "auth/gcp/config", "{").refused(400, "error parsing JSON");
    let written = wrapped(
        &server,
        Method::Post,
        "auth/gcp/config",
        r#"{"iam_alias":"role_id"}"#,
    );
    assert!(written.expect(204).0.body.is_empty());
    send_wrapped(&server, Method::Get, "sys/auth", None, "60", "")
        .refused(403, "permission denied");
    assert_eq!(server.access_store.keys(), before);
}

#[test]
fn answers_without_an_envelope_are_not_wrapped() {
    let server = Server::initialized();
    for target in [
        "sys/health",
        "sys/seal-status",
        "sys/leader",
        "sys/init",
        "sys/auth?help=1",
    ] {
        let answer = wrapped(&server, Method::Get, target, "").expect(200);
        assert!(answer.json().get("wrap_info").is_none(), "{target}");
    }
}

#[test]
fn contract_1_8_documents_that_cannot_be_wrapped_are_refused_to_who_asks_for_that() {
    let server = Server::initialized();
    for target in [
        "sys/metrics",
        "sys/internal/specs/openapi",
        "sys/in-flight-req",
        "sys/monitor",
        "sys/backup",
    ] {
        wrapped(&server, Method::Get, target, "").refused(
            400,
            "documents cannot be wrapped: ask without X-Vault-Wrap-TTL",
        );
    }
}

#[test]
fn bad_headers_are_refused_before_anything_happens() {
    let server = Server::initialized();
    let before = server.commits();
    for (ttl, reason) in [
        ("x", "time: invalid duration \"x\""),
        ("-1", "requested wrap ttl cannot be negative"),
        ("-5m", "requested wrap ttl cannot be negative"),
        ("10ms", "requested wrap ttl is less than a second"),
    ] {
        let text = format!("error parsing X-Vault-Wrap-TTL header: {reason}");
        send_wrapped(
            &server,
            Method::Post,
            "auth/token/create",
            Some(ROOT),
            ttl,
            "{}",
        )
        .refused(400, &text);
    }
    assert_eq!(server.commits(), before);
    for ttl in ["", "0", "0s"] {
        let answer =
            send_wrapped(&server, Method::Get, "sys/auth", Some(ROOT), ttl, "").expect(200);
        assert_eq!(answer.json()["wrap_info"], Value::Null);
    }
}

#[test]
fn another_format_than_the_plain_one_makes_no_difference() {
    let server = Server::initialized();
    let mut request = request(Method::Get, "sys/auth", "");
    request.headers = Headers::from_iter([
        ("X-Vault-Token", ROOT),
        ("X-Vault-Wrap-TTL", "60"),
        ("X-Vault-Wrap-Format", "jwt"),
    ]);
    let token = token_of(&server.handle(&request).expect(200));
    assert!(token.starts_with("hvs."));
}

#[test]
fn lives_are_cut_to_the_systems_longest_lease() {
    let server = Server::initialized();
    let answer = send_wrapped(&server, Method::Get, "sys/auth", Some(ROOT), "9999h", "");
    assert_eq!(answer.json()["wrap_info"]["ttl"], 2_764_800);
}

#[test]
fn wrap_keeps_the_fields_of_its_body_to_the_digit() {
    let server = Server::initialized();
    let body =
        r#"{"n":112233445566778899001,"f":1.50,"z":null,"auth":{"a":[1,{}]},"token":"hvs.y"}"#;
    let answer = wrapped(&server, Method::Put, "sys/wrapping/wrap", body).expect(200);
    let unwrapped = unwrap(&server, &token_of(&answer)).expect(200).text();
    let data = r#""data":{"n":112233445566778899001,"f":1.50,"z":null,"auth":{"a":[1,{}]},"token":"hvs.y"},"wrap_info":null"#;
    assert!(unwrapped.contains(data), "{unwrapped}");
    assert!(
        unwrapped.ends_with(r#""auth":null,"mount_type":"system"}"#),
        "{unwrapped}"
    );

    let mut form = request(Method::Post, "sys/wrapping/wrap", "a=1&b=x+y");
    form.headers = Headers::from_iter([
        ("X-Vault-Token", ROOT),
        ("X-Vault-Wrap-TTL", "60"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]);
    let token = token_of(&server.handle(&form).expect(200));
    assert_eq!(
        unwrap(&server, &token).data(),
        json!({"a": "1", "b": "x y"})
    );
    let empty = wrapped(&server, Method::Post, "sys/wrapping/wrap", "").expect(200);
    assert_eq!(unwrap(&server, &token_of(&empty)).data(), json!({}));
}

#[test]
fn wrap_needs_its_header_and_a_body_that_can_be_read() {
    let server = Server::initialized();
    let before = server.commits();
    let text = "endpoint requires response wrapping to be used";
    server
        .post("sys/wrapping/wrap", r#"{"a":1}"#)
        .refused(400, text);
    wrapped(&server, Method::Post, "sys/wrapping/wrap", "[1]").refused(400, "error parsing JSON");
    let large = json!({ "a": "x".repeat(720_000) }).to_string();
    let text = "the response is too large to be wrapped: at most 716800 bytes";
    wrapped(&server, Method::Post, "sys/wrapping/wrap", &large).refused(400, text);
    assert_eq!(server.commits(), before);
}

#[test]
fn the_default_policy_lets_every_token_wrap_and_unwrap() {
    let server = Server::initialized();
    let made = server.post("auth/token/create", r#"{"policies":["default"]}"#);
    let token = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    // The auto-auth daemon sends this for a sink that wants its token wrapped.
    let body = naming(&token);
    let sink = send_wrapped(
        &server,
        Method::Put,
        "sys/wrapping/wrap",
        Some(&token),
        "5m0s",
        &body,
    );
    let unwrapped = unwrap(&server, &token_of(&sink.expect(200)));
    assert_eq!(unwrapped.expect(200).data()["token"], token.as_str());
}
