//! The checks before a request reaches an organization, and the headers of every answer.

use super::*;

const LIST: &str = "/api/v2/organizations";

#[test]
fn contract_1_2_discovery_needs_no_token_and_is_plain_json() {
    let world = hosted();
    for token in [None, Some("no-such-token")] {
        let target = "/.well-known/terraform.json";
        let response = world.handle(&request(Method::Get, target, token));
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        let services: Value = serde_json::from_slice(&response.body).unwrap();
        for key in ["tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"] {
            assert_eq!(services[key], "/api/v2/");
        }
        assert!(services["modules.v1"].as_str().unwrap().ends_with('/'));
    }
}

#[test]
fn contract_1_3_ping_answers_everybody() {
    let world = hosted();
    for token in [None, Some("no-such-token"), Some(ROOT)] {
        let response = world.handle(&request(Method::Get, "/api/v2/ping", token));
        assert_eq!((response.status, response.body.len()), (204, 0));
        assert_eq!(response.header("content-type"), None);
        assert_eq!(response.header("tfp-api-version"), Some("2.6"));
        assert_eq!(response.header("tfp-appname"), Some("HCP Terraform"));
    }
}

#[test]
fn contract_1_3_and_7_headers_are_on_every_answer() {
    let world = self_hosted();
    for target in [
        LIST,
        "/api/v2/organizations/none",
        "/api/v2/frob",
        "/api/v2/ping",
        "/api/v2//",
    ] {
        let response = world.get(target);
        assert_eq!(
            response.header("tfp-appname"),
            Some("Terraform Enterprise"),
            "{target}"
        );
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("x-request-id").unwrap().len(), 36);
    }
    let mut named = request(Method::Get, LIST, None);
    named.headers.push("x-request-id", "trace-7");
    let response = world.handle(&named);
    assert_eq!(response.header("x-request-id"), Some("trace-7"));
}

#[test]
fn contract_1_1_unknown_routes_and_methods_are_not_found_even_without_a_token() {
    let world = hosted();
    world.create_named("acme");
    for (method, target) in [
        (Method::Get, "/api/v2"),
        (Method::Get, "/api/v2/"),
        (Method::Get, "/api/v2/frob"),
        (Method::Get, "/api/v2/organizations/acme/frob"),
        (Method::Get, "/api/v2/organizations/acme/entitlement-set/x"),
        (Method::Get, "/api/v3/organizations"),
        (Method::Get, "/api/registry/v1/modules/x"),
        (Method::Put, LIST),
        (Method::Delete, LIST),
        (Method::List, LIST),
        (Method::Options, LIST),
        (Method::Other, LIST),
        (Method::Post, "/api/v2/organizations/acme"),
        (Method::Post, "/api/v2/ping"),
        (Method::Post, "/.well-known/terraform.json"),
        // No resource can have such a path.
        (Method::Get, "/api/v2//organizations"),
        (Method::Get, "/api/v2/../v2/organizations"),
        (Method::Get, "/api/v2/organizations/%00"),
        (Method::Get, "/api/v2/organizations/%zz"),
        (Method::Get, "/api/v2/organizations/a%2Fb"),
        (Method::Get, "/api/v2/organizations/%ff%fe"),
    ] {
        for token in [None, Some(ROOT)] {
            let response = world.handle(&request(method, target, token));
            if target == "/.well-known/terraform.json" || target.starts_with("/api/") {
                assert_not_found(&response);
            }
        }
    }
}

#[test]
fn garbage_in_a_known_place_is_not_found_and_never_a_fault_of_the_server() {
    let world = hosted();
    for name in [
        "no name",
        "%20",
        "caf%C3%A9",
        "a.b",
        "x*",
        "%25",
        &"n".repeat(4000),
        "-%5B%5D",
    ] {
        let target = format!("/api/v2/organizations/{name}");
        for method in [Method::Get, Method::Delete] {
            assert_not_found(&world.send(method, &target, None));
        }
        assert_not_found(&world.update(name, &json!({"email": "a@b"})));
        assert_not_found(&world.get(&format!("{target}/entitlement-set")));
        assert_not_found(&world.get(&format!("/api/v2/entitlement-sets/{name}")));
        let unauthenticated = world.handle(&request(Method::Get, &target, None));
        assert_eq!(unauthenticated.status, 401);
    }
}

#[test]
fn h13_contract_1_6_without_a_valid_token_everything_is_unauthorized() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let acme = "/api/v2/organizations/acme";
    for (method, target) in [
        (Method::Get, LIST),
        (Method::Post, LIST),
        (Method::Get, acme),
        (Method::Patch, acme),
        (Method::Put, acme),
        (Method::Delete, acme),
        (Method::Get, "/api/v2/organizations/none"),
        (Method::Get, "/api/v2/organizations/acme/entitlement-set"),
        (Method::Get, "/api/v2/entitlement-sets/org-0123456789abcdef"),
    ] {
        for token in [None, Some("no-such-token"), Some("hvs.aaaa"), Some("é")] {
            let document = document(&json!({"name": "x", "email": "a@b"})).to_string();
            let sent = with_body(request(method, target, token), Some("text/plain"), document);
            let response = world.handle(&sent);
            assert_eq!(response.status, 401, "{target}");
            let expected = r#"{"errors":[{"status":"401","title":"unauthorized"}]}"#;
            assert_eq!(text(&response), expected);
        }
    }
    let mut basic = request(Method::Get, LIST, None);
    basic.headers.push("authorization", format!("Basic {ROOT}"));
    basic.headers.push("cookie", format!("token={ROOT}"));
    assert_eq!(world.handle(&basic).status, 401);
    let mut lower_case = request(Method::Get, LIST, None);
    lower_case
        .headers
        .push("authorization", format!("bearer {ROOT}"));
    assert_eq!(world.handle(&lower_case).status, 200);
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_1_4_a_body_of_another_type_is_refused_before_the_organization_is_looked_for() {
    let world = hosted();
    for (method, target) in [
        (Method::Post, LIST),
        (Method::Patch, "/api/v2/organizations/none"),
        (Method::Put, "/api/v2/organizations/none"),
        (Method::Delete, "/api/v2/organizations/none"),
    ] {
        for media_type in [
            None,
            Some("text/plain"),
            Some("multipart/form-data; boundary=x"),
        ] {
            let sent = with_body(request(method, target, Some(ROOT)), media_type, "{}");
            let response = world.handle(&sent);
            assert_eq!(response.status, 415);
            let error = &body(&response)["errors"][0];
            assert_eq!(error["title"], "invalid content type");
            assert_eq!(
                error["detail"],
                "content-type must be application/vnd.api+json"
            );
        }
    }
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn h10_compressed_bodies_are_refused_and_store_nothing() {
    let world = hosted();
    let document = document(&json!({"name": "acme", "email": "a@b"})).to_string();
    let mut sent = with_body(
        request(Method::Post, LIST, Some(ROOT)),
        Some("application/vnd.api+json"),
        document,
    );
    sent.headers.push("Content-Encoding", "gzip");
    let response = world.handle(&sent);
    assert_eq!(response.status, 415);
    let error = &body(&response)["errors"][0];
    assert_eq!(error["title"], "invalid content encoding");
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn contract_1_4_json_is_accepted_and_reading_needs_no_type_at_all() {
    let world = hosted();
    let document = document(&json!({"name": "acme", "email": "a@b"})).to_string();
    let sent = with_body(
        request(Method::Post, LIST, Some(ROOT)),
        Some("application/json; charset=utf-8"),
        document,
    );
    assert_eq!(world.handle(&sent).status, 201);
    let mut read = request(Method::Get, "/api/v2/organizations/acme", Some(ROOT));
    read.headers.push("content-type", "text/html");
    read.headers.push("accept", "text/html");
    assert_eq!(world.handle(&read).status, 200);
}

#[test]
fn contract_1_5_an_unknown_organization_is_told_before_a_bad_body() {
    let world = hosted();
    world.create_named("acme");
    for (name, status) in [("none", 404), ("acme", 400)] {
        let target = format!("/api/v2/organizations/{name}");
        let sent = with_body(
            request(Method::Patch, &target, Some(ROOT)),
            Some(JSON_API),
            "{",
        );
        assert_eq!(world.handle(&sent).status, status);
    }
    assert_not_found(&world.get("/api/v2/organizations/none?include=frob"));
}

#[test]
fn contract_1_8_bodies_that_are_not_json() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let deep = format!("{{\"data\":{}{}}}", "[".repeat(64), "]".repeat(64));
    let bodies: [&[u8]; 5] = [
        b"",
        b"{",
        b"{\"data\":{}} x",
        b"{\"a\":\"\xff\"}",
        deep.as_bytes(),
    ];
    for (method, target) in [
        (Method::Post, LIST),
        (Method::Patch, "/api/v2/organizations/acme"),
    ] {
        for body_sent in bodies {
            let sent = with_body(
                request(method, target, Some(ROOT)),
                Some(JSON_API),
                body_sent,
            );
            let response = world.handle(&sent);
            assert_eq!(response.status, 400);
            let error = &body(&response)["errors"][0];
            assert_eq!(
                (&error["status"], &error["title"]),
                (&json!("400"), &json!("JSON body is invalid"))
            );
            assert!(!error["detail"].as_str().unwrap().is_empty());
        }
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_7_a_body_above_the_limit_is_refused_as_json_api() {
    let world = hosted();
    let mut exact = document(&json!({"name": "acme", "email": "a@b"})).to_string();
    exact.push_str(&" ".repeat(gatehouse_gateway::MAXIMUM_BODY_BYTES - exact.len()));
    for (text, status) in [(format!("{exact} "), 413), (exact, 201)] {
        let sent = with_body(
            request(Method::Post, LIST, Some(ROOT)),
            Some(JSON_API),
            text,
        );
        let response = world.handle(&sent);
        assert_eq!(response.status, status);
        assert_eq!(response.header("tfp-api-version"), Some("2.6"));
        assert_eq!(response.header("content-type"), Some(JSON_API));
    }
}

#[test]
fn contract_1_8_document_faults() {
    let world = hosted();
    for (document, pointer) in [
        (json!({}), "/data"),
        (json!({"data": []}), "/data"),
        (json!([1]), "/data"),
        (json!({"data": {"attributes": {"name": "x"}}}), "/data/type"),
        (json!({"data": {"type": "organisations"}}), "/data/type"),
        (
            json!({"data": {"type": "organizations", "attributes": "x"}}),
            "/data/attributes",
        ),
    ] {
        let response = world.send(Method::Post, LIST, Some(&document));
        assert_eq!(
            body(&response)["errors"][0]["title"],
            "unprocessable entity"
        );
        assert_eq!(faults(&response)[0].0, pointer);
    }
    assert_eq!(world.store.commits(), 0);
}

#[test]
fn contract_1_10_a_duplicate_member_counts_the_last_time() {
    let world = hosted();
    let text = r#"{"data":{"type":"x","type":"organizations","attributes":{"name":"one","email":"a@b","name":"two"}}}"#;
    let sent = with_body(
        request(Method::Post, LIST, Some(ROOT)),
        Some(JSON_API),
        text,
    );
    let response = world.handle(&sent);
    assert_eq!(body(&response)["data"]["id"], "two");
}
