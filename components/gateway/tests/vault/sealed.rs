//! A server whose store nobody has unlocked (contract 1.6: sealed comes first).

use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::{Gateway, Method, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ScriptedHttp, SeededRandom};
use gatehouse_ports::{
    Change, Check, CommitError, Entry, HttpError, NoCache, Page, Store, StoreError, SystemClock,
};
use serde_json::json;

use super::server::{Answer, request};

struct SealedStore;

impl Store for SealedStore {
    fn get(&self, _: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        Err(StoreError::Sealed)
    }

    fn scan(&self, _: &str, _: Option<&str>, _: u32) -> Result<Page, StoreError> {
        Err(StoreError::Sealed)
    }

    fn commit(&self, _: Vec<Check>, _: Vec<Change>) -> Result<(), CommitError> {
        Err(CommitError::Failed(StoreError::Sealed))
    }
}

fn ask(method: Method, target: &str, headers: &[(&str, &str)]) -> Answer {
    ask_with(method, target, headers, "")
}

fn ask_with(method: Method, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let random = || SeededRandom::new(1);
    let http = ScriptedHttp::new(|_| Err(HttpError::Denied));
    let settings = gatehouse_auth_method::Settings::default();
    let gateway = Gateway::new(
        AuthMethodService::new(SealedStore, NoCache, http, SystemClock, random(), settings),
        AccessService::new(SealedStore, SystemClock, random()),
        Orgs::new(SealedStore, SystemClock, random()),
        Settings::default(),
    );
    let mut request = request(method, target, body);
    for (name, value) in headers {
        request.headers.push(name, *value);
    }
    Answer(gateway.handle(&request))
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
