//! How much retries add to the calls of an instance: SEC-N6.

use std::sync::atomic::{AtomicUsize, Ordering};

use gatehouse_auth_method::{AuthMethodService, Login, LoginError, Settings};
use gatehouse_ports::NoCache;
use gatehouse_ports::doubles::{ScriptedHttp, SeededRandom};

use crate::fleet::request;
use crate::google;
use crate::keys::Token;
use crate::stage::Stage;

const LOGINS: usize = 1000;

/// Questions for key documents of as many accounts, of whose answers each `every`th is an outage.
fn calls_when_fails(every: usize) -> (usize, usize) {
    let stage = Stage::ready();
    let (seen, google) = (AtomicUsize::new(0), stage.google.clone());
    let http = ScriptedHttp::new(move |request| {
        let number = if request.url.contains("x509") {
            seen.fetch_add(1, Ordering::SeqCst) + 1
        } else {
            1
        };
        if request.url.contains("x509") && number % every == 0 {
            return Ok(google::text(503, "busy"));
        }
        google.answer(request)
    });
    let random = SeededRandom::new(1);
    let service = AuthMethodService::new(
        stage.store,
        NoCache,
        &http,
        stage.clock,
        random,
        Settings::default(),
    );
    let mut outages = 0;
    for number in 0..LOGINS {
        let token = Token::of_account().claim("sub", number.to_string());
        let jwt = format!("{}.AAAA", token.signing_input());
        match service.login(&stage.mount, &request(&jwt)).unwrap_err() {
            LoginError::GoogleUnavailable(_) => outages += 1,
            LoginError::KeyNotFound(_) => {}
            other => panic!("{other}"),
        }
    }
    let urls = http.urls();
    let calls = urls.iter().filter(|url| url.contains("x509")).count();
    (calls, outages)
}

#[test]
fn n6_at_one_failure_in_a_hundred_every_one_is_tried_again() {
    let (calls, outages) = calls_when_fails(100);
    assert_eq!((calls, outages), (LOGINS + LOGINS / 100, 0));
}

#[test]
fn n6_at_one_failure_in_ten_retries_stay_within_a_tenth() {
    let (calls, outages) = calls_when_fails(10);
    assert!(
        (LOGINS * 109 / 100..=LOGINS * 110 / 100 + 2).contains(&calls),
        "{calls}"
    );
    assert!(outages <= LOGINS / 50, "{outages}");
}

#[test]
fn n6_when_everything_fails_retries_stay_within_a_tenth() {
    let (calls, outages) = calls_when_fails(1);
    assert!(calls <= LOGINS * 110 / 100 + 2, "{calls}");
    assert_eq!(outages, LOGINS);
}
