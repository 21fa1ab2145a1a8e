//! The contents of the records of an exchange.

use gatehouse_gateway::{Method, Request};
use serde_json::{Value, json};

use super::exchange;
use crate::server::{ROOT, Server, identity, request};

#[test]
fn the_hosts_name_of_a_request_is_that_of_its_records_and_of_its_answer() {
    let server = Server::with_role();
    for path in ["/v1/auth/gcp/role/dev", "/api/v2/organizations/none"] {
        server.audit.take();
        let name = "6f0f3fd5-98a0-4c2b-9c0e-0d5b6c1a7e11";
        let mut request = Request::new(Method::Get, path);
        request.id = Some(name.to_owned());
        request
            .headers
            .push("Authorization", format!("Bearer {ROOT}"));
        let response = server.handle(&request);
        let (asked, answered) = exchange(&server);
        assert_eq!(asked.document["request"]["id"], name);
        assert_eq!(answered.document["request"]["id"], name);
        match response.0.header("x-request-id") {
            Some(told) => assert_eq!(told, name),
            None => {
                assert_eq!(response.json()["request_id"], name);
            }
        }
    }
}

#[test]
fn contract_6_5_a_login_is_recorded_on_both_sides() {
    let server = Server::with_role();
    server.audit.take();
    server.script.login.is(Ok(identity()));
    let jwt = "eyJhbGciOiJSUzI1NiJ9.canary.canary";
    let body = json!({"role": "dev", "jwt": jwt}).to_string();
    let envelope = server
        .send(Method::Put, "auth/gcp/login", None, &body)
        .expect(200)
        .json();
    let (asked, answered) = exchange(&server);

    assert_eq!(asked.document["request"]["id"], envelope["request_id"]);
    assert_eq!(
        asked.document["request"]["data"],
        json!({"role": "dev", "jwt": jwt})
    );
    let accessor = asked.text("/request/mount_accessor").unwrap();
    assert!(accessor.starts_with("auth_gcp_"));
    for (pointer, text) in [
        ("/auth/token_type", "default"),
        ("/request/operation", "update"),
        ("/request/path", "auth/gcp/login"),
        ("/request/mount_type", "gcp"),
        ("/request/mount_point", "auth/gcp/"),
        ("/request/namespace/id", "root"),
        ("/request/remote_address", "192.0.2.1"),
    ] {
        assert_eq!(asked.text(pointer).as_deref(), Some(text), "{pointer}");
        assert!(answered.text(pointer).is_some(), "{pointer}");
    }
    assert_eq!(asked.document["auth"]["policy_results"]["allowed"], true);
    assert_eq!(asked.text("/request/data/jwt"), None);
    assert_eq!(asked.text("/request/data/role"), None);

    let auth = &envelope["auth"];
    for place in ["/auth", "/response/auth"] {
        let shown = answered.document.pointer(place).unwrap();
        assert_eq!(shown["client_token"], auth["client_token"]);
        assert_eq!(answered.text(&format!("{place}/client_token")), None);
        assert_eq!(answered.text(&format!("{place}/accessor")), None);
        let policy = answered.text(&format!("{place}/policies/1"));
        assert_eq!(policy.as_deref(), Some("prod"));
        let project = answered.text(&format!("{place}/metadata/project_id"));
        assert_eq!(project.as_deref(), Some("p1"));
        assert!(answered.text(&format!("{place}/entity_id")).is_some());
    }
    assert_eq!(answered.document["response"]["status"], 200);
}

#[test]
fn contract_6_5_the_caller_is_recorded() {
    let server = Server::with_method();
    server.audit.take();
    server.get("auth/token/lookup-self").expect(200);
    let (asked, answered) = exchange(&server);
    let auth = &asked.document["auth"];
    assert_eq!(auth["client_token"], ROOT);
    assert_eq!(
        auth["accessor"],
        asked.document["request"]["client_token_accessor"]
    );
    assert_eq!(asked.document["request"]["client_token"], ROOT);
    for (pointer, text) in [
        ("/auth/display_name", "root"),
        ("/auth/policies/0", "root"),
        ("/auth/token_policies/0", "root"),
        ("/auth/token_type", "service"),
        ("/auth/token_issue_time", "2026-11-21T10:00:00Z"),
        ("/request/operation", "read"),
    ] {
        assert_eq!(asked.text(pointer).as_deref(), Some(text), "{pointer}");
    }
    assert_eq!(auth["token_ttl"], 0);
    assert_eq!(answered.document["response"]["data"]["id"], ROOT);
    assert_eq!(answered.text("/response/data/path"), None);
}

#[test]
fn what_is_refused_is_recorded_with_the_reason() {
    let server = Server::with_method();
    let token = server.token_with(r#"path "nothing" { capabilities = ["read"] }"#);
    server.audit.take();
    for (token, error, name) in [
        (
            Some(token.as_str()),
            "1 error occurred:\n\t* permission denied\n\n",
            Some("token"),
        ),
        (None, "permission denied", None),
        (
            Some("hvs.wrong"),
            "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n",
            None,
        ),
    ] {
        server.send(Method::Get, "sys/auth", token, "").expect(403);
        let (asked, answered) = exchange(&server);
        for record in [&asked, &answered] {
            assert_eq!(record.text("/error").as_deref(), Some(error));
            assert_eq!(record.text("/auth/display_name").as_deref(), name);
            assert_eq!(record.document["auth"]["policy_results"]["allowed"], false);
            assert_eq!(record.text("/request/path").as_deref(), Some("sys/auth"));
        }
        assert_eq!(answered.document["response"]["status"], 403);
    }
}

#[test]
fn what_is_not_understood_is_recorded_too() {
    let server = Server::initialized();
    let mut large = request(Method::Post, "sys/policies/acl/x", "");
    large.body = vec![b'x'; (1 << 20) + 1];
    let mut organizations = large.clone();
    organizations.path = "/api/v2/organizations".to_owned();
    server.audit.take();
    for (request, status) in [
        (large, 413),
        (organizations, 413),
        (request(Method::Get, "sys/%2Fauth", ""), 400),
        (request(Method::Options, "sys/auth", ""), 405),
        (request(Method::Get, "no/such/mount", ""), 403),
    ] {
        assert_eq!(server.handle(&request).0.status, status);
        let (asked, answered) = exchange(&server);
        assert!(asked.text("/error").is_some());
        assert_eq!(answered.document["response"]["status"], status);
    }
}

#[test]
fn reads_that_tell_nothing_are_not_recorded() {
    let server = Server::initialized();
    server.audit.take();
    for target in [
        "/v1/sys/health",
        "/v1/sys/seal-status",
        "/v1/sys/leader",
        "/v1/sys/init",
        "/v1/identity/oidc/plugins/.well-known/keys",
        "/v1/identity/oidc/plugins/.well-known/openid-configuration",
        "/api/v2/ping",
        "/api/v2/openapi.json",
        "/.well-known/terraform.json",
        "/elsewhere",
    ] {
        server.handle(&Request::new(Method::Get, target));
        assert_eq!(server.audit.take().len(), 0, "{target}");
    }
    server.send(Method::Put, "sys/init", None, "{}");
    assert_eq!(server.audit.take().len(), 2);
    // Other paths nearby need a token, and reveal whether it is valid.
    for target in [
        "/v1/sys/healthy",
        "/v1/identity/oidc/plugins/.well-known/other",
    ] {
        server.handle(&Request::new(Method::Get, target));
        assert_eq!(server.audit.take().len(), 2, "{target}");
    }
}

#[test]
fn contract_6_5_the_keys_of_a_mount_act_but_never_for_secrets() {
    let server = Server::with_role();
    let keys = r#"{"audit_non_hmac_request_keys":["role","jwt","credentials","token","client_token","JWT","id"],
        "audit_non_hmac_response_keys":["type","role_id","id"]}"#;
    server.post("sys/auth/gcp/tune", keys).expect(204);
    server.audit.take();
    let body = r#"{"role":"dev","jwt":"a.b.c"}"#;
    server.send(Method::Put, "auth/gcp/login", None, body);
    let (asked, answered) = exchange(&server);
    for record in [&asked, &answered] {
        assert_eq!(record.text("/request/data/role").as_deref(), Some("dev"));
        assert_eq!(record.text("/request/data/jwt"), None);
    }
    let secrets = r#"{"id":"x","credentials":{"private_key":"x"},"token":"x","client_token":"x","role":{"jwt":"x","a":"y"}}"#;
    server.send(Method::Put, "auth/gcp/login", None, secrets);
    let (asked, _) = exchange(&server);
    let shown: Vec<String> = asked
        .readable()
        .into_iter()
        .filter(|(pointer, _)| pointer.starts_with("/request/data"))
        .map(|(_, text)| text)
        .collect();
    assert_eq!(shown, ["y"]);
    server.get("auth/gcp/role/dev").expect(200);
    let (_, answered) = exchange(&server);
    assert_eq!(answered.text("/response/data/type").as_deref(), Some("iam"));
    assert!(answered.text("/response/data/role_id").is_some());
    assert_eq!(answered.text("/response/data/bound_projects/0"), None);
}

#[test]
fn l2_bodies_that_are_no_fields_are_one_hashed_text() {
    let server = Server::with_method();
    for (content_type, body) in [
        ("application/json", "{\"jwt\": \"canary"),
        ("application/json", "[\"canary\"]"),
        (
            "application/x-www-form-urlencoded",
            "eyJhbGciOiJSUzI1NiJ9.canary",
        ),
        ("multipart/form-data", "canary"),
    ] {
        let mut request = request(Method::Post, "auth/gcp/login", body);
        request.headers.push("content-type", content_type);
        server.audit.take();
        server.handle(&request);
        let (asked, answered) = exchange(&server);
        assert_eq!(asked.document["request"]["data"], body, "{content_type}");
        assert_eq!(asked.text("/request/data"), None);
        let error = answered.text("/error").unwrap();
        assert!(!error.contains("canary"), "{error}");
    }
    server.audit.take();
    server.send(Method::Post, "auth/gcp/login", None, "role=a&role=b");
    let (asked, _) = exchange(&server);
    assert_eq!(asked.document["request"]["data"], "role=a&role=b");
    server.get("auth/token/lookup-self?a=canary&a=y");
    let (asked, _) = exchange(&server);
    assert_eq!(
        asked.document["request"]["data"],
        json!({"a": ["canary", "y"]})
    );
}

#[test]
fn l2_a_name_that_may_be_a_secret_is_hashed_and_hides_no_other_field() {
    let server = Server::initialized();
    let (named, odd) = ("policies=root", "hvs.0123456789abcdef=1");
    server.audit.take();
    server.get(&format!("auth/token/lookup-self?{named}&{odd}"));
    let (asked, _) = exchange(&server);
    let expected = json!({"policies": "root", "<secret>": [odd]});
    assert_eq!(asked.document["request"]["data"], expected);
    let body = r#"{"policies":["root"],"hvs.0123456789abcdef":1}"#;
    server.post("auth/token/create", body);
    let (asked, _) = exchange(&server);
    let expected = json!({"policies": ["root"], "<secret>": [odd]});
    assert_eq!(asked.document["request"]["data"], expected);
    let pointers = asked.readable().into_iter().map(|(pointer, _)| pointer);
    assert!(
        !pointers
            .into_iter()
            .any(|pointer| pointer.starts_with("/request/data"))
    );
}

#[test]
fn l3_the_query_is_recorded_beside_a_body() {
    let server = Server::initialized();
    for (path, body) in [
        ("/v1/sys/tools/hash", r#"{"input":"x"}"#),
        ("/api/v2/organizations/acme/authentication-token", "{}"),
        ("/v1/sys/tools/hash", "{"),
    ] {
        let mut sent = Request::new(Method::Post, path);
        sent.headers.push("x-vault-token", ROOT);
        sent.headers.push("authorization", format!("Bearer {ROOT}"));
        sent.headers.push("content-type", "application/json");
        sent.query = "token=audit-trails&token=other&x=canary".to_owned();
        sent.body = body.as_bytes().to_vec();
        server.audit.take();
        server.handle(&sent);
        let (asked, answered) = exchange(&server);
        for record in [&asked, &answered] {
            let expected = json!({"token": ["audit-trails", "other"], "x": "canary"});
            assert_eq!(record.document["request"]["query"], expected, "{path}");
            assert!(!record.document["request"]["data"].is_null());
            let readable = record.readable().into_iter();
            assert!(
                !readable
                    .into_iter()
                    .any(|(at, _)| at.starts_with("/request/query"))
            );
        }
    }
    let mut large = request(Method::Post, "sys/tools/hash", "");
    large.query = "format=hex".to_owned();
    large.body = vec![b'x'; (1 << 20) + 1];
    server.audit.take();
    server.handle(&large);
    let (asked, _) = exchange(&server);
    let recorded = &asked.document["request"];
    assert_eq!(recorded["query"], json!({"format": "hex"}));
    assert!(recorded["data"].is_null());
}

#[test]
fn l3_the_server_names_every_exchange_and_keeps_the_name_of_the_client_apart() {
    let server = Server::initialized();
    let long = "x".repeat(65);
    for (sent, kept) in [
        ("asked-by-ci_1.2", true),
        (&long[..64], true),
        (long.as_str(), false),
        ("", false),
        ("a b", false),
        ("a\u{1b}[31m", false),
        ("a\"b", false),
        ("é", false),
        ("hvs.0123456789abcdef", false),
    ] {
        for path in ["/v1/sys/auth", "/api/v2/organizations"] {
            let mut request = Request::new(Method::Get, path);
            request.headers.push("x-request-id", sent);
            server.audit.take();
            server.handle(&request);
            let (asked, answered) = exchange(&server);
            for record in [&asked, &answered] {
                let own = record.text("/request/id").unwrap();
                assert_eq!(own.len(), 36, "{sent:?}");
                let named = record.text("/request/client-request-id");
                assert_eq!(named.as_deref(), kept.then_some(sent), "{sent:?}");
            }
        }
    }
}

#[test]
fn l2_a_token_in_a_path_is_cut_out_of_path_and_error() {
    let server = Server::initialized();
    server.audit.take();
    let target = "auth/token/revoke/root-token-of-somebody";
    server.send(Method::Put, target, Some(ROOT), "");
    let (asked, answered) = exchange(&server);
    for record in [asked, answered] {
        let path = record.text("/request/path");
        assert_eq!(path.as_deref(), Some("auth/token/revoke/<secret>"));
        assert_eq!(
            record.document["request"]["path_secret"],
            "root-token-of-somebody"
        );
    }
    server.get("hvs.0123456789abcdef/x");
    let (_, answered) = exchange(&server);
    let error = answered.text("/error").unwrap();
    assert!(error.contains("<secret>/x"), "{error}");
}

#[test]
fn contract_6_6_wrapped_answers_show_no_more_than_their_bearer_sees() {
    let server = Server::initialized();
    server.audit.take();
    let mut request = request(Method::Post, "sys/wrapping/wrap", r#"{"canary":"canary"}"#);
    request.headers.push("x-vault-token", ROOT);
    request.headers.push("x-vault-wrap-ttl", "60");
    let envelope = server.handle(&request).expect(200).json();
    let (asked, answered) = exchange(&server);
    assert_eq!(asked.document["request"]["wrap_ttl"], 60);
    let wrap = &answered.document["response"]["wrap_info"];
    assert_eq!(wrap["token"], envelope["wrap_info"]["token"]);
    assert_eq!(answered.document["response"]["data"], Value::Null);
    assert!(answered.text("/response/wrap_info/creation_time").is_some());
    assert_eq!(answered.text("/response/wrap_info/accessor"), None);
}

#[test]
fn contract_6_5_the_mount_of_secrets_is_recorded() {
    let server = Server::initialized();
    server.post("cubbyhole/a", r#"{"k":"v"}"#).expect(204);
    for (method, path) in [
        (Method::Get, "cubbyhole/a"),
        (Method::List, "cubbyhole"),
        (Method::List, "cubbyhole/"),
        (Method::Delete, "cubbyhole/a"),
    ] {
        server.audit.take();
        server.send(method, path, Some(ROOT), "");
        let (asked, answered) = exchange(&server);
        for (record, part) in [(&asked, "request"), (&answered, "response")] {
            for (member, text) in [("mount_type", "cubbyhole"), ("mount_point", "cubbyhole/")] {
                let found = record.text(&format!("/{part}/{member}"));
                assert_eq!(found.as_deref(), Some(text), "{path} {member}");
            }
        }
    }
}

#[test]
fn names_that_may_be_secrets_are_hashed_in_what_is_unwrapped_too() {
    let server = Server::initialized();
    let odd = json!({"hvs.0123456789abcdef": "canary", "plain": "x"});
    let plain = json!({"plain": "x"});
    for (wrapped, recorded) in [(&odd, &Value::from(odd.to_string())), (&plain, &plain)] {
        let body = wrapped.to_string();
        let mut wrap = request(Method::Post, "sys/wrapping/wrap", &body);
        wrap.headers.push("x-vault-token", ROOT);
        wrap.headers.push("x-vault-wrap-ttl", "60");
        let wrap_info = &server.handle(&wrap).expect(200).json()["wrap_info"];
        let token = json!({"token": wrap_info["token"]}).to_string();
        server.audit.take();
        let unwrapped = server.post("sys/wrapping/unwrap", &token).expect(200);
        assert_eq!(unwrapped.data(), *wrapped);
        let (_, answered) = exchange(&server);
        assert_eq!(answered.document["response"]["data"], *recorded);
        assert_eq!(answered.text("/response/data"), None);
    }
}

#[test]
fn the_organizations_api_is_recorded_too() {
    let server = Server::initialized();
    let mut create = Request::new(Method::Post, "/api/v2/organizations");
    create
        .headers
        .push("authorization", format!("Bearer {ROOT}"));
    create
        .headers
        .push("content-type", "application/vnd.api+json");
    create.body = json!({"data": {"type": "organizations", "attributes": {"name": "canary-org", "email": "a@b.example"}}})
        .to_string()
        .into_bytes();
    server.audit.take();
    let created = server.handle(&create).0;
    assert_eq!(created.status, 201);
    let (asked, answered) = exchange(&server);
    let name = asked.document["request"]["id"].as_str();
    assert_eq!(created.header("x-request-id"), name);
    assert_eq!(asked.text("/request/operation").as_deref(), Some("create"));
    let path = asked.text("/request/path");
    assert_eq!(path.as_deref(), Some("api/v2/organizations"));
    assert_eq!(asked.text("/auth/display_name").as_deref(), Some("root"));
    assert_eq!(asked.document["request"]["client_token"], ROOT);
    let name = "/request/data/data/attributes/name";
    assert_eq!(asked.document.pointer(name), Some(&json!("canary-org")));
    assert_eq!(asked.text(name), None);
    assert_eq!(answered.document["response"]["status"], 201);

    create.headers = gatehouse_gateway::Headers::new();
    assert_eq!(server.handle(&create).0.status, 401);
    let (asked, answered) = exchange(&server);
    assert!(asked.text("/error").is_some());
    assert_eq!(answered.document["response"]["status"], 401);
}
