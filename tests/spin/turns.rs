//! An instance does one thing at a time, and waits for no client indefinitely.

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_fake_google::{Endpoint, FakeGoogle, Fault};
use gatehouse_tests::{Host, Installation};

use crate::slow_clients::{prepared, prepared_on};
use crate::slow_request::SlowRequest;

/// Fewer requests than Spin offers to one instance at one time: the next request joins their instance.
const SLOW: usize = 8;
/// A machine under load is no failure.
const PATIENCE: Duration = Duration::from_secs(60);
/// The requests that a first login makes.
const FIRST_LOGIN: [Endpoint; 4] = [
    Endpoint::GoogleCertificates,
    Endpoint::AccountCertificates,
    Endpoint::Token,
    Endpoint::ServiceAccount,
];

fn wait_for_a_question(google: &FakeGoogle) {
    let deadline = Instant::now() + PATIENCE;
    while google.requests().is_empty() {
        assert!(Instant::now() < deadline, "Google is never asked");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A login that waits for a Google that does not answer, in an instance in which others wait for their clients.
fn login_that_waits(installation: &Installation) -> (Vec<SlowRequest>, SlowRequest) {
    let google = installation.google();
    google.forget_requests();
    for endpoint in FIRST_LOGIN {
        google.set_fault(endpoint, Fault::Hang);
    }
    let slow = (0..SLOW)
        .map(|_| SlowRequest::lookup(installation))
        .collect();
    let mut login = SlowRequest::login(installation);
    login.send(usize::MAX);
    wait_for_a_question(google);
    (slow, login)
}

#[test]
fn those_who_come_while_a_login_waits_for_google_are_answered_before_it() {
    let installation = prepared();
    let (_slow, login) = login_that_waits(&installation);
    for _ in 0..SLOW {
        let answer = installation.as_root("GET", "/v1/auth/token/lookup-self", None);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert!(login.is_unanswered(), "the login was answered first");
}

#[test]
fn those_whose_bodies_were_slow_while_a_login_waited_for_google_are_answered_after_it() {
    let installation = prepared();
    let (slow, login) = login_that_waits(&installation);
    for lookup in slow {
        assert_eq!(lookup.finish(), "HTTP/1.1 200 OK");
    }
    assert_eq!(login.answer(), "HTTP/1.1 503 Service Unavailable");
}

#[test]
fn a_body_that_stays_away_is_not_waited_for_for_ever() {
    let installation = prepared();
    let login = SlowRequest::login(&installation);
    assert_eq!(login.answer(), "HTTP/1.1 408 Request Timeout");
    assert_eq!(installation.login().unwrap().status, 200);
}

#[test]
fn a_body_that_stays_away_is_not_waited_for_for_ever_on_spin_3() {
    let installation = prepared_on(Host::Spin3);
    let login = SlowRequest::login(&installation);
    assert_eq!(login.answer(), "HTTP/1.1 408 Request Timeout");
    assert_eq!(installation.login().unwrap().status, 200);
}
