//! Roles without live checks, which trust the claims that Google signed, and roles that let a token log in once.

use std::time::Duration;

use gatehouse_auth_method::{
    Identity, InstanceTooOld, Login, LoginError, LoginRequest, RenewalError, RoleChanges,
};
use gatehouse_ports::{CommitError, StoreError};

use crate::compute::{CREATED, ZONE, token, token_with};
use crate::google::{EMAIL, OTHER_EMAIL, UNIQUE_ID};
use crate::instances::{gce, signed, stage};
use crate::keys::{self, Token};
use crate::roles::{iam, list};
use crate::stage::{NOW, Service, Stage};

const KEYS: &str = "https://www.googleapis.com/oauth2/v1/certs";

/// The role `dev`, and no credentials for Google's APIs.
fn trusting(changes: RoleChanges) -> Stage {
    let stage = Stage::bare();
    stage.role(RoleChanges {
        live_checks: Some(false),
        ..changes
    });
    stage
}

fn google_token() -> Token {
    Token::of_google()
        .claim("email", EMAIL)
        .claim("email_verified", true)
}

/// Google was asked for its keys at most.
fn assert_only_keys_were_read(stage: &Stage) {
    assert!(
        stage.http.urls().iter().all(|url| url == KEYS),
        "{:?}",
        stage.http.urls()
    );
}

#[test]
fn without_live_checks_an_account_logs_in_and_renews_without_any_api() {
    for bound in [EMAIL, UNIQUE_ID, "*"] {
        let stage = trusting(RoleChanges {
            bound_service_accounts: list(&[bound]),
            ..iam()
        });
        let identity = stage.log_in(&signed(&google_token())).unwrap();
        assert_eq!(identity.display_name, EMAIL);
        let metadata = |name: &str| {
            let found = identity.metadata.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(metadata("service_account_id"), Some(UNIQUE_ID));
        assert_eq!(metadata("service_account_email"), Some(EMAIL));
        assert_eq!(metadata("project_id"), None, "no claim says it");
        stage.clock.advance(Duration::from_secs(600));
        assert!(stage.renew(&identity).is_ok());
        assert_only_keys_were_read(&stage);
    }
}

#[test]
fn without_live_checks_bounds_on_accounts_hold() {
    let bound = |account: &str, token: &Token| {
        let stage = trusting(RoleChanges {
            bound_service_accounts: list(&[account]),
            ..iam()
        });
        let outcome = stage.log_in(&signed(token));
        assert_only_keys_were_read(&stage);
        outcome
    };
    let refused = |outcome: Result<Identity, LoginError>| {
        matches!(outcome, Err(LoginError::AccountNotBound(_)))
    };
    assert!(refused(bound(OTHER_EMAIL, &google_token())));
    assert!(refused(bound("1", &google_token())));
    let unverified = google_token().claim("email_verified", false);
    assert!(
        refused(bound(EMAIL, &unverified)),
        "Google does not vouch for the address"
    );
    assert!(refused(bound(EMAIL, &Token::of_google())));
}

#[test]
fn without_live_checks_only_tokens_of_google_count() {
    let stage = trusting(iam());
    let by_account = Token::of_account()
        .claim("email", EMAIL)
        .claim("email_verified", true);
    let refused = stage
        .log_in(&by_account.signed_by(keys::of_account()))
        .unwrap_err();
    assert_eq!(refused, LoginError::NotGoogleSigned);
    assert_eq!(stage.google.calls("serviceAccounts"), 0);
    let stage = trusting(gce());
    let forged = token()
        .header("kid", "account-key")
        .signed_by(keys::of_account());
    assert!(matches!(
        stage.log_in(&forged),
        Err(LoginError::KeyNotFound(_))
    ));
    assert_only_keys_were_read(&stage);
}

#[test]
fn without_live_checks_a_login_of_an_accounts_own_token_is_not_renewed() {
    let stage = Stage::ready();
    let by_account = Token::of_account().signed_by(keys::of_account());
    let of_account = stage.log_in(&by_account).unwrap();
    let of_google = stage.log_in(&signed(&google_token())).unwrap();
    stage.role(RoleChanges {
        live_checks: Some(false),
        ..RoleChanges::default()
    });
    assert!(matches!(
        stage.renew(&of_account),
        Err(RenewalError::AccountNotBound(role)) if role == "dev"
    ));
    assert!(stage.renew(&of_google).is_ok());
}

#[test]
fn without_live_checks_an_instance_logs_in_within_what_its_claims_tell() {
    let stage = trusting(RoleChanges {
        bound_service_accounts: list(&[EMAIL]),
        bound_projects: list(&["p1"]),
        bound_zones: list(&[ZONE]),
        max_instance_age: Some(20_000),
        ..gce()
    });
    let identity = stage.log_in(&signed(&token())).unwrap();
    assert_eq!(identity.display_name, "web-1");
    assert!(stage.renew(&identity).is_ok());
    let refused = |token: Token| stage.log_in(&signed(&token)).unwrap_err();
    assert!(matches!(
        refused(token_with("project_id", "p2")),
        LoginError::InstanceProjectNotBound(_)
    ));
    assert_eq!(
        refused(token_with("zone", "europe-west10-a")),
        LoginError::ZoneNotBound(vec![ZONE.to_owned()])
    );
    let expected = LoginError::InstanceTooOld(InstanceTooOld {
        age: NOW - CREATED + 10_001,
        maximum: 20_000,
    });
    let old = token_with("instance_creation_timestamp", CREATED - 10_001);
    assert_eq!(refused(old), expected);
    assert_eq!(refused(google_token()), LoginError::InstanceClaimsMissing);
    let other = token().claim("email", OTHER_EMAIL).claim("sub", "1");
    assert!(matches!(
        refused(other),
        LoginError::InstanceAccountNotBound(_)
    ));
    stage.clock.advance(Duration::from_secs(10_001));
    assert!(
        stage.renew(&identity).is_err(),
        "the instance has grown too old"
    );
    assert_only_keys_were_read(&stage);
}

fn attempt(service: &Service, stage: &Stage, jwt: &str) -> Result<Identity, LoginError> {
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: jwt.to_owned(),
        source_address: None,
    };
    service.login(&stage.mount, &request)
}

fn once() -> RoleChanges {
    RoleChanges {
        refuse_replay: Some(true),
        ..gce()
    }
}

#[test]
fn bound_audiences_are_accepted_exactly_beside_the_roles_own() {
    let stage = stage(RoleChanges {
        bound_audiences: list(&["https://vault.example"]),
        ..gce()
    });
    let log_in = |audience: &str| stage.log_in(&signed(&token().claim("aud", audience)));
    assert!(log_in("https://vault.example").is_ok());
    assert!(log_in("http://vault/dev").is_ok());
    for other in [
        "https://vault.example/",
        "https://VAULT.example",
        "vault.example",
    ] {
        let expected = LoginError::AudienceNotForRole("dev".to_owned());
        assert_eq!(log_in(other).unwrap_err(), expected);
    }
}

fn marks(stage: &Stage) -> Vec<String> {
    let keys = stage.store.keys().into_iter();
    keys.filter(|key| key.starts_with("m1/used-token/"))
        .collect()
}

#[test]
fn g12_of_64_parallel_logins_with_one_token_one_wins() {
    let stage = trusting(once());
    let others = [
        stage.another_instance(),
        stage.another_instance(),
        stage.another_instance(),
    ];
    let services: Vec<&Service> = others.iter().chain([&stage.service]).collect();
    let jwt = signed(&token());
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let attempts: Vec<_> = (0..64)
            .map(|number| {
                let (stage, jwt, service) = (&stage, &jwt, services[number % services.len()]);
                scope.spawn(move || attempt(service, stage, jwt))
            })
            .collect();
        attempts
            .into_iter()
            .map(|attempt| attempt.join().unwrap())
            .collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    assert!(
        lost.into_iter()
            .all(|outcome| outcome.unwrap_err() == LoginError::Replayed)
    );
    let marks = marks(&stage);
    assert_eq!(marks.len(), 1);
    let signature = jwt.rsplit('.').next().unwrap();
    assert!(!marks[0].contains(signature) && !marks[0].contains(&signature[..16]));
}

#[test]
fn g12_a_mark_lasts_as_long_as_its_token_could_be_shown() {
    let stage = stage(once());
    let jwt = signed(&token());
    attempt(&stage.service, &stage, &jwt).unwrap();
    stage.clock.advance(Duration::from_secs(3600 + 59));
    assert_eq!(
        attempt(&stage.service, &stage, &jwt).unwrap_err(),
        LoginError::Replayed
    );
    assert_eq!(marks(&stage).len(), 1);
    stage.clock.advance(Duration::from_secs(2));
    assert_eq!(
        attempt(&stage.service, &stage, &jwt).unwrap_err(),
        LoginError::Expired
    );
    assert!(marks(&stage).is_empty());
}

#[test]
fn g12_a_refused_login_leaves_the_token_its_use() {
    let stage = stage(once());
    let jwt = signed(&token());
    stage.google.state().compute.instances[0].set("status", "STOPPING");
    assert!(attempt(&stage.service, &stage, &jwt).is_err());
    assert!(marks(&stage).is_empty());
    stage.google.state().compute.instances[0].set("status", "RUNNING");
    let failure = StoreError::Unavailable("gone".to_owned());
    stage
        .store
        .fail_next_commit(CommitError::Failed(failure.clone()));
    let expected = LoginError::Storage(failure.into());
    assert_eq!(attempt(&stage.service, &stage, &jwt).unwrap_err(), expected);
    assert!(attempt(&stage.service, &stage, &jwt).is_ok());
    let younger = signed(&token().claim("iat", NOW - 1));
    assert!(
        attempt(&stage.service, &stage, &younger).is_ok(),
        "another token has its own use"
    );
    assert_eq!(marks(&stage).len(), 2);
}

#[test]
fn g12_without_the_option_a_token_may_be_used_again_and_nothing_is_stored() {
    let stage = stage(gce());
    let jwt = signed(&token());
    for _ in 0..2 {
        stage.log_in(&jwt).unwrap();
    }
    assert!(marks(&stage).is_empty());
}
