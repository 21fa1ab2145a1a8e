//! Workload identity federation: contract 2.6, 7.4, 8.4; register D12, D24.

use std::time::Duration;

use gatehouse_auth_method::{
    Config, ConfigChanges, ConfigError, CredentialsError, CredentialsRefusal, CredentialsSource,
    CredentialsStep, IdentityTokenError, IdentityTokens, LoginError, Settings,
};
use gatehouse_ports::{CommitError, StoreError};
use serde_json::json;

use crate::google::{Fault, refusal, text};
use crate::google_credentials::{ACTED_AS, AUDIENCE, ISSUER, settings, stage};
use crate::keys::{self, Token};
use crate::stage::{NOW, Stage, dev_role, key_file};

pub fn federation() -> ConfigChanges {
    ConfigChanges {
        identity_token_audience: Some(AUDIENCE.to_owned()),
        service_account_email: Some(ACTED_AS.to_owned()),
        ..ConfigChanges::default()
    }
}

fn log_in(stage: &Stage) -> Result<(), LoginError> {
    let token = Token::of_account().signed_by(keys::of_account());
    stage.log_in(&token).map(drop)
}

fn refusal_of(stage: &Stage) -> CredentialsError {
    match log_in(stage).unwrap_err() {
        LoginError::Credentials(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn contract_8_4_an_identity_token_becomes_an_access_token_of_the_account() {
    let (stage, google) = stage(settings());
    stage.configure(ConfigChanges {
        identity_token_ttl: Some(1800),
        ..federation()
    });
    assert_eq!(
        stage.http.urls(),
        [""; 0],
        "contract 2.6: writing calls nobody"
    );
    stage.role(dev_role());
    google.state().trusted = stage.service.public_keys().unwrap();
    log_in(&stage).unwrap();
    let expected = json!({
        "iss": ISSUER, "aud": [AUDIENCE], "sub": "plugin-identity:root:auth:auth_gcp_m1",
        "iat": NOW, "nbf": NOW, "exp": NOW + 1800,
        "vaultproject.io": {
            "accessor": "auth_gcp_m1", "class": "auth", "local": false, "namespace_id": "root",
            "namespace_path": "", "path": "gcp/", "plugin": "gcp",
            "version": concat!("v", env!("CARGO_PKG_VERSION")),
        },
    });
    assert_eq!(google.state().identities, [expected]);
    log_in(&stage).unwrap();
    assert_eq!(
        google.state().identities.len(),
        1,
        "the access token is remembered"
    );
}

#[test]
fn contract_8_4_the_access_token_is_used_as_long_as_google_says() {
    let (stage, google) = stage(settings());
    stage.configure(federation());
    stage.role(dev_role());
    google.state().trusted = stage.service.public_keys().unwrap();
    google.state().generated_for = 1000;
    log_in(&stage).unwrap();
    // It ends after 700 s, and is renewed ahead of that.
    for (later, exchanges) in [(559, 1), (71, 2)] {
        stage.clock.advance(Duration::from_secs(later));
        google.state().generated_for = 9000;
        let _ = stage
            .service
            .check_config(&stage.mount, &["ops".to_owned()]);
        assert_eq!(google.state().identities.len(), exchanges);
    }
}

#[test]
fn contract_8_4_the_lifetime_asked_for_is_cut_to_what_google_allows() {
    for (ttl, asked) in [
        (0, "3600s"),
        (600, "600s"),
        (50_000, "43200s"),
        (u64::MAX, "43200s"),
    ] {
        let (stage, google) = stage(settings());
        stage.configure(ConfigChanges {
            identity_token_ttl: Some(ttl),
            ..federation()
        });
        google.state().trusted = stage.service.public_keys().unwrap();
        let report = stage.service.check_config(&stage.mount, &[]).unwrap();
        assert_eq!(report.failure, None);
        assert_eq!(google.state().lifetimes, [asked]);
    }
}

#[test]
fn contract_2_6_a_write_that_sets_an_audience_proves_that_a_token_can_be_made() {
    let (stage, _) = stage(Settings::default());
    let refused = stage.service.write_config(&stage.mount, federation());
    let expected = ConfigError::IdentityToken(IdentityTokenError::NoIssuer);
    assert_eq!(refused.unwrap_err(), expected);
    assert!(stage.store.keys().is_empty());
    stage
        .service
        .write_issuer("https://vault.example.com")
        .unwrap();
    let sealed = StoreError::Sealed;
    let failed = CommitError::Failed(sealed.clone());
    stage.store.fail_next_commit(failed);
    let refused = stage.service.write_config(&stage.mount, federation());
    assert_eq!(refused.unwrap_err(), ConfigError::Storage(sealed.into()));
    assert_eq!(stage.store.keys(), ["~identity-tokens/issuer"]);
    stage.configure(federation());
    assert!(stage.http.urls().is_empty());
}

#[test]
fn d12_new_root_credentials_replace_those_of_the_other_kind() {
    let (stage, _) = stage(settings());
    let key = || ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    };
    let read = || stage.service.read_config(&stage.mount).unwrap();
    stage.configure(key());
    assert_eq!(read().credentials_source, CredentialsSource::Static);
    stage.configure(federation());
    let view = read();
    assert_eq!(view.credentials_source, CredentialsSource::Federation);
    assert_eq!(view.credentials, None);
    assert_eq!(view.identity_token_audience, AUDIENCE);
    assert!(!stage.store.keys().contains(&"m1/credentials".to_owned()));
    stage.configure(key());
    let view = read();
    assert_eq!(view.credentials_source, CredentialsSource::Static);
    assert_eq!(view.identity_token_audience, "");
    assert_eq!(view.service_account_email, ACTED_AS, "not a credential");
    stage.configure(ConfigChanges {
        credentials: Some(String::new()),
        ..ConfigChanges::default()
    });
    assert_eq!(
        read().credentials_source,
        CredentialsSource::ApplicationDefault
    );
}

#[test]
fn contract_2_6_bad_combinations_are_refused_and_nothing_is_stored() {
    let (stage, _) = stage(settings());
    let none = ConfigChanges::default;
    for (changes, expected) in [
        (
            ConfigChanges {
                credentials: Some(key_file()),
                ..federation()
            },
            ConfigError::CredentialsTwice,
        ),
        (
            ConfigChanges {
                service_account_email: None,
                ..federation()
            },
            ConfigError::ServiceAccountMissing,
        ),
        (
            ConfigChanges {
                service_account_email: Some(String::new()),
                ..federation()
            },
            ConfigError::ServiceAccountMissing,
        ),
        (
            ConfigChanges {
                service_account_email: Some("a@b/../c".to_owned()),
                ..none()
            },
            ConfigError::ServiceAccountEmail,
        ),
        (
            ConfigChanges {
                service_account_email: Some("123".to_owned()),
                ..none()
            },
            ConfigError::ServiceAccountEmail,
        ),
    ] {
        let refused = stage.service.write_config(&stage.mount, changes);
        assert_eq!(refused.unwrap_err(), expected);
        assert!(stage.store.keys().is_empty());
    }
    stage.configure(federation());
    let refused = stage.service.write_config(
        &stage.mount,
        ConfigChanges {
            service_account_email: Some(String::new()),
            ..none()
        },
    );
    assert_eq!(refused.unwrap_err(), ConfigError::ServiceAccountMissing);
    stage.configure(ConfigChanges {
        credentials: Some(String::new()),
        ..none()
    });
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert_eq!(view.credentials_source, CredentialsSource::Federation);
}

#[test]
fn contract_8_4_a_refusal_names_the_step_and_nothing_of_the_token() {
    let refused = |step, status, message: &str| {
        CredentialsError::Refused(CredentialsRefusal {
            step,
            status,
            message: message.to_owned(),
        })
    };
    let (stage, google) = stage(settings());
    stage.configure(federation());
    stage.role(dev_role());
    // The pool was not told of the keys.
    let failure = refusal_of(&stage);
    assert_eq!(
        failure,
        refused(CredentialsStep::Exchange, 400, "invalid_grant")
    );
    assert!(!format!("{failure:?} {failure}").contains("MARKED"));
    google.state().trusted = stage.service.public_keys().unwrap();
    let forbidden = refusal(403, "MARKED-message", "forbidden");
    stage
        .google
        .fail("generateAccessToken", Fault::Answer(forbidden), 1);
    let failure = refusal_of(&stage);
    assert_eq!(
        failure,
        refused(CredentialsStep::Impersonation, 403, "forbidden")
    );
    for (part, body) in [
        ("sts.", "{}"),
        ("sts.", r#"{"access_token":"a b"}"#),
        ("generateAccessToken", r#"{"accessToken":"MARKED"}"#),
        (
            "generateAccessToken",
            r#"{"accessToken":"MARKED","expireTime":"soon"}"#,
        ),
    ] {
        stage.google.fail(part, Fault::Answer(text(200, body)), 1);
        assert_eq!(
            refusal_of(&stage),
            CredentialsError::AnswerUnreadable,
            "{body}"
        );
    }
    log_in(&stage).unwrap();
}

#[test]
fn contract_8_4_an_issuer_that_is_gone_is_no_fault_of_google() {
    let (stage, _) = stage(Settings::default());
    stage
        .service
        .write_issuer("https://vault.example.com")
        .unwrap();
    stage.configure(federation());
    stage.role(dev_role());
    stage.service.write_issuer("").unwrap();
    assert_eq!(refusal_of(&stage), CredentialsError::NoIdentityToken);
}
