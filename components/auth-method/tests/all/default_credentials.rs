//! The server's own credentials: contract 8.4.

use gatehouse_auth_method::{
    Config, CredentialsError, CredentialsRefusal, CredentialsReport, CredentialsSource,
    CredentialsStep, GoogleCallError, Settings,
};
use gatehouse_ports::HttpError;
use serde_json::json;
use zeroize::Zeroizing;

use crate::google::{Fault, text};
use crate::google_credentials::{CLIENT_SECRET, METADATA_HOST, REFRESH_TOKEN, settings, stage};
use crate::stage::{Stage, key_file};

fn with_file(file: &str) -> Settings {
    Settings {
        application_default_credentials: Some(Zeroizing::new(file.to_owned())),
        // A file counts before the machine.
        ..on_a_machine()
    }
}

fn on_a_machine() -> Settings {
    Settings {
        metadata_host: Some(METADATA_HOST.to_owned()),
        ..settings()
    }
}

fn check(stage: &Stage) -> CredentialsReport {
    stage.service.check_config(&stage.mount, &[]).unwrap()
}

fn failure(stage: &Stage) -> CredentialsError {
    match check(stage).failure {
        Some(GoogleCallError::Credentials(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn contract_8_4_without_any_there_are_none() {
    let (stage, _) = stage(settings());
    assert_eq!(failure(&stage), CredentialsError::NotFound);
    assert!(stage.http.urls().is_empty());
}

#[test]
fn contract_8_4_a_key_file_of_the_server_is_used_like_a_stored_one() {
    let (stage, _) = stage(with_file(&key_file()));
    let report = check(&stage);
    assert_eq!(report.source, CredentialsSource::ApplicationDefault);
    assert_eq!(report.failure, None);
    assert_eq!(
        stage.http.urls(),
        ["https://oauth2.googleapis.com/token"],
        "not where the file says"
    );
}

#[test]
fn contract_8_4_a_file_of_a_user_is_exchanged_at_googles_token_endpoint() {
    let file = json!({
        "type": "authorized_user", "client_id": "client", "client_secret": CLIENT_SECRET,
        "refresh_token": REFRESH_TOKEN, "token_uri": "https://evil.example/token",
    });
    let (stage, _) = stage(with_file(&file.to_string()));
    assert_eq!(check(&stage).failure, None);
    assert_eq!(stage.http.urls(), ["https://oauth2.googleapis.com/token"]);
}

#[test]
fn contract_8_4_a_file_of_no_use_is_an_error_and_not_passed_over() {
    let mut without_key: serde_json::Value = serde_json::from_str(&key_file()).unwrap();
    without_key["private_key"] = "MARKED".into();
    for file in [
        "".to_owned(),
        "MARKED".to_owned(),
        "[]".to_owned(),
        r#"{"type":"external_account","audience":"MARKED"}"#.to_owned(),
        r#"{"type":"impersonated_service_account"}"#.to_owned(),
        r#"{"type":"authorized_user","client_id":"MARKED"}"#.to_owned(),
        without_key.to_string(),
    ] {
        let (stage, _) = stage(with_file(&file));
        let failure = failure(&stage);
        assert_eq!(failure, CredentialsError::DefaultUnusable, "{file}");
        assert!(stage.http.urls().is_empty());
        assert!(!format!("{failure:?} {failure}").contains("MARKED"));
    }
}

#[test]
fn l5_what_google_says_about_a_users_secrets_is_cut_to_its_code() {
    let file = json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "MARKED-wrong",
        "refresh_token": REFRESH_TOKEN,
    });
    let (stage, _) = stage(with_file(&file.to_string()));
    let report = check(&stage);
    assert!(!format!("{report:?}").contains("MARKED"), "{report:?}");
    let expected = CredentialsError::Refused(CredentialsRefusal {
        step: CredentialsStep::Token,
        status: 400,
        message: "invalid_grant".to_owned(),
    });
    assert_eq!(report.failure, Some(GoogleCallError::Credentials(expected)));
}

#[test]
fn contract_8_4_the_machine_has_a_token() {
    let (stage, _) = stage(on_a_machine());
    assert_eq!(check(&stage).failure, None);
}

#[test]
fn n2_a_metadata_server_says_that_it_is_one() {
    for flavor in [None, Some("google"), Some("Other")] {
        let (stage, google) = stage(on_a_machine());
        google.state().metadata_flavor = flavor;
        assert_eq!(failure(&stage), CredentialsError::AnswerUnreadable);
    }
}

#[test]
fn contract_8_4_a_metadata_server_that_does_not_answer_is_asked_once() {
    let (stage, _) = stage(on_a_machine());
    for fault in [
        Fault::Error(HttpError::TimedOut),
        Fault::Answer(text(503, "")),
    ] {
        let before = stage.http.urls().len();
        stage.google.fail(METADATA_HOST, fault, 3);
        let expected = Some(GoogleCallError::GoogleUnavailable("metadata".into()));
        assert_eq!(check(&stage).failure, expected);
        assert_eq!(stage.http.urls().len() - before, 1);
        stage.google.heal();
        stage.clock.advance(std::time::Duration::from_secs(5));
    }
    let denied = Fault::Error(HttpError::Denied);
    stage.google.fail(METADATA_HOST, denied, 1);
    let expected = Some(GoogleCallError::EndpointDenied("metadata".into()));
    assert_eq!(check(&stage).failure, expected);
}
