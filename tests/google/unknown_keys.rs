//! Tokens that name keys which were never published (SEC-G8).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gatehouse_fake_google::Endpoint;
use gatehouse_tests::WORKLOAD;
use reqwest::blocking::Client;
use serde_json::{Map, json};

use crate::stage::{MOUNT, PATIENCE, Stage, assert_granted, assert_refused, at_once, eventually};

const TOKENS: usize = 1_000;
const CONNECTIONS: usize = 8;
/// Between two questions for one document, in seconds.
const WINDOW: u64 = 30;

fn jwt_of_unknown_key(stage: &Stage, number: usize) -> String {
    let header = Map::from_iter([
        ("alg".to_owned(), "RS256".into()),
        ("kid".to_owned(), format!("unknown-{number}").into()),
        ("typ".to_owned(), "JWT".into()),
    ]);
    let key = stage.google().account_key(WORKLOAD).unwrap();
    key.sign_jwt_with_header(&header, &stage.claims("dev"))
        .unwrap()
}

#[test]
fn g8_a_thousand_tokens_with_random_kids_cost_one_question_per_document_and_window() {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    let address = format!(
        "http://{}/v1/auth/{MOUNT}/login",
        stage.installation.address()
    );
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    assert_granted(&stage.log_in(MOUNT, "dev"));
    at_once(CONNECTIONS, |_| {
        let client = Client::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= TOKENS {
                return;
            }
            let body = json!({"role": "dev", "jwt": jwt_of_unknown_key(&stage, number)});
            let answer = client.post(&address).body(body.to_string()).send().unwrap();
            let (status, text) = (answer.status().as_u16(), answer.text().unwrap());
            let expected = "unable to get public key for signed JWT";
            assert!(status == 400 && text.contains(expected), "{status} {text}");
        }
    });
    let windows = 1 + began.elapsed().as_secs() / WINDOW;
    let google = stage.google();
    for document in [Endpoint::GoogleCertificates, Endpoint::AccountCertificates] {
        let calls = google.calls(document);
        assert!(
            (1..=windows).contains(&calls),
            "{document:?}: {calls} calls in {windows} windows"
        );
    }
    assert_granted(&stage.log_in(MOUNT, "dev"));
}

#[test]
fn g8_a_new_key_is_found_after_the_window_by_one_more_question() {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    let began = Instant::now();
    assert_granted(&stage.log_in(MOUNT, "dev"));
    let google = stage.google();
    google.rotate_keys(WORKLOAD).unwrap();
    google.forget_requests();
    eventually(PATIENCE, || stage.log_in(MOUNT, "dev"));
    // A second for clocks that run unevenly.
    assert!(began.elapsed() > Duration::from_secs(WINDOW - 1));
    for document in [Endpoint::GoogleCertificates, Endpoint::AccountCertificates] {
        assert_eq!(google.calls(document), 1, "{document:?}");
    }
}

#[test]
fn g8_an_account_that_does_not_exist_is_asked_about_once_in_a_window() {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    let nobody = "nobody@demo-project.iam.gserviceaccount.com";
    let began = Instant::now();
    for _ in 0..20 {
        let mut claims = stage.claims("dev");
        claims.insert("sub".to_owned(), nobody.into());
        let jwt = stage.google().sign_jwt(WORKLOAD, &claims).unwrap();
        let text = format!("for JWT subject \"{nobody}\": ");
        assert_refused(&stage.show(MOUNT, "dev", &jwt), 400, &text);
    }
    let windows = 1 + began.elapsed().as_secs() / WINDOW;
    let calls = stage.google().calls(Endpoint::AccountCertificates);
    assert!((1..=windows).contains(&calls), "{calls} in {windows}");
    assert_eq!(stage.google().calls(Endpoint::ServiceAccount), 0);
}
