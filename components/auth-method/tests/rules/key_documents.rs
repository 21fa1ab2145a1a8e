//! What comes instead of a key document: contract 1.6, 4.3, 4.7; SEC-G6, N3, N10.

use gatehouse_auth_method::{KeyRefusal, LoginError};
use gatehouse_ports::{HttpError, HttpResponse};
use serde_json::json;

use crate::google::{self, Fault};
use crate::keys::{self, Token};
use crate::stage::Stage;

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
        (404, KeyRefusal::AccountUnknown),
        (400, KeyRefusal::DocumentUnreadable),
        (401, KeyRefusal::DocumentUnreadable),
        (403, KeyRefusal::DocumentUnreadable),
        (410, KeyRefusal::DocumentUnreadable),
    ] {
        let answer = Fault::Answer(google::text(status, "<html>"));
        let error = refused(ACCOUNT_KEYS, answer);
        assert!(
            matches!(error, LoginError::KeyNotFound { refusal, .. } if refusal == expected),
            "{status}: {error}"
        );
    }
    for body in ["{}", r#"{"account-key":"no certificate"}"#] {
        let error = refused(ACCOUNT_KEYS, Fault::Answer(google::text(200, body)));
        let expected = KeyRefusal::KeyUnknown;
        assert!(matches!(error, LoginError::KeyNotFound { refusal, .. } if refusal == expected));
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
        stage.clock.advance(std::time::Duration::from_secs(3300));
        assert!(stage.log_in(&jwt).is_ok(), "{body}");
        assert!(stage.google.calls(CERTIFICATES) > 1);
    }
}
