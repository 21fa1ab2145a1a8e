//! The credentials of mounts that have none of their own, and what comes before them (contract 2.6, 8.4).

use std::fs;

use gatehouse_fake_google::{Endpoint, FakeGoogle};
use gatehouse_tests::{Installation, OPERATOR};
use serde_json::{Value, json};

use crate::federation::{federation_settings, trust};
use crate::stage::{MOUNT, Stage, assert_granted, assert_refused};

const PERSON: &str = "operator@example.com";

/// Names a file with this text.
fn file(installation: &Installation, credentials: &str) -> String {
    let path = installation.folder().join("credentials.json");
    fs::write(&path, credentials).unwrap();
    format!("application_credentials = {:?}", path.display().to_string())
}

fn key_file(installation: &Installation) -> String {
    let credentials = installation.google().credentials_json(OPERATOR).unwrap();
    file(installation, &credentials)
}

/// The metadata server in the place of a file.
pub fn metadata_server(installation: &Installation) -> String {
    let address = installation.google().address();
    format!("application_credentials = \"none\"\nmetadata_host = \"{address}\"")
}

fn ready(settings: impl FnOnce(&Installation) -> String) -> Stage {
    let stage = Stage::aware(settings);
    stage.enable(MOUNT, json!({}));
    stage.workload_role(MOUNT);
    stage
}

fn source(stage: &Stage) -> Value {
    let check = stage.read(&format!("auth/{MOUNT}/config/check"));
    assert_eq!(check["usable"], true, "{check}");
    check["credentials_source"].clone()
}

/// How often access tokens were asked for with a signature or a refresh token, and of the metadata server.
fn questions(google: &FakeGoogle) -> (u64, u64) {
    (
        google.calls(Endpoint::Token),
        google.calls(Endpoint::MetadataToken),
    )
}

#[test]
fn contract_8_4_a_key_file_of_the_server_serves_every_mount() {
    let stage = ready(key_file);
    stage.enable("other", json!({}));
    stage.workload_role("other");
    assert_granted(&stage.log_in(MOUNT, "dev"));
    assert_granted(&stage.log_in("other", "dev"));
    assert_eq!(source(&stage), "adc");
    let (tokens, metadata) = questions(stage.google());
    assert!((1..=2).contains(&tokens), "{tokens}");
    assert_eq!(metadata, 0);
    let config = stage.read(&format!("auth/{MOUNT}/config"));
    for name in ["client_email", "private_key_id", "private_key"] {
        assert!(config.get(name).is_none(), "{config}");
    }
}

#[test]
fn contract_8_4_a_persons_login_serves_too_until_it_is_revoked() {
    let stage = ready(|installation| {
        let google = installation.google();
        file(installation, &google.authorized_user_json(PERSON).unwrap())
    });
    assert_granted(&stage.log_in(MOUNT, "dev"));
    assert_eq!(source(&stage), "adc");
    assert_eq!(questions(stage.google()), (1, 0));
    stage.google().revoke_user(PERSON);
    stage.forget(MOUNT);
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 502, "failed to create oauth2 http client: ");
}

#[test]
fn contract_8_4_on_googles_machines_the_metadata_server_serves() {
    let stage = ready(metadata_server);
    let google = stage.google();
    google.set_metadata_account(OPERATOR).unwrap();
    assert_granted(&stage.log_in(MOUNT, "dev"));
    assert_eq!(source(&stage), "adc");
    assert_eq!(questions(google), (0, 1));
}

#[test]
fn contract_8_4_a_web_server_without_the_flavor_is_no_metadata_server() {
    let stage = ready(metadata_server);
    stage.google().set_metadata_flavor(false);
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 502, "failed to create oauth2 http client: ");
    stage.google().set_metadata_flavor(true);
    assert_granted(&stage.log_in(MOUNT, "dev"));
}

#[test]
fn contract_8_4_without_any_credentials_a_login_says_so() {
    let stage =
        ready(|_| "application_credentials = \"none\"\nmetadata_host = \"none\"".to_owned());
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 502, "could not find default credentials");
    let check = stage.read(&format!("auth/{MOUNT}/config/check"));
    assert_eq!(check["usable"], false, "{check}");
}

#[test]
fn contract_2_6_stored_credentials_come_first_then_federation_then_the_servers_own() {
    let stage = ready(|installation| {
        let google = installation.google();
        let metadata = format!("metadata_host = \"{}\"", google.address());
        format!("{}\n{metadata}", federation_settings(installation))
    });
    let google = stage.google();
    let credentials = google.credentials_json(OPERATOR).unwrap();
    let federation = trust(&stage);

    for (change, expected) in [
        (json!({"credentials": credentials}), "static"),
        (federation.clone(), "wif"),
        (json!({"credentials": credentials}), "static"),
        (json!({"credentials": ""}), "adc"),
        (federation, "wif"),
        (json!({"identity_token_audience": ""}), "adc"),
    ] {
        google.forget_requests();
        stage.write(&format!("auth/{MOUNT}/config"), &change);
        assert_eq!(google.requests(), [], "writing calls nobody");
        assert_granted(&stage.log_in(MOUNT, "dev"));
        assert_eq!(source(&stage), expected, "{change}");
        let asked = |endpoint| google.calls(endpoint) > 0;
        let sources = [
            (Endpoint::Token, "static"),
            (Endpoint::SecurityTokenService, "wif"),
            (Endpoint::MetadataToken, "adc"),
        ];
        for (endpoint, of) in sources {
            assert_eq!(asked(endpoint), of == expected, "{endpoint:?} {expected}");
        }
    }
    let mut both = trust(&stage);
    both["credentials"] = credentials.into();
    let path = format!("/v1/auth/{MOUNT}/config");
    let refused = stage.installation.as_root("POST", &path, Some(&both));
    let text = "only one of 'credentials' or 'identity_token_audience' can be set";
    assert_refused(&refused, 400, text);
    assert_eq!(source(&stage), "adc");
}
