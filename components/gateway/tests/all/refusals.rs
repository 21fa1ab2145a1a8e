//! The order of refusals, and their texts (contract 1.2, 1.6, 1.7).

use gatehouse_gateway::Method;

use super::server::{ROOT, Server, listed, request};

const INVALID_TOKEN: &str = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";

#[test]
fn the_three_ways_of_permission_denied() {
    let server = Server::with_method();
    let token = server.token_with(r#"path "x" { capabilities = ["read"] }"#);
    for path in [
        "auth/gcp/config",
        "sys/auth",
        "secret/foo",
        "sys/nothing",
        "auth/none/login",
    ] {
        server
            .send(Method::Get, path, None, "")
            .refused(403, "permission denied");
        server
            .send(Method::Get, path, Some("hvs.bad"), "")
            .refused(403, INVALID_TOKEN);
        server
            .send(Method::Get, path, Some(&token), "")
            .refused(403, &listed("permission denied"));
    }
}

#[test]
fn only_a_permitted_caller_learns_that_a_path_does_not_exist() {
    let server = Server::with_method();
    for (path, text) in [
        (
            "secret/foo",
            "no handler for route \"secret/foo\". route entry not found.",
        ),
        (
            "auth/none/config",
            "no handler for route \"auth/none/config\". route entry not found.",
        ),
    ] {
        server.get(path).refused(404, text);
    }
    for path in [
        "auth/gcp/nothing",
        "auth/token/nothing",
        "sys/nothing",
        "sys/policies/rgp",
        "sys/capabilities/x",
    ] {
        server.get(path).refused(404, &listed("unsupported path"));
    }
    server
        .list("sys/auth")
        .refused(405, &listed("unsupported operation"));
    server
        .get("auth/token/create")
        .refused(405, &listed("unsupported operation"));
}

#[test]
fn contract_1_6_nothing_is_at_the_very_top() {
    let server = Server::initialized();
    let mut request = gatehouse_gateway::Request::new(Method::Get, "/v1/");
    request.headers.push("X-Vault-Token", ROOT);
    let text = "no handler for route \"\". route entry not found.";
    server.handle(&request).refused(404, text);
}

#[test]
fn contract_5_6_an_accessor_is_needed_to_ask_what_it_may_do() {
    let server = Server::initialized();
    for body in [r#"{"paths":["x"]}"#, r#"{"paths":["x"],"accessor":""}"#] {
        server
            .post("sys/capabilities-accessor", body)
            .refused(400, "missing accessor");
    }
}

#[test]
fn fields_are_looked_at_only_after_policy_and_route() {
    let server = Server::with_method();
    let bad = "{\"nonsense\"";
    server
        .send(Method::Post, "auth/gcp/config", None, bad)
        .refused(403, "permission denied");
    server
        .post("auth/gcp/nothing", bad)
        .refused(404, &listed("unsupported path"));
    server
        .post("auth/gcp/config", bad)
        .refused(400, "error parsing JSON");
}

#[test]
fn other_namespaces_do_not_exist() {
    let server = Server::with_method();
    let before = server.commits();
    let mut elsewhere = request(Method::Post, "sys/auth/x", r#"{"type":"gcp"}"#);
    elsewhere.headers.push("X-Vault-Token", ROOT);
    elsewhere.headers.push("X-Vault-Namespace", "team/");
    server
        .handle(&elsewhere)
        .refused(404, "namespace not found");
    assert_eq!(server.commits(), before);
    for root in ["", "/", "root"] {
        let mut request = request(Method::Get, "sys/auth", "");
        request.headers.push("X-Vault-Token", ROOT);
        request.headers.push("X-Vault-Namespace", root);
        server.handle(&request).expect(200);
    }
}

#[test]
fn a_bearer_token_is_the_second_choice() {
    let server = Server::initialized();
    let mut request = request(Method::Get, "sys/auth", "");
    request
        .headers
        .push("Authorization", format!("bearer {ROOT}"));
    server.handle(&request).expect(200);
    request.headers.push("X-Vault-Token", "hvs.bad");
    server.handle(&request).refused(403, INVALID_TOKEN);
}

#[test]
fn h12_every_answer_has_a_fresh_request_id_and_the_safe_headers() {
    let server = Server::initialized();
    let first = server.get("sys/auth").expect(200);
    let second = server.get("sys/auth").expect(200);
    let id =
        |answer: &super::server::Answer| answer.json()["request_id"].as_str().unwrap().to_owned();
    assert_ne!(id(&first), id(&second));
    assert_eq!(id(&first).len(), 36);
    for answer in [
        first,
        server.get("sys/nothing"),
        server.delete("sys/policies/acl/x"),
    ] {
        assert_eq!(answer.0.header("content-type"), Some("application/json"));
        assert_eq!(answer.0.header("cache-control"), Some("no-store"));
        assert_eq!(answer.0.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn help_is_there_for_any_valid_token() {
    let server = Server::initialized();
    let token = server.token_with(r#"path "x" { capabilities = ["read"] }"#);
    let help = server
        .send(Method::Get, "sys/auth?help=1", Some(&token), "")
        .expect(200)
        .json();
    assert!(help["help"].is_string());
    server
        .send(Method::Get, "sys/auth?help=1", None, "")
        .refused(403, "permission denied");
}
