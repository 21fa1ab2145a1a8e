//! An instance has one request at a time, and none for ever: a request that waits stops none but itself.

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_fake_google::{Endpoint, FakeGoogle, Fault};
use gatehouse_tests::Installation;
use serde_json::json;

use crate::slow_clients::prepared;
use crate::slow_request::SlowRequest;

/// Fewer than Spin offers to one instance at one time: the next could be added to theirs.
const SLOW: usize = 8;
/// Longer than Spin keeps an instance without a request.
const IDLE_INSTANCES_GONE: Duration = Duration::from_secs(2);
/// A machine under load is no failure.
const PATIENCE: Duration = Duration::from_secs(60);
/// The requests that a first login makes.
const FIRST_LOGIN: [Endpoint; 4] = [
    Endpoint::GoogleCertificates,
    Endpoint::AccountCertificates,
    Endpoint::Token,
    Endpoint::ServiceAccount,
];

/// A request that needs no other server.
fn begin_lookup(installation: &Installation) -> SlowRequest {
    let token = installation.root_token();
    let body = json!({"token": token});
    SlowRequest::begin(installation, "/v1/auth/token/lookup", Some(token), &body)
}

fn wait_for_a_question(google: &FakeGoogle) {
    let deadline = Instant::now() + PATIENCE;
    while google.requests().is_empty() {
        assert!(Instant::now() < deadline, "Google is never asked");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn those_whose_bodies_are_slow_do_not_wait_for_a_login_that_waits_for_google() {
    let installation = prepared();
    let google = installation.google();
    google.forget_requests();
    for endpoint in FIRST_LOGIN {
        google.set_fault(endpoint, Fault::Hang);
    }
    let slow: Vec<SlowRequest> = (0..SLOW).map(|_| begin_lookup(&installation)).collect();
    // Every instance that is left has one of these; it would be given the login too if it took a second request.
    thread::sleep(IDLE_INSTANCES_GONE);
    let mut login = SlowRequest::login(&installation);
    login.send(usize::MAX);
    wait_for_a_question(google);
    for lookup in slow {
        assert_eq!(lookup.finish(), "HTTP/1.1 200 OK");
        assert!(login.is_unanswered(), "the login was answered first");
    }
}

#[test]
fn a_body_that_stays_away_is_not_waited_for_for_ever() {
    let installation = prepared();
    let login = SlowRequest::login(&installation);
    assert_eq!(login.answer(), "HTTP/1.1 408 Request Timeout");
    assert_eq!(installation.login().unwrap().status, 200);
}
