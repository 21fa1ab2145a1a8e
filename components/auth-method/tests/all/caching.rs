//! The memory of Google's answers, and for how long it lasts: contract 8.1 rule 6, 8.2; SEC-G7, G8, N9.

use std::collections::BTreeMap;
use std::time::Duration;

use gatehouse_auth_method::{
    Config, ConfigChanges, KeyLookupError, KeyNotFound, Login, LoginError, LoginRequest,
    RoleChanges, Roles, Settings,
};
use gatehouse_ports::HttpError;

use crate::google::{self, EMAIL, Fault, OTHER_EMAIL};
use crate::keys::{self, Token};
use crate::stage::{NOW, Stage, key_file, mount};

const CERTIFICATES: &str = "oauth2/v1/certs";
const ACCOUNT_KEYS: &str = "x509";
const ACCOUNT: &str = "serviceAccounts/";

fn by_account(at: u64) -> String {
    Token::of_account()
        .claim("exp", at + 600)
        .signed_by(keys::of_account())
}

fn by_google(at: u64) -> String {
    Token::of_google()
        .claim("iat", at)
        .claim("exp", at + 600)
        .signed_by(keys::of_google())
}

fn wait(stage: &Stage, seconds: u64) -> u64 {
    use gatehouse_ports::Clock as _;
    stage.clock.advance(Duration::from_secs(seconds));
    stage.clock.now_seconds()
}

fn answers(stage: &Stage, headers: &[(&str, &str)]) {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    stage.google.state().key_headers = headers.iter().map(owned).collect();
}

fn unreachable() -> Fault {
    Fault::Error(HttpError::Failed("unreachable".to_owned()))
}

#[test]
fn a_second_login_asks_google_nothing() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let calls = stage.http.urls().len();
    stage.log_in(&by_account(NOW)).unwrap();
    assert_eq!(stage.http.urls().len(), calls);
}

#[test]
fn g7_the_state_of_an_account_is_believed_for_a_minute_and_no_longer() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage.google.disable(EMAIL);
    let now = wait(&stage, 47);
    assert!(stage.log_in(&by_account(now)).is_ok());
    let now = wait(&stage, 13);
    let expected = LoginError::AccountDisabled(EMAIL.to_owned());
    assert_eq!(stage.log_in(&by_account(now)).unwrap_err(), expected);
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage.google.fail(ACCOUNT, unreachable(), usize::MAX);
    let now = wait(&stage, 59);
    assert!(
        stage.log_in(&by_account(now)).is_ok(),
        "a renewal that fails changes nothing"
    );
    let now = wait(&stage, 1);
    let unavailable = LoginError::GoogleUnavailable("iam".into());
    assert_eq!(stage.log_in(&by_account(now)).unwrap_err(), unavailable);
}

#[test]
fn g7_n8_a_renewal_that_finds_the_account_gone_ends_the_belief_in_it() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage.google.state().accounts.clear();
    let now = wait(&stage, 54);
    for _ in 0..2 {
        let refused = stage.log_in(&by_account(now)).unwrap_err();
        assert!(matches!(refused, LoginError::AccountNotFound(_)));
    }
    assert_eq!(stage.google.calls(ACCOUNT), 2);
}

#[test]
fn contract_8_2_n8_googles_document_is_renewed_late_in_the_life_that_it_says_within_bounds() {
    for (headers, lifetime) in [
        (&[("cache-control", "max-age=1000")][..], 1000),
        (&[("cache-control", "max-age=1000"), ("age", "100")], 900),
        (&[("cache-control", "max-age=1")], 60),
        (&[("cache-control", "no-store")], 60),
        (&[("cache-control", "max-age=999999")], 6 * 3600),
        (&[], 3600),
    ] {
        let stage = Stage::ready();
        answers(&stage, headers);
        stage.log_in(&by_google(NOW)).unwrap();
        let early = lifetime * 8 / 10 - 1;
        let now = wait(&stage, early);
        stage.log_in(&by_google(now)).unwrap();
        assert_eq!(stage.google.calls(CERTIFICATES), 1, "{headers:?}");
        let now = wait(&stage, lifetime * 9 / 10 - early);
        stage.log_in(&by_google(now)).unwrap();
        assert_eq!(stage.google.calls(CERTIFICATES), 2, "{headers:?}");
    }
}

#[test]
fn n8_a_renewal_that_fails_leaves_the_document_in_use_and_is_not_repeated_at_once() {
    let stage = Stage::ready();
    stage.log_in(&by_google(NOW)).unwrap();
    stage.google.fail(CERTIFICATES, unreachable(), usize::MAX);
    let now = wait(&stage, 3300);
    assert!(stage.log_in(&by_google(now)).is_ok());
    let calls = stage.google.calls(CERTIFICATES);
    assert!(calls > 1);
    let now = wait(&stage, 29);
    assert!(stage.log_in(&by_google(now)).is_ok());
    assert_eq!(stage.google.calls(CERTIFICATES), calls);
    let now = wait(&stage, 1);
    assert!(stage.log_in(&by_google(now)).is_ok());
    assert!(stage.google.calls(CERTIFICATES) > calls);
}

#[test]
fn contract_8_2_n9_an_accounts_document_lives_a_quarter_of_an_hour_at_most() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let now = wait(&stage, 719);
    stage.log_in(&by_account(now)).unwrap();
    assert_eq!(stage.google.calls(ACCOUNT_KEYS), 1);
    stage.google.fail(ACCOUNT_KEYS, unreachable(), usize::MAX);
    let now = wait(&stage, 180);
    assert!(stage.log_in(&by_account(now)).is_ok());
    let now = wait(&stage, 1);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    assert_eq!(stage.log_in(&by_account(now)).unwrap_err(), unavailable);
}

#[test]
fn n8_a_renewed_document_without_the_key_ends_its_use() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage
        .google
        .state()
        .account_certificates
        .insert(EMAIL.to_owned(), BTreeMap::new());
    let now = wait(&stage, 810);
    let refused = stage.log_in(&by_account(now)).unwrap_err();
    assert!(matches!(
        refused,
        LoginError::KeyNotFound(KeyNotFound {
            refusal: KeyLookupError::KeyUnknown,
            ..
        })
    ));
}

#[test]
fn contract_8_2_a_key_that_the_account_is_known_to_have_is_not_looked_for_at_google() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let now = wait(&stage, 40);
    stage.log_in(&by_account(now)).unwrap();
    assert_eq!(stage.google.calls(CERTIFICATES), 1);
}

#[test]
fn contract_4_3_n9_whether_google_has_a_new_key_is_unknown_during_an_outage() {
    let stage = Stage::ready();
    stage.log_in(&by_google(NOW)).unwrap();
    wait(&stage, 30);
    stage.google.fail(CERTIFICATES, unreachable(), usize::MAX);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    for _ in 0..2 {
        assert_eq!(stage.log_in(&garbage(1)).unwrap_err(), unavailable);
    }
    assert!(
        stage.log_in(&by_account(NOW)).is_ok(),
        "keys of accounts are found all the same"
    );
}

#[test]
fn g8_ten_thousand_unknown_keys_cause_one_question_per_document_and_half_minute() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    wait(&stage, 30);
    for number in 0..10_000 {
        let token = Token::of_account().header("kid", format!("unknown-{number}"));
        // The signature is never looked at.
        let jwt = format!("{}.AAAA", token.signing_input());
        assert!(matches!(
            stage.log_in(&jwt),
            Err(LoginError::KeyNotFound(_))
        ));
    }
    assert_eq!(stage.google.calls(CERTIFICATES), 2);
    assert_eq!(stage.google.calls(ACCOUNT_KEYS), 2);
    wait(&stage, 30);
    let jwt = format!(
        "{}.AAAA",
        Token::of_account().header("kid", "unknown").signing_input()
    );
    stage.log_in(&jwt).unwrap_err();
    assert_eq!(stage.google.calls(CERTIFICATES), 3);
    assert_eq!(stage.google.calls(ACCOUNT_KEYS), 3);
}

#[test]
fn g8_a_new_key_is_found_half_a_minute_after_the_last_question() {
    let stage = Stage::ready();
    stage.log_in(&by_google(NOW)).unwrap();
    let certificate = keys::of_stranger().certificate.clone();
    stage
        .google
        .state()
        .google_certificates
        .insert("new-key".to_owned(), certificate);
    let jwt = Token::of_google()
        .header("kid", "new-key")
        .signed_by(keys::of_stranger());
    assert!(stage.log_in(&jwt).is_err());
    wait(&stage, 30);
    assert!(stage.log_in(&jwt).is_ok());
}

#[test]
fn g8_an_unknown_account_is_remembered_for_half_a_minute() {
    let stage = Stage::ready();
    let jwt = Token::of_account()
        .claim("sub", "new@p1.example")
        .signed_by(keys::of_account());
    for _ in 0..5 {
        stage.log_in(&jwt).unwrap_err();
    }
    assert_eq!(stage.google.calls(ACCOUNT_KEYS), 1);
    wait(&stage, 30);
    stage.log_in(&jwt).unwrap_err();
    assert_eq!(stage.google.calls(ACCOUNT_KEYS), 2);
}

#[test]
fn g8_an_account_that_iam_does_not_have_is_remembered_for_half_a_minute() {
    let stage = Stage::ready();
    stage.google.state().accounts.clear();
    for _ in 0..5 {
        stage.log_in(&by_google(NOW)).unwrap_err();
    }
    assert_eq!(stage.google.calls(ACCOUNT), 1);
    wait(&stage, 30);
    stage.log_in(&by_google(NOW)).unwrap_err();
    assert_eq!(stage.google.calls(ACCOUNT), 2);
}

#[test]
fn n9_googles_keys_outlive_an_outage_by_an_hour_and_account_keys_do_not() {
    let stage = Stage::ready();
    stage.log_in(&by_google(NOW)).unwrap();
    stage.log_in(&by_account(NOW)).unwrap();
    stage
        .google
        .fail("www.googleapis.com", unreachable(), usize::MAX);
    let now = wait(&stage, 3600 + 3599);
    assert!(stage.log_in(&by_google(now)).is_ok());
    let calls = stage.google.calls(CERTIFICATES);
    assert!(stage.log_in(&by_google(now)).is_ok());
    assert_eq!(
        stage.google.calls(CERTIFICATES),
        calls,
        "the outage is not probed by every login"
    );
    let unavailable = LoginError::GoogleUnavailable("api".into());
    assert_eq!(stage.log_in(&by_account(now)).unwrap_err(), unavailable);
    let now = wait(&stage, 10);
    assert_eq!(stage.log_in(&by_google(now)).unwrap_err(), unavailable);
}

/// By Google or by the account: a key that neither publishes, and another one each time.
fn garbage(number: usize) -> String {
    Token::of_account()
        .header("kid", format!("garbage-{number}"))
        .signed_by(keys::of_stranger())
}

#[test]
fn g8_n7_during_an_outage_with_nothing_cached_garbage_logins_do_not_each_cost_a_fetch() {
    for part in [CERTIFICATES, ACCOUNT_KEYS] {
        let stage = Stage::ready();
        stage.google.fail(part, unreachable(), 3);
        let unavailable = LoginError::GoogleUnavailable("api".into());
        let refused = stage.log_in(&garbage(0)).unwrap_err();
        assert_eq!(refused, unavailable, "{part}");
        let tries = 3;
        assert_eq!(stage.google.calls(part), tries);
        for number in 1..20 {
            assert_eq!(stage.refuse(&garbage(number)), (unavailable.clone(), 0));
        }
        let now = wait(&stage, 4);
        assert_eq!(stage.refuse(&by_account(now)), (unavailable, 0));
        let now = wait(&stage, 1);
        assert!(
            stage.log_in(&by_account(now)).is_ok(),
            "recovery within 5 s"
        );
        assert_eq!(stage.google.calls(part), tries + 1);
    }
}

#[test]
fn g8_an_outage_of_one_accounts_document_is_not_that_of_another() {
    let stage = Stage::ready();
    let outage = Fault::Error(HttpError::TimedOut);
    stage.google.fail(ACCOUNT_KEYS, outage, 3);
    assert!(stage.log_in(&by_account(NOW)).is_err());
    let other = Token::of_account()
        .claim("sub", OTHER_EMAIL)
        .signed_by(keys::of_stranger());
    let (refused, calls) = stage.refuse(&other);
    assert_ne!(refused, LoginError::GoogleUnavailable("api".into()));
    assert!(calls > 0);
}

#[test]
fn n9_an_outage_that_outlasts_its_own_time_limit_is_remembered_from_its_end() {
    use gatehouse_ports::doubles::{ManualClock, ScriptedHttp, SeededRandom};
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
    let silent: &'static ScriptedHttp = Box::leak(Box::new(ScriptedHttp::new(move |request| {
        clock.advance(request.timeout);
        Err(HttpError::TimedOut)
    })));
    let stage = Stage::ready();
    let service = gatehouse_auth_method::AuthMethodService::new(
        stage.store,
        gatehouse_ports::NoCache,
        silent,
        clock,
        SeededRandom::new(1),
        gatehouse_auth_method::Settings::default(),
    );
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: by_account(NOW),
        source_address: None,
    };
    for (seconds, calls) in [(0, 1), (4, 1), (1, 2)] {
        clock.advance(Duration::from_secs(seconds));
        let refused = service.login(&stage.mount, &request).unwrap_err();
        assert_eq!(refused, LoginError::GoogleUnavailable("api".into()));
        assert_eq!(silent.urls().len(), calls);
    }
}

#[test]
fn g8_an_answer_that_is_no_key_document_is_remembered_like_an_outage() {
    for part in [CERTIFICATES, ACCOUNT_KEYS] {
        let stage = Stage::ready();
        let answer = Fault::Answer(google::text(200, "<html>"));
        stage.google.fail(part, answer, 1);
        let unusable = LoginError::GoogleUnusable("api".into());
        for _ in 0..2 {
            assert_eq!(stage.log_in(&by_account(NOW)).unwrap_err(), unusable);
            assert_eq!(stage.google.calls(part), 1);
        }
        let now = wait(&stage, 4);
        assert_eq!(stage.refuse(&by_account(now)), (unusable, 0));
        let now = wait(&stage, 1);
        assert!(stage.log_in(&by_account(now)).is_ok(), "{part}");
    }
}

#[test]
fn contract_8_1_an_access_token_is_used_until_five_minutes_before_its_end() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage.google.fail("/token", unreachable(), usize::MAX);
    let now = wait(&stage, 3298);
    assert!(
        stage.log_in(&by_account(now)).is_ok(),
        "a renewal that fails changes nothing"
    );
    let now = wait(&stage, 61);
    let unavailable = LoginError::GoogleUnavailable("oauth2".into());
    assert_eq!(stage.log_in(&by_account(now)).unwrap_err(), unavailable);
}

#[test]
fn n8_an_access_token_is_renewed_ahead() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let now = wait(&stage, 2638);
    stage.log_in(&by_account(now)).unwrap();
    assert_eq!(
        (stage.google.calls("/token"), stage.google.calls(ACCOUNT)),
        (1, 2)
    );
    let now = wait(&stage, 332);
    stage.log_in(&by_account(now)).unwrap();
    assert_eq!(stage.google.calls("/token"), 2);
}

#[test]
fn a_revoked_access_token_is_replaced_at_once() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    stage.google.state().accepted_token = "another".to_owned();
    let now = wait(&stage, 61);
    assert!(stage.log_in(&by_account(now)).is_ok());
    assert_eq!(stage.google.calls("/token"), 2);
}

#[test]
fn contract_2_6_a_config_write_here_or_elsewhere_ends_what_was_remembered() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let elsewhere = stage.another_instance();
    let changes = || ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    };
    elsewhere.write_config(&stage.mount, changes()).unwrap();
    stage.log_in(&by_account(NOW)).unwrap();
    let asked = |times| {
        for part in [CERTIFICATES, ACCOUNT_KEYS, "/token", ACCOUNT] {
            assert_eq!(stage.google.calls(part), times, "{part}");
        }
    };
    asked(2);
    stage.configure(changes());
    stage.log_in(&by_account(NOW)).unwrap();
    asked(3);
}

#[test]
fn mounts_share_nothing() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: by_account(NOW),
        source_address: None,
    };
    let refused = stage.service.login(&mount("m2"), &request).unwrap_err();
    assert_eq!(refused, LoginError::RoleNotFound("dev".to_owned()));
}

#[test]
fn a_role_change_acts_at_the_next_login() {
    let stage = Stage::ready();
    stage.log_in(&by_account(NOW)).unwrap();
    let elsewhere = stage.another_instance();
    let changes = RoleChanges {
        bound_service_accounts: Some(vec![OTHER_EMAIL.to_owned()]),
        ..RoleChanges::default()
    };
    let any = gatehouse_auth_method::Precondition::Any;
    elsewhere
        .write_role(&stage.mount, "dev", changes, any)
        .unwrap();
    let refused = stage.log_in(&by_account(NOW)).unwrap_err();
    assert!(matches!(refused, LoginError::AccountNotBound(_)));
}

#[test]
fn j13_keys_that_rs256_cannot_use_are_as_if_not_published() {
    let stage = Stage::ready();
    let elliptic = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let document = BTreeMap::from([
        ("account-key".to_owned(), keys::certificate_of(&elliptic)),
        (
            "broken".to_owned(),
            "-----BEGIN CERTIFICATE-----\nAAAA\n".to_owned(),
        ),
        ("good".to_owned(), keys::of_account().certificate.clone()),
    ]);
    stage
        .google
        .state()
        .account_certificates
        .insert(EMAIL.to_owned(), document);
    let refused = stage.log_in(&by_account(NOW)).unwrap_err();
    assert!(matches!(
        refused,
        LoginError::KeyNotFound(KeyNotFound {
            refusal: KeyLookupError::KeyUnknown,
            ..
        })
    ));
    let jwt = Token::of_account()
        .header("kid", "good")
        .signed_by(keys::of_account());
    assert!(stage.log_in(&jwt).is_ok());
}

#[test]
fn contract_8_2_public_keys_are_asked_for_at_the_configured_endpoint() {
    let settings = gatehouse_auth_method::Settings {
        allowed_hosts: vec!["google.example".to_owned()],
        ..gatehouse_auth_method::Settings::default()
    };
    let stage = Stage::with_settings(settings);
    stage.configure(ConfigChanges {
        custom_endpoint: Some(vec![(
            "api".to_owned(),
            "https://google.example/base".to_owned(),
        )]),
        ..ConfigChanges::default()
    });
    stage.role(crate::stage::dev_role());
    let answer = google::text(404, "");
    stage
        .google
        .fail("google.example", Fault::Answer(answer), usize::MAX);
    stage.log_in(&by_account(NOW)).unwrap_err();
    assert_eq!(
        stage.http.urls(),
        ["https://google.example/base/oauth2/v1/certs"]
    );
    // The server's operator takes the host off the list: what is stored is not used any more.
    let strict = stage.another_instance();
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: by_account(NOW),
        source_address: None,
    };
    let refused = strict.login(&stage.mount, &request).unwrap_err();
    assert_eq!(refused, LoginError::EndpointDenied("api".into()));
    assert_eq!(stage.http.urls().len(), 1);
}

#[test]
fn g15_n1_a_host_that_an_older_store_allows_is_refused_when_it_is_used() {
    const BUCKET: &str = "https://storage.googleapis.com/bucket";
    // The store has a host that an operator had opened, or an earlier release took for Google's.
    let before = Settings {
        allowed_hosts: vec!["storage.googleapis.com".to_owned()],
        ..Settings::default()
    };
    let stage = Stage::with_settings(before);
    for key in ["api", "iam", "compute", "crm"] {
        stage.configure(ConfigChanges {
            custom_endpoint: Some(vec![(key.to_owned(), BUCKET.to_owned())]),
            ..ConfigChanges::default()
        });
    }
    stage.role(crate::stage::dev_role());
    let now = stage.another_instance();
    let request = LoginRequest {
        role: "dev".to_owned(),
        jwt: by_account(NOW),
        source_address: None,
    };
    let refused = now.login(&stage.mount, &request).unwrap_err();
    assert_eq!(refused, LoginError::EndpointDenied("api".into()));
    assert!(stage.http.urls().is_empty(), "{:?}", stage.http.urls());
    // It is still shown, and can be cleared or replaced.
    let view = now.read_config(&stage.mount).unwrap();
    assert_eq!(view.custom_endpoint.api.as_deref(), Some(BUCKET));
    let cleared = ConfigChanges {
        custom_endpoint: Some(vec![("api".to_owned(), String::new())]),
        ..ConfigChanges::default()
    };
    now.write_config(&stage.mount, cleared).unwrap();
    assert!(
        now.read_config(&stage.mount)
            .unwrap()
            .custom_endpoint
            .api
            .is_none()
    );
}

#[test]
fn l6_the_time_is_told_at_which_the_keys_of_google_that_serve_were_fetched() {
    let stage = Stage::ready();
    let fetched_at = || stage.service.google_keys_fetched_at(&stage.mount).unwrap();
    assert_eq!(fetched_at(), None);
    answers(&stage, &[("cache-control", "max-age=1000")]);
    stage.log_in(&by_google(NOW)).unwrap();
    assert_eq!(fetched_at(), Some(NOW * 1000));
    let now = wait(&stage, 950);
    assert_eq!(fetched_at(), Some(NOW * 1000));
    stage.log_in(&by_google(now)).unwrap();
    assert_eq!(fetched_at(), Some(now * 1000));
    // While Google cannot be reached they serve for an hour longer.
    wait(&stage, 1000 + 3599);
    assert_eq!(fetched_at(), Some(now * 1000));
    wait(&stage, 1);
    assert_eq!(fetched_at(), None);
    assert_eq!(stage.google.calls(CERTIFICATES), 2);
}
