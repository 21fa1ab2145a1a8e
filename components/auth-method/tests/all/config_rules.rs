//! Rotation settings, warnings and secrecy of the configuration: contract 2.2, 2.6, 9.3; SEC-G15, K5, L5.

use gatehouse_auth_method::{
    Config, ConfigBound, ConfigChanges, ConfigError, ConfigWarning, KeyFileError, ScheduleError,
    Settings,
};
use serde_json::{Value, json};

use crate::federation::federation;
use crate::google_credentials::{settings, stage};
use crate::keys;
use crate::stage::{Stage, key_file};

fn none() -> ConfigChanges {
    ConfigChanges::default()
}

fn schedule(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn contract_2_2_rotation_settings_that_do_not_fit_are_refused_and_nothing_is_stored() {
    let daily = || schedule("0 0 * * *");
    let cases = [
        (
            ConfigChanges {
                rotation_schedule: daily(),
                rotation_period: Some(60),
                ..none()
            },
            ConfigError::RotationTwice,
        ),
        (
            ConfigChanges {
                rotation_window: Some(60),
                ..none()
            },
            ConfigError::WindowWithoutSchedule,
        ),
        (
            ConfigChanges {
                rotation_window: Some(60),
                rotation_schedule: schedule(""),
                ..none()
            },
            ConfigError::WindowWithoutSchedule,
        ),
        (
            ConfigChanges {
                rotation_window: Some(60),
                rotation_period: Some(60),
                ..none()
            },
            ConfigError::WindowWithPeriod,
        ),
        (
            ConfigChanges {
                rotation_schedule: schedule("0 0 * *"),
                ..none()
            },
            ConfigError::RotationSchedule(ScheduleError::FieldCount),
        ),
        (
            ConfigChanges {
                rotation_schedule: schedule("0 24 * * *"),
                ..none()
            },
            ConfigError::RotationSchedule(ScheduleError::Field(2)),
        ),
        (
            ConfigChanges {
                rotation_schedule: schedule("0 0 30 2 *"),
                ..none()
            },
            ConfigError::RotationSchedule(ScheduleError::Never),
        ),
    ];
    let stage = Stage::bare();
    for (number, (changes, expected)) in cases.into_iter().enumerate() {
        let refused = stage.service.write_config(&stage.mount, changes);
        assert_eq!(refused, Err(expected), "case {number}");
        assert!(stage.store.keys().is_empty());
    }
    stage.configure(ConfigChanges {
        rotation_schedule: daily(),
        ..none()
    });
    let window_alone = ConfigChanges {
        rotation_window: Some(60),
        ..none()
    };
    let refused = stage.service.write_config(&stage.mount, window_alone);
    assert_eq!(
        refused,
        Err(ConfigError::WindowWithoutSchedule),
        "it needs one in the same write"
    );
}

#[test]
fn contract_2_2_what_is_wrong_first_is_said_first() {
    let (stage, _) = stage(settings());
    let everything_wrong = || ConfigChanges {
        credentials: Some("no key file".to_owned()),
        identity_token_audience: Some("audience".to_owned()),
        iam_alias: Some("x".to_owned()),
        custom_endpoint: Some(vec![("x".to_owned(), String::new())]),
        service_account_email: Some("x".to_owned()),
        rotation_window: Some(1),
        ..none()
    };
    let refuse = |changes| {
        stage
            .service
            .write_config(&stage.mount, changes)
            .unwrap_err()
    };
    let mut changes = everything_wrong();
    assert_eq!(refuse(changes.clone()), ConfigError::CredentialsTwice);
    changes.identity_token_audience = None;
    assert!(matches!(
        refuse(changes.clone()),
        ConfigError::Credentials(_)
    ));
    changes.credentials = None;
    assert!(matches!(refuse(changes.clone()), ConfigError::Alias(_)));
    changes.iam_alias = None;
    assert!(matches!(
        refuse(changes.clone()),
        ConfigError::EndpointKey(_)
    ));
    changes.custom_endpoint = None;
    assert_eq!(refuse(changes.clone()), ConfigError::ServiceAccountEmail);
    changes.service_account_email = None;
    assert_eq!(refuse(changes), ConfigError::WindowWithoutSchedule);
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_2_6_a_bad_write_makes_no_signing_key_either() {
    let (stage, _) = stage(settings());
    let changes = ConfigChanges {
        rotation_window: Some(1),
        ..federation()
    };
    let refused = stage.service.write_config(&stage.mount, changes);
    assert_eq!(refused, Err(ConfigError::WindowWithoutSchedule));
    assert!(stage.store.keys().is_empty());
}

#[test]
fn g15_keys_from_a_host_that_is_not_googles_are_warned_about_when_they_are_written() {
    let stage = Stage::with_settings(Settings {
        allow_http_loopback: true,
        allowed_hosts: ["google.example", "google.example:8443"]
            .map(str::to_owned)
            .into(),
        ..Settings::default()
    });
    let write = |key: &str, value: &str| {
        let changes = ConfigChanges {
            custom_endpoint: Some(vec![(key.to_owned(), value.to_owned())]),
            ..none()
        };
        stage.service.write_config(&stage.mount, changes).unwrap()
    };
    for (key, value, is_foreign) in [
        ("api", "https://google.example", true),
        ("api", "google.example:8443/base", true),
        ("iam", "https://google.example", false),
        ("api", "https://www.googleapis.com", false),
        ("api", "private.googleapis.com", false),
        ("api", "http://127.0.0.1:8085", false),
        ("api", "http://localhost:8085", false),
        ("api", "http://[::1]:8085", false),
        ("api", "", false),
    ] {
        let expected = [ConfigWarning::KeysFromForeignHost];
        let expected = if is_foreign { &expected[..] } else { &[] };
        assert_eq!(write(key, value), expected, "{key} {value}");
    }
}

#[test]
fn k5_l5_no_word_of_a_key_file_is_ever_shown() {
    const MARK: &str = "MARKED";
    let stage = Stage::bare();
    let mut refused = Vec::new();
    let mut try_file = |file: &str| {
        let changes = ConfigChanges {
            credentials: Some(file.to_owned()),
            ..none()
        };
        match stage.service.write_config(&stage.mount, changes) {
            Ok(_) => panic!("{file}"),
            Err(error) => refused.push(error),
        }
    };
    try_file(MARK);
    try_file(&format!("{{\"{MARK}\": {MARK}}}"));
    try_file(&format!("[\"{MARK}\"]"));
    for name in ["type", "private_key", "private_key_id", "client_email"] {
        for value in [json!([MARK]), json!({ MARK: MARK }), json!(7)] {
            let mut file: Value = serde_json::from_str(&key_file()).unwrap();
            file[name] = value;
            try_file(&file.to_string());
        }
    }
    let mut file: Value = serde_json::from_str(&key_file()).unwrap();
    for private_key in [MARK.to_owned(), keys::of_account().certificate.clone()] {
        file["private_key"] = private_key.into();
        try_file(&file.to_string());
    }
    for error in &refused {
        let shown = format!("{error:?} {error}");
        assert!(!shown.contains(MARK) && !shown.contains("BEGIN"), "{shown}");
    }
    let flaw = KeyFileError::PrivateKeyUnusable;
    assert_eq!(refused.last(), Some(&ConfigError::Credentials(flaw)));
    let private_key = keys::of_stranger().private_pem();
    let line = private_key.lines().nth(5).unwrap();
    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        ..none()
    });
    let view = stage.service.read_config(&stage.mount).unwrap();
    assert!(!format!("{view:?}").contains(line));
}

#[test]
fn s14_texts_of_a_configuration_are_bounded_and_what_is_stored_stays() {
    const MOST: usize = 1024;
    type Write = fn(String) -> ConfigChanges;
    let audience: Write = |text| ConfigChanges {
        service_account_email: Some("dev@p1.iam.gserviceaccount.com".to_owned()),
        identity_token_audience: Some(text),
        ..none()
    };
    let policy: Write = |text| ConfigChanges {
        rotation_policy: Some(text),
        ..none()
    };
    let schedule: Write = |text| ConfigChanges {
        rotation_schedule: Some(text),
        ..none()
    };
    let plain = |bytes: usize| "x".repeat(bytes);
    let cron = |bytes: usize| format!("0 3 * * {}1", "1,".repeat((bytes - 9) / 2));
    assert_eq!(cron(MOST + 1).len(), MOST + 1);
    for (field, write, within, beyond) in [
        (
            "identity_token_audience",
            audience,
            plain(MOST),
            plain(MOST + 1),
        ),
        ("rotation_policy", policy, plain(MOST), plain(MOST + 1)),
        (
            "rotation_schedule",
            schedule,
            cron(MOST - 1),
            cron(MOST + 1),
        ),
    ] {
        let (stage, _) = stage(settings());
        stage.configure(write(within));
        let before = stage.service.read_config(&stage.mount).unwrap();
        let refused = stage.service.write_config(&stage.mount, write(beyond));
        let maximum = MOST as u64;
        let field = field.into();
        assert_eq!(
            refused,
            Err(ConfigError::TooLong(ConfigBound { field, maximum }))
        );
        assert_eq!(stage.service.read_config(&stage.mount).unwrap(), before);
    }
}

#[test]
fn s14_a_base_url_and_a_key_file_are_bounded() {
    let stage = Stage::with_settings(Settings {
        allowed_hosts: vec!["google.example".to_owned()],
        ..Settings::default()
    });
    let url = |bytes: usize| format!("{:x<bytes$}", "https://google.example/");
    let endpoint = |bytes: usize| ConfigChanges {
        custom_endpoint: Some(vec![("api".to_owned(), url(bytes))]),
        ..none()
    };
    stage.configure(endpoint(2048));
    let refused = stage.service.write_config(&stage.mount, endpoint(2049));
    assert!(matches!(refused, Err(ConfigError::EndpointValue(_))));
    let file = |bytes: usize| ConfigChanges {
        credentials: Some(format!(
            "{}{:bytes$}",
            key_file(),
            "",
            bytes = bytes - key_file().len()
        )),
        ..none()
    };
    stage.configure(file(64 * 1024));
    let refused = stage
        .service
        .write_config(&stage.mount, file(64 * 1024 + 1));
    let flaw = KeyFileError::TooLong;
    assert_eq!(refused, Err(ConfigError::Credentials(flaw)));
}
