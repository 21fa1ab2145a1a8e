//! One request to Google for all logins that need its answer (SEC-N8, contract 8.2), also between component instances.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_fake_google::{Endpoint, Fault};
use serde_json::json;

use crate::stage::{MOUNT, PATIENCE, Stage, assert_granted, at_once};

/// The number of logins at one time.
const LOGINS: usize = 50;
/// The requests that the first login of an account makes.
const FIRST_LOGIN: [Endpoint; 4] = [
    Endpoint::GoogleCertificates,
    Endpoint::AccountCertificates,
    Endpoint::Token,
    Endpoint::ServiceAccount,
];

fn assert_one_question_each(settings: &str) {
    let stage = Stage::new(settings);
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    let google = stage.google();
    for endpoint in FIRST_LOGIN {
        // Long enough that all are there before the first answer is.
        google.set_fault(endpoint, Fault::Latency(Duration::from_millis(500)));
    }
    let jwts: Vec<_> = (0..LOGINS).map(|_| stage.jwt("dev")).collect();
    let answers = at_once(LOGINS, |number| stage.show(MOUNT, "dev", &jwts[number]));
    answers.iter().for_each(assert_granted);
    for endpoint in FIRST_LOGIN {
        assert_eq!(google.calls(endpoint), 1, "{endpoint:?}");
        google.clear_faults(endpoint);
    }
    assert_eq!(google.requests().len(), FIRST_LOGIN.len());

    google.forget_requests();
    for _ in 0..10 {
        assert_granted(&stage.log_in(MOUNT, "dev"));
    }
    assert_eq!(google.requests(), []);
}

#[test]
fn n8_fifty_first_logins_of_an_account_ask_each_question_once_and_later_ones_none() {
    assert_one_question_each("");
}

#[test]
fn n8_instances_that_serve_one_request_each_share_what_they_know() {
    assert_one_question_each("[limits]\ninstance_reuse = 1");
}

#[test]
fn n8_fifty_first_logins_of_an_instance_share_all_but_the_instance_itself() {
    let stage = Stage::new("");
    stage.enable_with_key(MOUNT);
    let role = json!({"type": "gce", "bound_regions": "europe-west1"});
    stage.role(MOUNT, "vm", &role);
    let google = stage.google();
    let shared = [
        Endpoint::GoogleCertificates,
        Endpoint::Token,
        Endpoint::ServiceAccount,
    ];
    for endpoint in shared {
        google.set_fault(endpoint, Fault::Latency(Duration::from_millis(500)));
    }
    let jwt = stage.instance_jwt("vm");
    let answers = at_once(LOGINS, |_| stage.show(MOUNT, "vm", &jwt));
    answers.iter().for_each(assert_granted);
    for endpoint in shared {
        assert_eq!(google.calls(endpoint), 1, "{endpoint:?}");
    }
    assert_eq!(google.calls(Endpoint::Instance), LOGINS as u64);
    assert_eq!(google.calls(Endpoint::AccountCertificates), 0);
}

/// Sends a first login, and hangs up once Google was asked for `endpoint`.
fn leave_during(stage: &Stage, endpoint: Endpoint) {
    let address = stage.installation.address();
    let body = json!({"role": "dev", "jwt": stage.jwt("dev")}).to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /v1/auth/{MOUNT}/login HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let deadline = Instant::now() + PATIENCE;
    while stage.google().calls(endpoint) == 0 {
        assert!(Instant::now() < deadline, "{endpoint:?} is never asked");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn contract_8_1_a_question_goes_on_for_others_when_its_first_caller_leaves() {
    for endpoint in FIRST_LOGIN {
        let stage = Stage::new("");
        stage.enable_with_key(MOUNT);
        stage.workload_role(MOUNT);
        let google = stage.google();
        google.set_fault(endpoint, Fault::Latency(Duration::from_secs(2)));
        leave_during(&stage, endpoint);
        assert_granted(&stage.log_in(MOUNT, "dev"));
        assert_eq!(google.calls(endpoint), 1, "{endpoint:?}");
    }
}
