//! Replacing the stored key: contract 2.6; register D22.

use std::time::Duration;

use gatehouse_auth_method::{
    Config, ConfigChanges, CredentialsError, CredentialsRefusal, Rotated, RotationError,
    RotationSettings,
};
use gatehouse_ports::{Clock, HttpError};

use crate::federation::federation;
use crate::google::{Fault, refusal, text};
use crate::google_credentials::{ROOT, settings, stage};
use crate::keys::{self, Token};
use crate::stage::{Stage, dev_role, key_file};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: u64 = 86_400;

fn key() -> ConfigChanges {
    ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    }
}

pub fn key_in_use(stage: &Stage) -> String {
    let view = stage.service.read_config(&stage.mount).unwrap();
    view.credentials.unwrap().private_key_id
}

fn rotated(to: &str) -> Rotated {
    Rotated {
        private_key_id: to.to_owned(),
        key_left_behind: None,
    }
}

fn rotate(stage: &Stage) -> Result<Rotated, RotationError> {
    stage.service.rotate_root(&stage.mount)
}

fn rotate_if_due(stage: &Stage) -> Result<Option<Rotated>, RotationError> {
    stage.service.rotate_if_due(&stage.mount)
}

fn has_record(stage: &Stage) -> bool {
    stage.store.keys().contains(&"m1/rotation".to_owned())
}

#[test]
fn contract_2_6_a_new_key_takes_the_place_of_the_old_one() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    stage.role(dev_role());
    let jwt = Token::of_account().signed_by(keys::of_account());
    stage.log_in(&jwt).unwrap();
    assert_eq!(rotate(&stage), Ok(rotated("made-1")));
    assert_eq!(google.state().keys_deleted, ["root-key"]);
    let view = stage.service.read_config(&stage.mount).unwrap();
    let credentials = view.credentials.unwrap();
    assert_eq!(credentials.private_key_id, "made-1");
    assert_eq!(credentials.client_email, ROOT);
    assert_eq!(
        (
            credentials.client_id.as_str(),
            credentials.project_id.as_str()
        ),
        ("999", "ops")
    );
    assert_eq!(stage.keys(), ["m1/config", "m1/credentials", "m1/role/dev"]);
    stage
        .another_instance()
        .check_config(&stage.mount, &[])
        .unwrap();
    assert_eq!(rotate(&stage), Ok(rotated("made-2")));
    stage.log_in(&jwt).unwrap();
    assert_eq!(google.state().keys.len(), 1);
}

#[test]
fn d22_without_a_stored_key_there_is_nothing_to_rotate() {
    let (stage, _) = stage(settings());
    for changes in [ConfigChanges::default(), federation()] {
        stage.configure(changes);
        assert_eq!(rotate(&stage), Err(RotationError::NoStoredCredentials));
        assert_eq!(rotate_if_due(&stage), Ok(None));
    }
    assert!(stage.http.urls().is_empty() && !has_record(&stage));
}

#[test]
fn d22_an_old_key_that_google_keeps_is_reported_and_the_rotation_has_succeeded() {
    for fault in [
        Fault::Answer(refusal(403, "no", "forbidden")),
        Fault::Error(HttpError::TimedOut),
    ] {
        let (stage, google) = stage(settings());
        stage.configure(key());
        stage.google.fail("keys/root-key", fault, 3);
        let expected = Rotated {
            private_key_id: "made-1".to_owned(),
            key_left_behind: Some("root-key".to_owned()),
        };
        assert_eq!(rotate(&stage), Ok(expected));
        assert_eq!(key_in_use(&stage), "made-1");
        assert!(google.state().keys_deleted.is_empty() && !has_record(&stage));
    }
}

#[test]
fn contract_2_6_a_new_key_is_waited_for() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    google.state().refusals_of_new_keys = 3;
    assert_eq!(rotate(&stage), Ok(rotated("made-1")));
    assert_eq!(google.state().keys_made.len(), 1);
}

#[test]
fn contract_2_6_a_key_that_is_not_accepted_in_time_is_kept_and_gone_on_with() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    google.state().refusals_of_new_keys = 1000;
    let expected = RotationError::NotYetAccepted("made-1".to_owned());
    assert_eq!(rotate(&stage), Err(expected));
    assert_eq!(key_in_use(&stage), "root-key");
    google.state().refusals_of_new_keys = 0;
    assert_eq!(rotate_if_due(&stage), Ok(None), "it waits after a failure");
    stage.clock.advance(MINUTE);
    assert_eq!(rotate_if_due(&stage), Ok(Some(rotated("made-1"))));
    assert_eq!(google.state().keys_made, ["made-1"]);
    assert_eq!(google.state().keys.len(), 1);
}

#[test]
fn contract_2_6_a_key_that_is_never_accepted_is_given_up() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    google.state().refusals_of_new_keys = usize::MAX;
    let expected = RotationError::NotYetAccepted("made-1".to_owned());
    assert_eq!(rotate(&stage), Err(expected.clone()));
    stage.clock.advance(60 * MINUTE);
    assert_eq!(rotate(&stage), Err(expected));
    google.state().refusals_of_new_keys = 0;
    assert_eq!(rotate(&stage), Ok(rotated("made-2")));
    assert_eq!(google.state().keys_deleted, ["made-1", "root-key"]);
}

#[test]
fn contract_2_6_a_refusal_leaves_the_key_in_use() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    let forbidden = refusal(403, "MARKED", "forbidden");
    stage.google.fail("/keys", Fault::Answer(forbidden), 1);
    let refused = rotate(&stage).unwrap_err();
    assert!(matches!(refused, RotationError::Refused(ref refusal) if refusal.status == 403));
    let lost = Fault::Error(HttpError::TimedOut);
    stage.google.fail("/keys", lost, 1);
    let refused = rotate(&stage).unwrap_err();
    assert_eq!(refused, RotationError::GoogleUnavailable("iam".into()));
    assert_eq!(
        stage.google.state().faults[1].2,
        0,
        "asked once: a second time would make a second key"
    );
    google.state().keys.clear();
    // The write empties the caches of the mount, so the key has to be used again.
    stage.configure(ConfigChanges::default());
    let refused = rotate(&stage).unwrap_err();
    assert!(matches!(
        refused,
        RotationError::Credentials(CredentialsError::Refused(CredentialsRefusal {
            status: 400,
            ..
        }))
    ));
    assert_eq!(key_in_use(&stage), "root-key");
}

#[test]
fn k5_an_answer_that_is_no_key_file_of_the_same_account_is_not_used() {
    for (name, value) in [
        ("client_email", "other@ops.example".into()),
        ("private_key_id", "root-key".into()),
        ("private_key_id", "../x".into()),
        ("private_key", "MARKED".into()),
        ("type", "authorized_user".into()),
    ] {
        let (stage, google) = stage(settings());
        stage.configure(key());
        google.state().new_key_overrides = vec![(name, value)];
        let refused = rotate(&stage).unwrap_err();
        assert_eq!(refused, RotationError::AnswerUnreadable, "{name}");
        assert_eq!(key_in_use(&stage), "root-key");
    }
    for body in [
        "",
        "{}",
        r#"{"privateKeyData":"MARKED!"}"#,
        r#"{"privateKeyData":"/w=="}"#,
    ] {
        let (stage, _) = stage(settings());
        stage.configure(key());
        stage
            .google
            .fail("/keys", Fault::Answer(text(200, body)), 1);
        let refused = rotate(&stage).unwrap_err();
        assert_eq!(refused, RotationError::AnswerUnreadable, "{body}");
        assert!(!format!("{refused:?} {refused}").contains("MARKED"));
    }
}

#[test]
fn contract_2_6_new_credentials_end_a_rotation_that_waits() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    google.state().refusals_of_new_keys = 1000;
    rotate(&stage).unwrap_err();
    assert!(has_record(&stage));
    stage.configure(key());
    assert!(!has_record(&stage));
    google.state().refusals_of_new_keys = 0;
    assert_eq!(rotate(&stage), Ok(rotated("made-2")));
}

#[test]
fn contract_2_1_delete_ends_a_rotation_too() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    google.state().refusals_of_new_keys = 1000;
    rotate(&stage).unwrap_err();
    stage.service.delete_config(&stage.mount).unwrap();
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_2_6_a_period_counts_from_the_key() {
    let (stage, google) = stage(settings());
    stage.configure(ConfigChanges {
        rotation_period: Some(DAY),
        ..key()
    });
    for number in 1..3 {
        stage.clock.advance(Duration::from_secs(DAY - 1));
        assert_eq!(rotate_if_due(&stage), Ok(None));
        stage.clock.advance(Duration::from_secs(1));
        let expected = rotated(&format!("made-{number}"));
        assert_eq!(rotate_if_due(&stage), Ok(Some(expected)));
        assert_eq!(rotate_if_due(&stage), Ok(None));
    }
    stage.clock.advance(Duration::from_secs(DAY));
    stage.configure(ConfigChanges {
        disable_automated_rotation: Some(true),
        ..ConfigChanges::default()
    });
    assert_eq!(rotate_if_due(&stage), Ok(None));
    assert_eq!(google.state().keys_made.len(), 2);
    assert_eq!(
        rotate(&stage),
        Ok(rotated("made-3")),
        "asked for, it is done"
    );
}

#[test]
fn contract_2_6_a_schedule_counts_from_when_it_was_written_and_keeps_its_window() {
    // Tests begin on a Friday at 08:00.
    let (stage, _) = stage(settings());
    stage.configure(key());
    stage.clock.advance(Duration::from_secs(DAY));
    stage.configure(ConfigChanges {
        rotation_schedule: Some("0 6 * * *".to_owned()),
        rotation_window: Some(3600),
        ..ConfigChanges::default()
    });
    assert_eq!(
        rotate_if_due(&stage),
        Ok(None),
        "this morning it was not written yet"
    );
    stage.clock.advance(Duration::from_secs(22 * 3600 - 1));
    assert_eq!(rotate_if_due(&stage), Ok(None));
    stage.clock.advance(Duration::from_secs(1));
    assert_eq!(rotate_if_due(&stage), Ok(Some(rotated("made-1"))));
    assert_eq!(rotate_if_due(&stage), Ok(None));
    stage.clock.advance(Duration::from_secs(DAY + 3600));
    assert_eq!(rotate_if_due(&stage), Ok(None), "the window has passed");
    stage.clock.advance(Duration::from_secs(DAY - 1));
    assert_eq!(rotate_if_due(&stage), Ok(Some(rotated("made-2"))));
}

/// Seconds from now to the next rotation, below 0 where it is due.
fn due_in(stage: &Stage) -> Option<i64> {
    let due = stage.service.next_rotation(&stage.mount).unwrap()?;
    let now = stage.clock.now_seconds();
    Some(i64::try_from(due).unwrap() - i64::try_from(now).unwrap())
}

#[test]
fn contract_2_6_the_next_rotation_is_told_until_it_has_succeeded() {
    let (stage, google) = stage(settings());
    assert_eq!(due_in(&stage), None, "without a configuration");
    stage.configure(key());
    assert_eq!(due_in(&stage), None, "without a schedule or a period");
    let day = i64::try_from(DAY).unwrap();
    let period = ConfigChanges {
        rotation_period: Some(DAY),
        ..ConfigChanges::default()
    };
    stage.configure(period);
    assert_eq!(due_in(&stage), Some(day));
    // A rotation that fails stays due, however long the backoff is.
    google.state().refusals_of_new_keys = 1000;
    stage.clock.advance(Duration::from_secs(DAY + 60));
    rotate_if_due(&stage).unwrap_err();
    assert!(due_in(&stage) <= Some(-60));
    google.state().refusals_of_new_keys = 0;
    stage.clock.advance(MINUTE);
    assert_eq!(rotate_if_due(&stage), Ok(Some(rotated("made-1"))));
    assert_eq!(due_in(&stage), Some(day));
    stage.configure(ConfigChanges {
        disable_automated_rotation: Some(true),
        ..ConfigChanges::default()
    });
    assert_eq!(due_in(&stage), None, "where nothing rotates by itself");
}

#[test]
fn contract_2_6_a_window_that_has_passed_leaves_its_rotation_due() {
    // Tests begin on a Friday at 08:00.
    let (stage, _) = stage(settings());
    stage.configure(ConfigChanges {
        rotation_schedule: Some("0 6 * * *".to_owned()),
        rotation_window: Some(3600),
        ..key()
    });
    assert_eq!(due_in(&stage), Some(22 * 3600));
    stage.clock.advance(Duration::from_secs(DAY));
    assert_eq!(rotate_if_due(&stage), Ok(None));
    assert_eq!(due_in(&stage), Some(-2 * 3600));
}

#[test]
fn contract_2_2_a_schedule_and_a_period_replace_each_other() {
    let (stage, _) = stage(settings());
    let none = ConfigChanges::default;
    let read = || stage.service.read_config(&stage.mount).unwrap().rotation;
    stage.configure(ConfigChanges {
        rotation_schedule: Some(" 0 6 * * * ".to_owned()),
        rotation_window: Some(3600),
        rotation_policy: Some("policy".to_owned()),
        ..none()
    });
    let scheduled = RotationSettings {
        schedule: "0 6 * * *".to_owned(),
        window: 3600,
        policy: "policy".to_owned(),
        ..RotationSettings::default()
    };
    assert_eq!(read(), scheduled);
    stage.configure(ConfigChanges {
        rotation_schedule: Some(String::new()),
        rotation_period: Some(0),
        rotation_window: Some(0),
        ..none()
    });
    let policy = RotationSettings {
        policy: "policy".to_owned(),
        ..RotationSettings::default()
    };
    assert_eq!(read(), policy);
    stage.configure(ConfigChanges {
        rotation_schedule: Some("0 6 * * *".to_owned()),
        rotation_window: Some(60),
        ..none()
    });
    stage.configure(ConfigChanges {
        rotation_period: Some(DAY),
        ..none()
    });
    assert_eq!(
        read(),
        RotationSettings {
            period: DAY,
            ..policy.clone()
        }
    );
    stage.configure(ConfigChanges {
        rotation_schedule: Some("0 6 * * *".to_owned()),
        ..none()
    });
    let schedule = "0 6 * * *".to_owned();
    assert_eq!(read(), RotationSettings { schedule, ..policy });
}

#[test]
fn contract_2_6_after_failures_it_waits_longer_each_time() {
    let (stage, google) = stage(settings());
    stage.configure(ConfigChanges {
        rotation_period: Some(DAY),
        ..key()
    });
    stage.clock.advance(Duration::from_secs(DAY));
    let forbidden = refusal(403, "no", "forbidden");
    stage
        .google
        .fail("/keys", Fault::Answer(forbidden), usize::MAX);
    // One call a minute, for as long as the first five backoffs take together.
    let tries: Vec<usize> = (0..32)
        .filter(|_| {
            let outcome = rotate_if_due(&stage);
            stage.clock.advance(MINUTE);
            outcome.is_err()
        })
        .collect();
    assert_eq!(tries, [0, 1, 3, 7, 15, 31]);
    assert!(google.state().keys_made.is_empty());
    assert!(rotate(&stage).is_err(), "asked for, it is tried at once");
}

#[test]
fn contract_2_6_one_at_a_time() {
    let (stage, google) = stage(settings());
    stage.configure(key());
    // An instance that was cut off in the middle of its work has left its claim.
    google.state().refusals_of_new_keys = 1000;
    let cut = crate::rotation_crashes::interrupted(&stage, 2);
    assert!(cut.is_err());
    google.state().refusals_of_new_keys = 0;
    assert_eq!(rotate(&stage), Err(RotationError::Busy));
    assert_eq!(rotate_if_due(&stage), Ok(None));
    stage.clock.advance(MINUTE);
    assert!(rotate(&stage).is_ok());
}
