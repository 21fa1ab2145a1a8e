//! Replacing the stored key of a mount, asked for and by itself (contract 2.6, register D22).

use std::thread;
use std::time::{Duration, Instant};

use gatehouse_fake_google::{Endpoint, Fault};
use gatehouse_tests::{Answer, OPERATOR};
use serde_json::json;

use crate::stage::{MOUNT, PATIENCE, Stage, assert_granted, assert_refused, at_once, text};

const DELETE: &str = "iam.serviceAccountKeys.delete";

fn ready(settings: &str) -> (Stage, String) {
    let stage = Stage::new(settings);
    stage.enable_with_key(MOUNT);
    stage.workload_role(MOUNT);
    assert_granted(&stage.log_in(MOUNT, "dev"));
    let [first] = keys(&stage).try_into().unwrap();
    (stage, first)
}

fn keys(stage: &Stage) -> Vec<String> {
    stage.google().key_ids(OPERATOR).unwrap()
}

fn rotate(stage: &Stage) -> Answer {
    let path = format!("/v1/auth/{MOUNT}/config/rotate-root");
    stage.installation.as_root("POST", &path, Some(&json!({})))
}

fn key_in_use(stage: &Stage) -> String {
    text(&stage.read(&format!("auth/{MOUNT}/config"))["private_key_id"])
}

/// Logs in with nothing remembered from before.
fn assert_logins_go_on(stage: &Stage) {
    stage.google().revoke_access_tokens();
    stage.forget(MOUNT);
    assert_granted(&stage.log_in(MOUNT, "dev"));
}

#[test]
fn contract_2_6_a_rotation_leaves_one_key_and_it_is_a_new_one() {
    let (stage, first) = ready("");
    let mut last = first;
    for _ in 0..2 {
        let answer = rotate(&stage);
        assert_granted(&answer);
        let new = text(&answer.json()["data"]["private_key_id"]);
        assert_ne!(new, last);
        assert_eq!(answer.json()["warnings"], json!(null));
        assert_eq!(keys(&stage), [new.as_str()]);
        assert_eq!(key_in_use(&stage), new);
        assert!(!answer.body.contains("PRIVATE KEY"), "{answer:?}");
        assert_logins_go_on(&stage);
        last = new;
    }
    assert!(!stage.log().contains("PRIVATE KEY"));
}

#[test]
fn contract_2_6_a_new_key_is_used_once_google_knows_it() {
    let (stage, first) = ready("");
    stage.google().set_key_propagation(2);
    stage.google().forget_requests();
    let answer = rotate(&stage);
    assert_granted(&answer);
    let new = text(&answer.json()["data"]["private_key_id"]);
    assert_eq!(keys(&stage), [new.as_str()]);
    assert_ne!(new, first);
    assert_eq!(stage.google().calls(Endpoint::CreateKey), 1);
    assert!(stage.google().calls(Endpoint::Token) >= 3);
    assert_logins_go_on(&stage);
}

#[test]
fn contract_2_6_a_key_that_takes_long_is_kept_for_the_next_rotation() {
    let (stage, first) = ready("");
    stage.google().set_key_propagation(8);
    stage.google().forget_requests();
    let deadline = Instant::now() + 2 * PATIENCE;
    let mut answer = rotate(&stage);
    let mut made = keys(&stage);
    while answer.status != 200 {
        assert_eq!(made.len(), 2, "{answer:?}");
        let new = format!("Google does not accept the new key \"{}\" yet", made[1]);
        assert_refused(&answer, 503, &new);
        assert_eq!(key_in_use(&stage), first);
        assert_logins_go_on(&stage);
        assert!(Instant::now() < deadline, "{answer:?}");
        answer = rotate(&stage);
        if answer.status != 200 {
            assert_eq!(keys(&stage), made, "no third key is made");
        }
        made.truncate(2);
    }
    assert_eq!(
        answer.json()["data"]["private_key_id"],
        made.last().unwrap().as_str()
    );
    assert_eq!(stage.google().calls(Endpoint::CreateKey), 1);
    assert_eq!(keys(&stage), [key_in_use(&stage)]);
    assert_logins_go_on(&stage);
}

#[test]
fn d22_an_old_key_that_cannot_be_deleted_is_a_warning_that_names_both() {
    let (stage, first) = ready("");
    let google = stage.google();
    google.deny_permission(OPERATOR, DELETE).unwrap();
    let answer = rotate(&stage);
    assert_granted(&answer);
    let new = text(&answer.json()["data"]["private_key_id"]);
    let warning = text(&answer.json()["warnings"][0]);
    assert!(
        warning.contains(&first) && warning.contains(&new),
        "{warning}"
    );
    assert_eq!(keys(&stage), [first.clone(), new.clone()]);
    assert_eq!(key_in_use(&stage), new);
    assert_logins_go_on(&stage);
}

#[test]
fn contract_2_6_rotation_needs_a_stored_key() {
    let (stage, first) = ready("");
    stage.write(&format!("auth/{MOUNT}/config"), &json!({"credentials": ""}));
    let text = "configuration does not have credentials - this endpoint only works with";
    assert_refused(&rotate(&stage), 400, text);
    assert_eq!(keys(&stage), [first]);
}

#[test]
fn contract_2_6_a_key_refused_by_google_changes_nothing() {
    let (stage, first) = ready("");
    let google = stage.google();
    let permission = "iam.serviceAccountKeys.create";
    google.deny_permission(OPERATOR, permission).unwrap();
    assert_refused(&rotate(&stage), 400, permission);
    assert_eq!(keys(&stage), [first.as_str()]);
    assert_eq!(key_in_use(&stage), first);
    assert_logins_go_on(&stage);
    google.allow_permission(OPERATOR, permission).unwrap();
    assert_granted(&rotate(&stage));
}

#[test]
fn contract_2_6_rotations_of_a_mount_do_not_get_in_each_others_way() {
    let (stage, first) = ready("");
    let answers = at_once(4, |_| rotate(&stage));
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(done >= 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_refused(refused, 503, "another rotation of these credentials");
    }
    assert_eq!(keys(&stage), [key_in_use(&stage)]);
    assert_ne!(key_in_use(&stage), first);
    let made = stage.google().calls(Endpoint::CreateKey);
    assert_eq!(made, done as u64, "no key is made in vain");
    assert_logins_go_on(&stage);
}

#[test]
fn contract_2_6_a_failure_while_a_key_is_made_changes_nothing() {
    let (stage, first) = ready("");
    let google = stage.google();
    for (fault, status) in [
        (Fault::GarbageBody, 502),
        (Fault::unavailable(), 503),
        (Fault::CloseConnection, 503),
    ] {
        google.forget_requests();
        google.set_fault(Endpoint::CreateKey, fault);
        let refused = rotate(&stage);
        assert_refused(&refused, status, "google API");
        assert_eq!(google.calls(Endpoint::CreateKey), 1, "it is asked once");
        assert_eq!(key_in_use(&stage), first);
        google.clear_faults(Endpoint::CreateKey);
        assert_logins_go_on(&stage);
    }
    assert_granted(&rotate(&stage));
    assert_eq!(keys(&stage), [key_in_use(&stage)]);
}

#[test]
fn contract_2_6_a_key_whose_time_has_come_is_replaced_by_itself() {
    let (stage, first) = ready("[limits]\nbackground_interval = \"1s\"");
    let config = format!("auth/{MOUNT}/config");
    let disabled = json!({"rotation_period": 1, "disable_automated_rotation": true});
    stage.write(&config, &disabled);
    // Some runs of the background work, by time: Spin has no metrics that count them. On a slow machine there are fewer, which fails nothing.
    thread::sleep(Duration::from_secs(4));
    assert_eq!(keys(&stage), [first.as_str()]);

    stage.write(&config, &json!({"disable_automated_rotation": false}));
    // Longer than the pause after a rotation that the next write overtakes.
    let deadline = Instant::now() + 3 * PATIENCE;
    while key_in_use(&stage) == first {
        assert!(Instant::now() < deadline, "{}", stage.log());
        thread::sleep(Duration::from_millis(200));
    }
    stage.write(&config, &json!({"rotation_period": 0}));
    while keys(&stage) != [key_in_use(&stage)] {
        assert!(Instant::now() < deadline, "{:?}", keys(&stage));
        thread::sleep(Duration::from_millis(200));
    }
    assert!(!keys(&stage).contains(&first));
    assert_logins_go_on(&stage);
}
