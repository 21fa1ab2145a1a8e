//! The answers of Google that instances share, and that each applies the same rules to them: contract 8.1, 8.2; SEC-G7, G8, N8, N9.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatehouse_auth_method::{Config as _, KeyLookupError, KeyNotFound, Login, LoginError};
use gatehouse_ports::doubles::{ManualClock, SeededRandom};
use gatehouse_ports::{Cache, Clock as _, Entry, HttpError, Random as _, Version};

use crate::fleet::{Fleet, request};
use crate::google::{self, EMAIL, Fault};
use crate::keys::{self, Token};
use crate::stage::NOW;

const CERTIFICATES: &str = "oauth2/v1/certs";
const ACCOUNT_KEYS: &str = "x509";
const ACCOUNT: &str = "serviceAccounts/";

fn fleet() -> Fleet<ManualClock> {
    Fleet::new(3, ManualClock::at_seconds(NOW))
}

fn wait(fleet: &Fleet<ManualClock>, seconds: u64) {
    fleet.clock.advance(Duration::from_secs(seconds));
}

fn by_account(fleet: &Fleet<ManualClock>) -> String {
    Token::of_account()
        .claim("exp", fleet.clock.now_seconds() + 600)
        .signed_by(keys::of_account())
}

fn by_google(fleet: &Fleet<ManualClock>) -> String {
    let now = fleet.clock.now_seconds();
    Token::of_google()
        .claim("iat", now)
        .claim("exp", now + 600)
        .signed_by(keys::of_google())
}

/// The signature is never looked at.
fn with_unknown_key(fleet: &Fleet<ManualClock>, key_id: &str) -> String {
    let token = Token::of_account()
        .claim("exp", fleet.clock.now_seconds() + 600)
        .header("kid", key_id);
    format!("{}.AAAA", token.signing_input())
}

fn unreachable() -> Fault {
    Fault::Error(HttpError::Failed("unreachable".to_owned()))
}

#[test]
fn n8_what_one_instance_has_asked_for_no_other_asks_for() {
    let fleet = fleet();
    for instance in [0, 1, 2] {
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
        assert_eq!(fleet.calls(), [1, 1, 1, 1]);
    }
}

#[test]
fn a_warm_login_does_not_touch_what_is_shared() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    let uses = fleet.cache.uses();
    wait(&fleet, 47);
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    assert_eq!(fleet.cache.uses(), uses);
}

#[test]
fn contract_8_2_a_document_that_is_taken_over_ends_when_it_would_have_ended() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    fleet.google.fail(ACCOUNT_KEYS, unreachable(), usize::MAX);
    wait(&fleet, 600);
    for (instance, seconds) in [(1, 299), (2, 0)] {
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
        wait(&fleet, seconds);
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
    }
    wait(&fleet, 1);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    for instance in [0, 1, 2] {
        let refused = fleet.log_in(instance, &by_account(&fleet)).unwrap_err();
        assert_eq!(refused, unavailable);
    }
}

#[test]
fn g7_the_state_of_an_account_is_believed_for_a_minute_by_all_together() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    fleet.google.disable(EMAIL);
    wait(&fleet, 40);
    assert!(fleet.log_in(1, &by_account(&fleet)).is_ok());
    wait(&fleet, 20);
    let disabled = LoginError::AccountDisabled(EMAIL.to_owned());
    for instance in [1, 2, 0] {
        let refused = fleet.log_in(instance, &by_account(&fleet)).unwrap_err();
        assert_eq!(refused, disabled);
    }
    assert_eq!(fleet.google.calls(ACCOUNT), 2);
}

#[test]
fn g8_that_there_is_no_such_account_is_known_to_all_for_half_a_minute() {
    let fleet = fleet();
    let stranger = Token::of_account()
        .claim("sub", "new@p1.example")
        .signed_by(keys::of_account());
    fleet.google.state().accounts.clear();
    for calls in [1, 2] {
        for instance in [0, 1, 2] {
            fleet.log_in(instance, &stranger).unwrap_err();
            let refused = fleet.log_in(instance, &by_google(&fleet)).unwrap_err();
            assert!(matches!(refused, LoginError::AccountNotFound(_)));
        }
        let asked = [ACCOUNT_KEYS, ACCOUNT].map(|part| fleet.google.calls(part));
        assert_eq!(asked, [calls, calls]);
        wait(&fleet, 30);
    }
}

#[test]
fn g8_ten_thousand_unknown_keys_at_several_instances_cause_one_fetch_per_document_and_half_minute()
{
    let fleet = fleet();
    let random = SeededRandom::new(3);
    let asked: Arc<Mutex<Vec<(usize, u64)>>> = Arc::default();
    let parts = [CERTIFICATES, ACCOUNT_KEYS];
    for _ in 0..10_000 {
        let mut bytes = [0; 10];
        random.fill(&mut bytes).unwrap();
        let before = parts.map(|part| fleet.google.calls(part));
        let jwt = with_unknown_key(&fleet, &format!("{bytes:?}"));
        let instance = usize::from(bytes[0]) % 3;
        let refused = fleet.log_in(instance, &jwt).unwrap_err();
        assert!(matches!(
            refused,
            LoginError::KeyNotFound(KeyNotFound {
                refusal: KeyLookupError::KeyUnknown,
                ..
            })
        ));
        for (part, (name, before)) in parts.iter().zip(before).enumerate() {
            for _ in before..fleet.google.calls(name) {
                asked
                    .lock()
                    .unwrap()
                    .push((part, fleet.clock.now_milliseconds()));
            }
        }
        fleet
            .clock
            .advance(Duration::from_millis(u64::from(bytes[1])));
    }
    let asked = asked.lock().unwrap();
    for part in [0, 1] {
        let times = asked.iter().filter(|(of, _)| *of == part);
        let times: Vec<u64> = times.map(|(_, at)| *at).collect();
        assert!(times.len() > 30, "new keys are looked for");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 30_000));
    }
}

#[test]
fn g8_a_new_key_that_one_instance_has_found_is_there_for_all() {
    let fleet = fleet();
    for instance in [0, 1] {
        fleet.log_in(instance, &by_google(&fleet)).unwrap();
    }
    wait(&fleet, 30);
    let certificate = keys::of_stranger().certificate.clone();
    let added = ("new-key".to_owned(), certificate);
    fleet.google.state().google_certificates.extend([added]);
    let jwt = Token::of_google()
        .header("kid", "new-key")
        .signed_by(keys::of_stranger());
    for instance in [0, 1, 2] {
        assert!(fleet.log_in(instance, &jwt).is_ok());
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), 2);
}

#[test]
fn n7_an_outage_that_one_instance_has_met_is_known_to_all_for_5_s() {
    let fleet = fleet();
    fleet.google.fail(CERTIFICATES, unreachable(), 3);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    for instance in [0, 1, 2] {
        let refused = fleet.log_in(instance, &by_google(&fleet)).unwrap_err();
        assert_eq!(refused, unavailable);
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), 3);
    wait(&fleet, 5);
    for instance in [2, 1, 0] {
        assert!(fleet.log_in(instance, &by_google(&fleet)).is_ok());
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), 4);
}

#[test]
fn contract_8_1_a_question_that_its_askers_own_time_cut_off_is_no_outage_for_others() {
    let fleet = fleet();
    let clock = fleet.clock;
    fleet.during(CERTIFICATES, || clock.advance(Duration::from_secs(15)));
    fleet.during(ACCOUNT_KEYS, || clock.advance(Duration::from_secs(5)));
    fleet
        .google
        .fail(ACCOUNT_KEYS, Fault::Error(HttpError::TimedOut), 1);
    let jwt = by_account(&fleet);
    let unavailable = LoginError::GoogleUnavailable("api".into());
    assert_eq!(fleet.log_in(0, &jwt).unwrap_err(), unavailable);
    assert!(fleet.log_in(1, &jwt).is_ok());
    assert!(fleet.log_in(0, &jwt).is_ok());
    assert_eq!(clock.now_seconds(), NOW + 20, "the claim has been given up");
}

#[test]
fn n8_while_one_renews_the_others_go_on_with_what_they_have() {
    let fleet = fleet();
    fleet.log_in(0, &by_google(&fleet)).unwrap();
    fleet.log_in(1, &by_google(&fleet)).unwrap();
    wait(&fleet, 3300);
    let jwt = by_google(&fleet);
    let (others, mount, meanwhile) = (fleet.instances, fleet.mount.clone(), jwt.clone());
    let clock = fleet.clock;
    fleet.during(CERTIFICATES, move || {
        let before = clock.now_milliseconds();
        for other in &others[1..] {
            other.login(&mount, &request(&meanwhile)).unwrap();
        }
        assert_eq!(clock.now_milliseconds(), before, "nobody waits");
    });
    fleet.log_in(0, &jwt).unwrap();
    assert_eq!(fleet.google.calls(CERTIFICATES), 2);
    let uses = fleet.cache.uses();
    fleet.log_in(0, &jwt).unwrap();
    assert_eq!(fleet.cache.uses(), uses, "the renewed one is remembered");
    for instance in [1, 2] {
        fleet.log_in(instance, &jwt).unwrap();
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), 2);
}

#[test]
fn n8_a_renewal_that_fails_is_not_tried_by_each_instance() {
    let fleet = fleet();
    for instance in [0, 1, 2] {
        fleet.log_in(instance, &by_google(&fleet)).unwrap();
    }
    wait(&fleet, 3300);
    fleet.google.fail(CERTIFICATES, unreachable(), usize::MAX);
    fleet.log_in(0, &by_google(&fleet)).unwrap();
    let calls = fleet.google.calls(CERTIFICATES);
    for instance in [1, 2, 0] {
        fleet.log_in(instance, &by_google(&fleet)).unwrap();
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), calls);
}

#[test]
fn contract_8_1_a_revoked_access_token_is_replaced_once_for_all() {
    let fleet = fleet();
    for instance in [0, 1] {
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
    }
    fleet.google.state().accepted_token = "another".to_owned();
    for instance in [0, 1, 2] {
        wait(&fleet, 61);
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
    }
    assert_eq!(fleet.google.calls("/token"), 2);
}

#[test]
fn access_tokens_are_shared_in_memory_only() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    let token = fleet.google.state().accepted_token.clone();
    let holds = |value: &[u8]| {
        let mut windows = value.windows(token.len());
        windows.any(|window| window == token.as_bytes())
    };
    let shared = fleet.cache.keys();
    let shared = shared.iter().filter_map(|key| fleet.cache.get(key));
    assert_eq!(shared.filter(|entry| holds(&entry.value)).count(), 1);
    assert!(!fleet.store.values().iter().any(|value| holds(value)));
}

#[test]
fn contract_2_6_a_config_write_ends_what_was_shared() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    fleet.configure();
    for instance in [1, 0] {
        fleet.log_in(instance, &by_account(&fleet)).unwrap();
        assert_eq!(fleet.calls(), [2, 2, 2, 2]);
    }
}

#[test]
fn keys_of_what_is_shared_are_short_and_show_no_name() {
    let fleet = fleet();
    let longest = format!("{}@{}", "a".repeat(160), "b".repeat(159));
    let jwt = Token::of_account()
        .claim("sub", longest)
        .signed_by(keys::of_account());
    fleet.log_in(0, &jwt).unwrap_err();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    let keys = fleet.cache.keys();
    assert_eq!(keys.len(), 5);
    for key in keys {
        assert!(key.starts_with("google/m1/") && key.len() < 128, "{key}");
        assert!(!key.contains("dev") && !key.contains('@'), "{key}");
    }
}

#[test]
fn garbage_in_the_shared_cache_is_as_good_as_nothing() {
    let weak_key = format!(
        r#"{{"known":{{"answer":{{"value":{{"google-key":"AAAA","account-key":"AAAA"}},
        "asked_at":{0},"fresh_until":{1}}},"setback":null,"asked_at":{0}}},"claimed_until":0}}"#,
        NOW * 1000,
        (NOW + 3600) * 1000,
    );
    let endless_claim = format!(
        r#"{{"known":{{"answer":null,"setback":null,"asked_at":0}},"claimed_until":{}}}"#,
        u64::MAX
    );
    for garbage in [
        "",
        "<html>",
        "{}",
        "[]",
        "null",
        "7",
        &weak_key,
        &endless_claim,
    ] {
        let fleet = fleet();
        fleet.log_in(0, &by_account(&fleet)).unwrap();
        fleet.cache.overwrite_all(garbage.as_bytes());
        fleet.log_in(1, &by_account(&fleet)).unwrap();
        assert_eq!(fleet.calls(), [2, 2, 2, 2], "{garbage}");
        fleet.log_in(2, &by_account(&fleet)).unwrap();
        assert_eq!(fleet.calls(), [2, 2, 2, 2], "it has been replaced");
        assert_eq!(fleet.clock.now_seconds(), NOW, "nobody waits for it");
    }
}

#[test]
fn what_the_shared_cache_forgets_is_asked_for_again() {
    let fleet = fleet();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    fleet.cache.forget_all();
    fleet.log_in(0, &by_account(&fleet)).unwrap();
    assert_eq!(fleet.calls(), [1, 1, 1, 1]);
    fleet.log_in(1, &by_account(&fleet)).unwrap();
    assert_eq!(fleet.calls(), [2, 2, 2, 2]);
}

#[test]
fn n8_the_claim_of_an_instance_that_came_to_its_end_runs_out() {
    let fleet = fleet();
    fleet.during(CERTIFICATES, || panic!("the instance comes to its end"));
    let jwt = by_account(&fleet);
    catch_unwind(AssertUnwindSafe(|| fleet.log_in(0, &jwt))).unwrap_err();
    fleet.log_in(1, &jwt).unwrap();
    let waited = fleet.clock.now_milliseconds() - NOW * 1000;
    assert!((12_000..12_100).contains(&waited), "{waited}");
    assert_eq!(fleet.calls(), [1, 1, 1, 1]);
}

/// Another instance is always asking, and never done.
struct Busy(&'static ManualClock);

impl Cache for Busy {
    fn get(&self, _: &str) -> Option<Entry> {
        let claimed_until = self.0.now_milliseconds() + 10_000;
        let value = format!(
            r#"{{"known":{{"answer":null,"setback":null,"asked_at":0}},"claimed_until":{claimed_until}}}"#
        );
        Some(Entry {
            value: value.into_bytes(),
            version: 1,
        })
    }

    fn swap(&self, _: &str, _: Option<Version>, _: &[u8], _: u64) -> bool {
        false
    }
}

#[test]
fn contract_8_1_no_login_waits_for_others_beyond_its_time() {
    let fleet = fleet();
    let waiting = fleet.instance_with(Busy(fleet.clock));
    let refused = waiting.login(&fleet.mount, &request(&by_account(&fleet)));
    let unavailable = LoginError::GoogleUnavailable("api".into());
    assert_eq!(refused.unwrap_err(), unavailable);
    assert_eq!(fleet.clock.now_seconds(), NOW + 20);
    assert_eq!(fleet.calls(), [0, 0, 0, 0]);
}

/// Nothing can be put into it.
struct Full;

impl Cache for Full {
    fn get(&self, _: &str) -> Option<Entry> {
        None
    }

    fn swap(&self, _: &str, _: Option<Version>, _: &[u8], _: u64) -> bool {
        false
    }
}

#[test]
fn a_cache_that_takes_nothing_keeps_no_login_out() {
    let fleet = fleet();
    let alone = fleet.instance_with(Full);
    for _ in 0..2 {
        alone
            .login(&fleet.mount, &request(&by_account(&fleet)))
            .unwrap();
        assert_eq!(fleet.calls(), [1, 1, 1, 1]);
    }
}

#[test]
fn a_document_that_is_too_large_to_be_shared_is_used_all_the_same() {
    let fleet = fleet();
    let certificate = keys::of_google().certificate.clone();
    let many = (0..700).map(|number| {
        let key_id = format!("{number}-{}", "k".repeat(1200));
        (key_id, certificate.clone())
    });
    fleet.google.state().google_certificates.extend(many);
    for instance in [0, 1, 0, 1] {
        fleet.log_in(instance, &by_google(&fleet)).unwrap();
    }
    assert_eq!(fleet.google.calls(CERTIFICATES), 2);
}

#[test]
fn g8_a_refusal_is_shared_as_it_was_said() {
    let fleet = fleet();
    let gone = google::refusal(404, "gone", "notFound");
    fleet.google.fail(ACCOUNT, Fault::Answer(gone), 1);
    let refused = [0, 1].map(|instance| fleet.log_in(instance, &by_google(&fleet)).unwrap_err());
    assert_eq!(refused[0], refused[1]);
    assert_eq!(fleet.google.calls(ACCOUNT), 1);
}

#[test]
fn l6_an_instance_without_logins_tells_the_age_of_the_keys_that_another_one_has_fetched() {
    let fleet = fleet();
    let token = by_google(&fleet);
    fleet.log_in(0, &token).unwrap();
    let fetched_at = fleet.instances[1]
        .google_keys_fetched_at(&fleet.mount)
        .unwrap();
    assert_eq!(fetched_at, Some(NOW * 1000));
}
