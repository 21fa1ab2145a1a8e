//! Where the log cannot record, the server does nothing and reveals nothing.

use gatehouse_gateway::{Method, Request};
use serde_json::json;

use crate::recorder::Fails;
use crate::server::{ROOT, Server, identity, listed};

#[test]
fn l1_without_a_record_of_the_request_nothing_is_done() {
    let server = Server::with_role();
    let token = server.token_with(r#"path "nothing" { capabilities = ["read"] }"#);
    let revoke = json!({"token": token}).to_string();
    let writes = [
        (
            Method::Post,
            "sys/policies/acl/x",
            r#"{"policy":"path \"a\" {}"}"#,
        ),
        (
            Method::Post,
            "sys/policy/x",
            r#"{"policy":"path \"a\" {}"}"#,
        ),
        (Method::Delete, "sys/policies/acl/under-test", ""),
        (Method::Post, "sys/auth/other", r#"{"type":"gcp"}"#),
        (Method::Post, "sys/auth/gcp/tune", r#"{"description":"x"}"#),
        (
            Method::Post,
            "auth/gcp/config",
            r#"{"iam_metadata":["role"]}"#,
        ),
        (
            Method::Post,
            "auth/gcp/role/other",
            r#"{"type":"iam","bound_service_accounts":"a@p1.iam.gserviceaccount.com"}"#,
        ),
        (Method::Delete, "auth/gcp/role/dev", ""),
        (Method::Post, "auth/token/create", "{}"),
        (Method::Post, "auth/token/create-orphan", "{}"),
        (Method::Post, "auth/token/renew", &revoke),
        (Method::Post, "auth/token/revoke", &revoke),
        (Method::Post, "identity/entity", r#"{"name":"x"}"#),
        (Method::Post, "identity/group", r#"{"name":"x"}"#),
        (Method::Delete, "sys/auth/gcp", ""),
    ];
    server.audit.fails(Fails::Always);
    let before = server.commits();
    for (method, target, body) in writes {
        server
            .send(method, target, Some(ROOT), body)
            .refused(500, &listed("internal error"));
        assert_eq!(server.commits(), before, "{target}");
    }
    server.script.login.is(Ok(identity()));
    server
        .send(
            Method::Put,
            "auth/gcp/login",
            None,
            r#"{"role":"dev","jwt":"a.b.c"}"#,
        )
        .refused(500, "internal error");
    assert_eq!(server.commits(), before);
    let told = server.operator_lines();
    assert!(
        told.iter()
            .all(|line| line == "no audit sink takes records")
    );
    assert!(!told.is_empty());

    // Everything works again as soon as it can be recorded.
    server.audit.fails(Fails::Never);
    for (method, target, body) in writes {
        let answer = server.send(method, target, Some(ROOT), body);
        assert!(answer.0.status < 300, "{target}: {}", answer.text());
    }
}

#[test]
fn l1_a_server_is_not_initialized_without_a_record() {
    let server = Server::empty();
    server.audit.fails(Fails::Always);
    let answer = server.send(Method::Put, "sys/init", None, "{}");
    answer.refused(500, &listed("internal error"));
    assert_eq!(server.commits(), 0);
}

#[test]
fn l1_reads_that_are_recorded_fail_too_and_others_do_not() {
    let server = Server::with_role();
    server.audit.fails(Fails::Always);
    for target in [
        "sys/auth",
        "auth/token/lookup-self",
        "auth/gcp/role/dev",
        "nowhere",
    ] {
        server.get(target).expect(500);
    }
    server.send(Method::Get, "sys/auth", None, "").expect(500);
    server.get("sys/health").expect(200);
}

#[test]
fn l1_an_organization_is_not_made_without_a_record() {
    let server = Server::initialized();
    let mut create = Request::new(Method::Post, "/api/v2/organizations");
    create
        .headers
        .push("authorization", format!("Bearer {ROOT}"));
    create
        .headers
        .push("content-type", "application/vnd.api+json");
    create.body = json!({"data": {"type": "organizations", "attributes": {"name": "org", "email": "a@b.example"}}})
        .to_string()
        .into_bytes();
    server.audit.fails(Fails::Always);
    assert_eq!(server.handle(&create).0.status, 500);
    server.audit.fails(Fails::Never);
    let mut show = create.clone();
    (show.method, show.path) = (Method::Get, "/api/v2/organizations/org".to_owned());
    assert_eq!(server.handle(&show).0.status, 404);
    assert_eq!(server.handle(&create).0.status, 201);
    assert_eq!(server.handle(&show).0.status, 200);
}

#[test]
fn l1_a_token_whose_answer_cannot_be_recorded_ends_at_once() {
    let server = Server::with_role();
    server.audit.fails(Fails::ForAnswers);
    for wrapped in [false, true] {
        server.audit.take();
        server.script.login.is(Ok(identity()));
        let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
        let mut request = crate::server::request(Method::Put, "auth/gcp/login", body);
        if wrapped {
            request.headers.push("x-vault-wrap-ttl", "60");
        }
        server.handle(&request).refused(500, "internal error");
        let records = server.audit.take();
        let response = &records[1].document["response"];
        let pointer = if wrapped {
            "/wrap_info/token"
        } else {
            "/auth/client_token"
        };
        let token = response.pointer(pointer).unwrap().as_str().unwrap();
        server.audit.fails(Fails::Never);
        server
            .send(Method::Get, "auth/token/lookup-self", Some(token), "")
            .expect(403);
        if wrapped {
            let accessor = &response["wrap_info"]["wrapped_accessor"];
            let body = json!({ "accessor": accessor }).to_string();
            let answer = server.post("auth/token/lookup-accessor", &body);
            assert!(answer.0.status >= 400, "{}", answer.text());
        }
        server.audit.fails(Fails::ForAnswers);
    }
}

#[test]
fn l1_a_renewal_whose_answer_cannot_be_recorded_ends_nothing() {
    let server = Server::initialized();
    let token = server.token_with(r#"path "nothing" { capabilities = ["read"] }"#);
    server.audit.fails(Fails::ForAnswers);
    server
        .send(Method::Post, "auth/token/renew-self", Some(&token), "{}")
        .expect(500);
    server.audit.fails(Fails::Never);
    server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .expect(200);
}
