//! Pages of other origins get no data in a browser (SEC-H8). No setting admits one.

use gatehouse_gateway::{Method, Request};

use super::server::{ROOT, Server};

const PATHS: [&str; 12] = [
    "/v1/sys/health",
    "/v1/sys/seal-status",
    "/v1/sys/init",
    "/v1/sys/auth",
    "/v1/sys/config/cors",
    "/v1/auth/gcp/login",
    "/v1/auth/gcp/role/dev",
    "/v1/auth/gcp/role/none",
    "/v1/auth/token/lookup-self",
    "/api/v2/organizations",
    "/api/v2/ping",
    "/.well-known/terraform.json",
];

fn preflight(path: &str, origin: &str, token: Option<&str>) -> Request {
    let mut request = Request::new(Method::Options, path);
    request.headers.push("origin", origin);
    request
        .headers
        .push("access-control-request-method", "POST");
    request.headers.push(
        "access-control-request-headers",
        "x-vault-token,authorization",
    );
    if let Some(token) = token {
        request.headers.push("x-vault-token", token);
        request
            .headers
            .push("authorization", format!("Bearer {token}"));
    }
    request
}

fn allows_nobody(answer: &gatehouse_gateway::Response) -> bool {
    let mut names = answer.headers.iter().map(|(name, _)| name);
    !names.any(|name| name.starts_with("access-control-") || name == "vary" || name == "allow")
}

#[test]
fn h8_a_preflight_needs_no_token_is_allowed_nothing_and_learns_nothing() {
    let server = Server::with_role();
    let before = server.commits();
    for path in PATHS {
        let mut answers = Vec::new();
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8200", "*"] {
            for token in [None, Some(ROOT), Some("hvs.bad")] {
                let answer = server.handle(&preflight(path, origin, token)).0;
                assert!(allows_nobody(&answer), "{path}: {:?}", answer.headers);
                answers.push((answer.status, answer.body));
            }
        }
        let first = answers[0].clone();
        assert!([404, 405].contains(&first.0), "{path}: {}", first.0);
        assert!(answers.iter().all(|answer| *answer == first), "{path}");
    }
    let ask = |path: &str| {
        let answer = server.handle(&preflight(path, "null", None)).0;
        (answer.status, answer.body)
    };
    for pair in [
        ["/v1/auth/gcp/role/dev", "/v1/auth/gcp/role/none"],
        ["/v1/auth/gcp/role/dev", "/v1/nowhere/at/all"],
        ["/api/v2/organizations", "/api/v2/organizations/none"],
    ] {
        assert_eq!(ask(pair[0]), ask(pair[1]), "{pair:?}");
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn h8_no_answer_lets_another_origin_read_it_and_nothing_switches_that_on() {
    let server = Server::with_role();
    for path in PATHS {
        for method in [Method::Get, Method::Post, Method::Delete, Method::List] {
            let mut request = preflight(path, "https://evil.example", Some(ROOT));
            request.method = method;
            let answer = server.handle(&request).0;
            assert!(allows_nobody(&answer), "{method:?} {path}");
        }
    }
    let on = r#"{"enabled":true,"allowed_origins":"*","allowed_headers":"*"}"#;
    let before = server.commits();
    for target in ["sys/config/cors", "sys/config/ui/headers/x"] {
        for method in [Method::Get, Method::Put, Method::Delete] {
            let answer = server.send(method, target, Some(ROOT), on).0;
            assert_eq!(answer.status, 404, "{method:?} {target}");
        }
    }
    assert_eq!(server.commits(), before);
}
