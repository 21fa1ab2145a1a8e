//! Google refuses, fails, or answers something else: contract 4.7, 8.1; SEC-G6, N1, N3, N5, N6.

use std::time::Duration;

use gatehouse_auth_method::{
    AccountRefusal, ApiRefusal, AuthMethodService, CredentialsError, CredentialsRefusal,
    CredentialsStep, Login, LoginError, LoginRequest, Settings,
};
use gatehouse_ports::doubles::{ManualClock, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, NoCache};

use crate::google::{self, EMAIL, Fault};
use crate::keys::{self, Token};
use crate::stage::{NOW, Stage, dev_role};

#[test]
fn contract_4_7_an_account_that_google_does_not_show_is_the_callers_fault() {
    for status in [404, 403] {
        let stage = Stage::ready();
        let message = "m".repeat(600);
        let answer = google::refusal(status, &message, "notFound");
        stage
            .google
            .fail("serviceAccounts/", Fault::Answer(answer), 1);
        let jwt = Token::of_account().signed_by(keys::of_account());
        let expected = LoginError::AccountNotFound(AccountRefusal {
            account: EMAIL.to_owned(),
            refusal: ApiRefusal {
                status,
                message: "m".repeat(512),
                reason: "notFound".to_owned(),
            },
        });
        assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    }
}

#[test]
fn contract_4_7_refused_credentials_are_the_operators_fault() {
    let refused = |step, status, message: &str| {
        LoginError::Credentials(CredentialsError::Refused(CredentialsRefusal {
            step,
            status,
            message: message.to_owned(),
        }))
    };
    let jwt = Token::of_account().signed_by(keys::of_account());
    let stage = Stage::ready();
    let body = r#"{"error":"invalid_grant","error_description":"account not found"}"#;
    stage
        .google
        .fail("/token", Fault::Answer(google::text(400, body)), 1);
    assert_eq!(
        stage.log_in(&jwt).unwrap_err(),
        refused(CredentialsStep::Token, 400, "invalid_grant")
    );
    let unauthorized = google::refusal(401, "Invalid Credentials", "authError");
    stage
        .google
        .fail("serviceAccounts/", Fault::Answer(unauthorized), 1);
    assert_eq!(
        stage.log_in(&jwt).unwrap_err(),
        refused(CredentialsStep::Use, 401, "authError")
    );
    assert!(stage.log_in(&jwt).is_ok());
}

#[test]
fn contract_8_4_without_credentials_an_account_cannot_be_looked_up() {
    let stage = Stage::bare();
    stage.role(dev_role());
    let jwt = Token::of_account().signed_by(keys::of_account());
    let expected = LoginError::Credentials(CredentialsError::NotFound);
    assert_eq!(stage.log_in(&jwt).unwrap_err(), expected);
    assert_eq!(
        stage.google.calls("x509"),
        1,
        "public keys need no credentials"
    );
    assert_eq!(stage.google.calls("/token"), 0);
}

#[test]
fn contract_4_7_an_outage_is_reported_by_api_after_two_retries() {
    let jwt = Token::of_account().signed_by(keys::of_account());
    for (part, api) in [
        ("oauth2/v1/certs", "api"),
        ("x509", "api"),
        ("/token", "oauth2"),
        ("serviceAccounts/", "iam"),
    ] {
        for fault in [
            Fault::Answer(google::text(503, "busy")),
            Fault::Answer(google::text(500, "<html>")),
            Fault::Answer(google::text(429, "slow down")),
            Fault::Error(HttpError::Failed("reset".to_owned())),
            Fault::Error(HttpError::TimedOut),
        ] {
            let stage = Stage::ready();
            stage.google.fail(part, fault.clone(), 3);
            assert_eq!(
                stage.log_in(&jwt).unwrap_err(),
                LoginError::GoogleUnavailable(api.into())
            );
            assert_eq!(stage.google.calls(part), 3);
            let stage = Stage::ready();
            stage.google.fail(part, fault, 2);
            assert!(stage.log_in(&jwt).is_ok(), "the third try works");
        }
    }
}

#[test]
fn n6_a_long_retry_after_is_not_waited_for() {
    let stage = Stage::ready();
    let mut answer = google::text(503, "busy");
    answer.headers = vec![("retry-after".to_owned(), "6".to_owned())];
    stage
        .google
        .fail("oauth2/v1/certs", Fault::Answer(answer), 1);
    let jwt = Token::of_account().signed_by(keys::of_account());
    assert_eq!(
        stage.refuse(&jwt),
        (LoginError::GoogleUnavailable("api".into()), 1)
    );
}

#[test]
fn n5_a_call_that_used_up_its_time_is_not_repeated() {
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
    let slow: &'static ScriptedHttp = Box::leak(Box::new(ScriptedHttp::new(move |request| {
        clock.advance(request.timeout + Duration::from_millis(1));
        Err(HttpError::TimedOut)
    })));
    let stage = Stage::ready();
    let service = AuthMethodService::new(
        stage.store,
        NoCache,
        slow,
        clock,
        SeededRandom::new(1),
        Settings::default(),
    );
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: Token::of_account().signed_by(keys::of_account()),
        source_address: None,
    };
    let refused = service.login(&stage.mount, &request).unwrap_err();
    assert_eq!(refused, LoginError::GoogleUnavailable("api".into()));
    assert_eq!(slow.urls().len(), 1);
}

#[test]
fn n1_a_call_that_the_host_denies_is_the_operators_fault() {
    let jwt = Token::of_account().signed_by(keys::of_account());
    let stage = Stage::ready();
    stage
        .google
        .fail("certs", Fault::Error(HttpError::Denied), 1);
    assert_eq!(
        stage.refuse(&jwt),
        (LoginError::EndpointDenied("api".into()), 1)
    );
}

#[test]
fn g6_answers_that_are_not_what_was_asked_for_are_refusals() {
    let jwt = Token::of_account().signed_by(keys::of_account());
    for body in [
        "<html>",
        "",
        "{",
        "{}",
        "[]",
        r#"{"error":{"code":404}}"#,
        "null",
    ] {
        let stage = Stage::ready();
        let fault = Fault::Answer(google::text(200, body));
        stage.google.fail("serviceAccounts/", fault.clone(), 9);
        let refused = stage.log_in(&jwt).unwrap_err();
        assert_eq!(refused, LoginError::GoogleUnusable("iam".into()), "{body}");
        let stage = Stage::ready();
        stage.google.fail("x509", fault, 9);
        let refused = stage.log_in(&jwt).unwrap_err();
        if body == "{}" {
            assert!(matches!(refused, LoginError::KeyNotFound(_)));
        } else {
            assert_eq!(refused, LoginError::GoogleUnusable("api".into()), "{body}");
        }
    }
}

#[test]
fn n3_redirects_are_not_followed() {
    let jwt = Token::of_account().signed_by(keys::of_account());
    for status in [301, 302, 303, 307, 308] {
        let stage = Stage::ready();
        let mut answer = google::text(status, "");
        answer.headers = vec![("location".to_owned(), "http://169.254.169.254/".to_owned())];
        stage.google.fail("x509", Fault::Answer(answer), 1);
        let refused = stage.log_in(&jwt).unwrap_err();
        assert_eq!(refused, LoginError::GoogleUnusable("api".into()));
    }
}
