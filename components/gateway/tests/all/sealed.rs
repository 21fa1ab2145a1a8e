//! A server whose store is sealed (contract 1.6: sealed comes first).

use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::{Gateway, Method, Request, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{BrokenStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, NoCache, StoreError, SystemClock};
use serde_json::json;

use super::server::{Answer, request};

fn ask(method: Method, target: &str, headers: &[(&str, &str)]) -> Answer {
    ask_with(method, target, headers, "")
}

fn ask_with(method: Method, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = request(method, target, body);
    for (name, value) in headers {
        request.headers.push(name, *value);
    }
    Answer(gateway(&StoreError::Sealed).handle(&request))
}

pub type BrokenGateway = Gateway<
    AuthMethodService<BrokenStore, NoCache, ScriptedHttp, SystemClock, SeededRandom>,
    AccessService<BrokenStore, SystemClock, SeededRandom>,
    Orgs<BrokenStore, SystemClock, SeededRandom>,
>;

/// A gateway with stores that fail with this error.
pub fn gateway(failure: &StoreError) -> BrokenGateway {
    let store = || BrokenStore(failure.clone());
    let random = || SeededRandom::new(1);
    let http = ScriptedHttp::new(|_| Err(HttpError::Denied));
    let settings = gatehouse_auth_method::Settings::default();
    Gateway::new(
        AuthMethodService::new(store(), NoCache, http, SystemClock, random(), settings),
        AccessService::new(store(), SystemClock, random()),
        Orgs::new(store(), SystemClock, random()),
        Settings::default(),
    )
}

#[test]
fn o2_the_process_answers_whatever_the_store_does_and_is_ready_only_with_it() {
    const SECRET: &str = "disk at /srv/secret-path";
    for (failure, ready) in [
        (StoreError::Sealed, 503),
        (StoreError::Unavailable(SECRET.to_owned()), 500),
        (StoreError::Corrupt(SECRET.to_owned()), 500),
    ] {
        let gateway = gateway(&failure).with_operator_log(|_| {});
        let mut answers = Vec::new();
        for (path, status) in [("/api/v2/ping", 204), ("/v1/sys/health", ready)] {
            for method in [Method::Get, Method::Head] {
                let answer = gateway.handle(&Request::new(method, path));
                let status = match (method, path) {
                    (Method::Head, "/api/v2/ping") => answer.status,
                    _ => status,
                };
                assert_eq!(answer.status, status, "{method:?} {path}: {failure}");
                answers.push(answer);
            }
        }
        for answer in answers {
            let text = String::from_utf8(answer.body).unwrap();
            assert!(!text.contains("secret"), "{text}");
            let names_it = |value: &str| value.contains("secret");
            assert!(!answer.headers.iter().any(|(_, value)| names_it(value)));
        }
    }
    let ready = super::server::Server::initialized();
    let empty = super::server::Server::empty();
    for (server, status) in [(ready, 200), (empty, 501)] {
        let health = server.send(Method::Get, "sys/health", None, "");
        assert_eq!(health.0.status, status);
        let alive = server.handle(&Request::new(Method::Get, "/api/v2/ping"));
        assert_eq!(alive.0.status, 204);
    }
}

#[test]
fn every_request_is_told_that_the_server_is_sealed() {
    for headers in [
        &[][..],
        &[("x-vault-token", "any")],
        &[("x-vault-namespace", "team")],
        &[("x-vault-wrap-ttl", "60")],
    ] {
        for (method, target) in [
            (Method::Get, "sys/auth"),
            (Method::Put, "auth/gcp/login"),
            (Method::Put, "auth/token/renew-self"),
            (Method::Get, "secret/foo"),
        ] {
            ask(method, target, headers).refused(503, "Vault is sealed");
        }
    }
}

#[test]
fn status_endpoints_say_so_in_their_own_way() {
    let health = ask(Method::Get, "sys/health", &[]).expect(503).json();
    assert_eq!(
        (&health["initialized"], &health["sealed"]),
        (&json!(true), &json!(true))
    );
    ask(Method::Get, "sys/health?sealedcode=299", &[]).expect(299);
    let status = ask(Method::Get, "sys/seal-status", &[]).expect(200).json();
    assert_eq!(status["sealed"], true);
    assert_eq!(
        ask(Method::Get, "sys/init", &[]).json(),
        json!({"initialized": true})
    );
    ask(Method::Put, "sys/init", &[]).refused(503, "Vault is sealed");
}

#[test]
fn only_a_restart_opens_what_unseals_itself() {
    for body in [json!({ "key": "ab".repeat(33) }), json!({ "reset": true })] {
        let answer = ask_with(Method::Put, "sys/unseal", &[], &body.to_string());
        answer.refused(400, "the server unseals itself: restart it");
    }
    ask(Method::Put, "sys/seal", &[]).refused(503, "Vault is sealed");
}
