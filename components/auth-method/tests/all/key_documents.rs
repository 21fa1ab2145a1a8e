//! Answers in the place of a key document: contract 1.6, 4.3, 4.7; SEC-G6, N3, N10.

use std::time::Duration;

use gatehouse_auth_method::{KeyLookupError, KeyNotFound, LoginError};
use gatehouse_ports::{HttpError, HttpResponse};
use serde_json::json;

use crate::google::{self, Fault};
use crate::keys::{self, Token};
use crate::stage::{NOW, Stage};

const CERTIFICATES: &str = "oauth2/v1/certs";
const ACCOUNT_KEYS: &str = "x509";

fn refused(part: &'static str, fault: Fault) -> LoginError {
    let stage = Stage::ready();
    stage.google.fail(part, fault, usize::MAX);
    let jwt = Token::of_account().signed_by(keys::of_account());
    stage.log_in(&jwt).unwrap_err()
}

fn redirect(status: u16) -> HttpResponse {
    HttpResponse {
        headers: vec![("location".to_owned(), "http://169.254.169.254/".to_owned())],
        ..google::text(status, "{}")
    }
}

#[test]
fn contract_1_6_an_answer_that_makes_no_sense_is_googles_fault() {
    let unusable = LoginError::GoogleUnusable("api".into());
    let key = &keys::of_account().certificate;
    let truncated = json!({"account-key": key, "google-key": key}).to_string();
    let truncated = google::text(200, &truncated[..truncated.len() - 10]);
    let texts = [
        "",
        "<html>",
        "null",
        "[]",
        "7",
        r#"{"a":1}"#,
        r#"{"error":{"code":404}}"#,
        r#"{"keys":[{"kty":"RSA"}]}"#,
    ];
    let mut answers: Vec<HttpResponse> = texts.map(|body| google::text(200, body)).into();
    answers.extend([301, 302, 303, 304, 307, 308].map(redirect));
    answers.extend([201, 202, 204, 206].map(|status| google::text(status, "{}")));
    answers.push(truncated);
    for part in [CERTIFICATES, ACCOUNT_KEYS] {
        for answer in &answers {
            let error = refused(part, Fault::Answer(answer.clone()));
            assert_eq!(error, unusable, "{part} {}", answer.status);
        }
        let error = refused(part, Fault::Error(HttpError::TooLarge));
        assert_eq!(error, unusable, "{part}");
    }
}

#[test]
fn contract_1_6_google_without_keys_makes_no_sense() {
    let unusable = LoginError::GoogleUnusable("api".into());
    for body in ["{}", r#"{"google-key":"no certificate"}"#] {
        let answer = Fault::Answer(google::text(200, body));
        assert_eq!(refused(CERTIFICATES, answer), unusable, "{body}");
    }
    for status in [400, 401, 403, 404, 410] {
        let answer = Fault::Answer(google::refusal(status, "no", "notFound"));
        assert_eq!(refused(CERTIFICATES, answer), unusable, "{status}");
    }
}

#[test]
fn n10_that_google_does_not_show_an_accounts_keys_is_the_callers_fault() {
    for (status, expected) in [
        (404, KeyLookupError::AccountUnknown),
        (400, KeyLookupError::DocumentUnreadable),
        (401, KeyLookupError::DocumentUnreadable),
        (403, KeyLookupError::DocumentUnreadable),
        (410, KeyLookupError::DocumentUnreadable),
    ] {
        let answer = Fault::Answer(google::text(status, "<html>"));
        let error = refused(ACCOUNT_KEYS, answer);
        assert!(
            matches!(error, LoginError::KeyNotFound(KeyNotFound { refusal, .. }) if refusal == expected),
            "{status}: {error}"
        );
    }
    for body in ["{}", r#"{"account-key":"no certificate"}"#] {
        let error = refused(ACCOUNT_KEYS, Fault::Answer(google::text(200, body)));
        let expected = KeyLookupError::KeyUnknown;
        assert!(
            matches!(error, LoginError::KeyNotFound(KeyNotFound { refusal, .. }) if refusal == expected)
        );
    }
}

#[test]
fn contract_4_3_rule_3_n10_an_outage_is_worth_trying_again() {
    let unavailable = LoginError::GoogleUnavailable("api".into());
    for part in [CERTIFICATES, ACCOUNT_KEYS] {
        for status in [429, 500, 502, 503, 504] {
            let answer = Fault::Answer(google::text(status, "<html>"));
            assert_eq!(refused(part, answer), unavailable, "{part} {status}");
        }
        for error in [HttpError::TimedOut, HttpError::Failed("reset".to_owned())] {
            assert_eq!(refused(part, Fault::Error(error)), unavailable, "{part}");
        }
    }
}

#[test]
fn n9_an_answer_that_makes_no_sense_does_not_take_the_place_of_a_good_one() {
    for body in ["<html>", "{}"] {
        let stage = Stage::ready();
        let jwt = Token::of_google().signed_by(keys::of_google());
        stage.log_in(&jwt).unwrap();
        let nonsense = Fault::Answer(google::text(200, body));
        stage.google.fail(CERTIFICATES, nonsense, usize::MAX);
        stage.clock.advance(Duration::from_secs(3300));
        assert!(stage.log_in(&jwt).is_ok(), "{body}");
        assert!(stage.google.calls(CERTIFICATES) > 1);
    }
}

/// Every answer that says nothing about the keys of an account.
fn faults() -> Vec<Fault> {
    let statuses = [400, 401, 403, 410, 429, 500, 502, 503];
    let refusals = statuses.map(|status| Fault::Answer(google::text(status, "no")));
    let texts = ["", "<html>", "[]", r#"{"error":{"code":403}}"#];
    let garbage = texts.map(|body| Fault::Answer(google::text(200, body)));
    let failures = [HttpError::TimedOut, HttpError::TooLarge].map(Fault::Error);
    let redirects = [302, 308].map(|status| Fault::Answer(redirect(status)));
    let all = refusals.into_iter().chain(garbage).chain(redirects);
    all.chain(failures).collect()
}

/// A token that makes the document be fetched anew: its key is not in it.
fn of_unknown_key() -> String {
    let token = Token::of_account().header("kid", "unknown");
    token.signed_by(keys::of_stranger())
}

fn by_account(at: u64) -> String {
    let token = Token::of_account().claim("exp", at + 600);
    token.signed_by(keys::of_account())
}

/// Moves to `seconds` after the beginning: pauses between tries have taken some time already.
fn wait_until(stage: &Stage, seconds: u64) -> u64 {
    use gatehouse_ports::Clock as _;
    let passed = stage.clock.now_milliseconds() - NOW * 1000;
    let left = Duration::from_millis(seconds * 1000 - passed);
    stage.clock.advance(left);
    stage.clock.now_seconds()
}

#[test]
fn g7_g8_an_error_for_an_accounts_document_leaves_the_keys_that_are_still_fresh() {
    for fault in faults() {
        let stage = Stage::ready();
        stage.log_in(&by_account(NOW)).unwrap();
        stage.google.fail(ACCOUNT_KEYS, fault, usize::MAX);
        // A stranger's token is enough to have the document fetched.
        let now = wait_until(&stage, 30);
        let before = stage.google.calls(ACCOUNT_KEYS);
        stage.log_in(&of_unknown_key()).unwrap_err();
        assert!(stage.google.calls(ACCOUNT_KEYS) > before);
        stage.log_in(&by_account(now)).unwrap();
        // So is their renewal, late in their life.
        let now = wait_until(&stage, 840);
        let before = stage.google.calls(ACCOUNT_KEYS);
        stage.log_in(&by_account(now)).unwrap();
        assert!(stage.google.calls(ACCOUNT_KEYS) > before);
        // Their life is not a second longer for that.
        let now = wait_until(&stage, 895);
        stage.log_in(&by_account(now)).unwrap();
        let now = wait_until(&stage, 900);
        stage.log_in(&by_account(now)).unwrap_err();
        // And once Google answers again, no login waits longer than for an outage.
        stage.google.heal();
        let now = wait_until(&stage, 906);
        stage.log_in(&by_account(now)).unwrap();
    }
}

#[test]
fn g7_that_an_account_has_no_document_any_more_ends_the_use_of_its_keys() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let gone = Fault::Answer(google::text(404, ""));
    stage.google.fail(ACCOUNT_KEYS, gone, usize::MAX);
    let now = wait_until(&stage, 30);
    stage.log_in(&of_unknown_key()).unwrap_err();
    let (refused, calls) = stage.refuse(&by_account(now));
    let expected = KeyLookupError::AccountUnknown;
    assert!(
        matches!(refused, LoginError::KeyNotFound(KeyNotFound { refusal, .. }) if refusal == expected)
    );
    assert_eq!(calls, 0, "the absence is known for half a minute");
}

#[test]
fn n7_an_error_for_a_document_that_no_instance_has_yet_is_remembered_for_5_s() {
    let stage = Stage::ready();
    let forbidden = Fault::Answer(google::text(403, ""));
    stage.google.fail(ACCOUNT_KEYS, forbidden, 1);
    stage.log_in(&by_account(NOW)).unwrap_err();
    let now = wait_until(&stage, 4);
    assert_eq!(stage.refuse(&by_account(now)).1, 0);
    let now = wait_until(&stage, 5);
    stage.log_in(&by_account(now)).unwrap();
}

#[test]
fn n9_an_error_for_googles_document_leaves_its_keys_for_an_hour_beyond_their_life() {
    let mut faults = faults();
    faults.push(Fault::Answer(google::text(404, "")));
    faults.push(Fault::Answer(google::text(200, "{}")));
    for fault in faults {
        let stage = Stage::ready();
        let jwt = |at| {
            let token = Token::of_google().claim("iat", at).claim("exp", at + 600);
            token.signed_by(keys::of_google())
        };
        stage.log_in(&jwt(NOW)).unwrap();
        stage.google.fail(CERTIFICATES, fault, usize::MAX);
        for seconds in [30, 3330, 3570, 3630, 7190] {
            let now = wait_until(&stage, seconds);
            stage.log_in(&jwt(now)).unwrap();
        }
        let now = wait_until(&stage, 7200);
        stage.log_in(&jwt(now)).unwrap_err();
    }
}
