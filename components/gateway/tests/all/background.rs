//! Work that is due without a request (contract 2.6, 7.4).

use gatehouse_auth_method::{CredentialsError, IdentityTokenError, Rotated, RotationError};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use serde_json::json;

use super::server::Server;

fn rotated(left: Option<&str>) -> Rotated {
    Rotated {
        private_key_id: "k2".to_owned(),
        key_left_behind: left.map(str::to_owned),
    }
}

#[test]
fn every_mount_of_the_method_is_asked_and_no_other() {
    let server = Server::with_method();
    server.post("sys/auth/a/b", r#"{"type":"gcp"}"#).expect(204);
    server.run_background();
    let mut asked = server.script.rotated_mounts.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, ["a/b/", "gcp/"]);
    assert!(server.operator_lines().is_empty());
}

#[test]
fn every_mount_has_its_turn_to_be_first() {
    let server = Server::with_method();
    server.post("sys/auth/a/b", r#"{"type":"gcp"}"#).expect(204);
    let mut first = std::collections::BTreeSet::new();
    // The probability that one of the two mounts is never drawn is 1 in 2^127.
    for _ in 0..128 {
        server.script.rotated_mounts.lock().unwrap().clear();
        server.run_background();
        first.insert(server.script.rotated_mounts.lock().unwrap()[0].clone());
    }
    assert_eq!(first.len(), 2);
}

#[test]
fn the_operator_is_told_of_every_rotation_and_failure_in_one_line() {
    let server = Server::with_method();
    for (outcome, line) in [
        (Ok(None), None),
        (
            Ok(Some(rotated(None))),
            Some("auth/gcp/: root credentials: replaced by key \"k2\""),
        ),
        (
            Ok(Some(rotated(Some("k1")))),
            Some(
                "auth/gcp/: root credentials: The key \"k2\" is in use, and the key \"k1\" before it could not be deleted: it still opens everything. Delete it.",
            ),
        ),
        (Err(RotationError::Busy), None),
        (Err(RotationError::Storage(StoreError::Sealed.into())), None),
        (
            Err(RotationError::Credentials(CredentialsError::Unusable)),
            Some(
                "auth/gcp/: root credentials: failed to create oauth2 http client: the stored private key is not usable",
            ),
        ),
        (
            Err(RotationError::NotYetAccepted("k2".to_owned())),
            Some(
                "auth/gcp/: root credentials: Google does not accept the new key \"k2\" yet: it is kept, and the next rotation goes on with it, try again",
            ),
        ),
    ] {
        server.script.due_rotation.is(outcome);
        server.run_background();
        let lines = server.operator_lines();
        assert_eq!(lines, line.into_iter().collect::<Vec<_>>());
    }
    let failed = StoreError::Unavailable("disk full".to_owned());
    server
        .script
        .due_rotation
        .is(Err(RotationError::Storage(failed.into())));
    server.run_background();
    let lines = server.operator_lines();
    assert!(
        lines.len() == 1 && lines[0].contains("disk full"),
        "{lines:?}"
    );
}

#[test]
fn keys_of_identity_tokens_are_kept_fresh() {
    let server = Server::initialized();
    server.script.due_keys.is(Err(IdentityTokenError::Random));
    server.run_background();
    assert_eq!(
        server.operator_lines(),
        ["keys of identity tokens: no randomness to make a key from"]
    );
    let sealed = IdentityTokenError::Storage(StoreError::Sealed.into());
    server.script.due_keys.is(Err(sealed));
    server.run_background();
    assert!(server.operator_lines().is_empty());
}

#[test]
fn t8_the_key_of_batch_tokens_is_replaced_in_the_background() {
    let server = Server::initialized();
    let batch = r#"{"type":"batch","policies":["default"]}"#;
    server.post("auth/token/create", batch).expect(200);
    // This does the first count of live tokens.
    server.run_background();
    let before = server.commits();
    server.run_background();
    assert_eq!(server.commits(), before);
    server.pass(7 * 24 * 60 * 60);
    server.run_background();
    assert_eq!(server.commits(), before + 1);
    assert!(server.operator_lines().is_empty());

    server.pass(7 * 24 * 60 * 60);
    let failed = StoreError::Unavailable("disk full".to_owned());
    server.access_store.fail_next_commit(failed.into());
    server.run_background();
    let lines = server.operator_lines();
    assert_eq!(
        lines,
        ["upkeep of tokens: the store is unavailable: disk full"]
    );
}

#[test]
fn on_an_uninitialized_server_nothing_is_due() {
    let server = Server::empty();
    server.run_background();
    assert!(server.operator_lines().is_empty());
    assert!(server.script.rotated_mounts.lock().unwrap().is_empty());
}

#[test]
fn t5_what_descends_from_expired_tokens_is_removed_without_anybody_asking() {
    let server = Server::initialized();
    let token = |answer: super::server::Answer| {
        let auth = answer.expect(200).json()["auth"].clone();
        auth["client_token"].as_str().unwrap().to_owned()
    };
    server.run_background();
    let before = server.access_store.keys();
    let body = json!({"policies": ["root"], "ttl": "1m"}).to_string();
    let parent = token(server.post("auth/token/create", &body));
    let long = r#"{"ttl":"1h"}"#;
    token(server.send(Method::Post, "auth/token/create", Some(&parent), long));
    server.pass(60);
    assert_ne!(server.access_store.keys(), before);
    server.run_background();
    assert_eq!(server.access_store.keys(), before);
    assert!(server.operator_lines().is_empty());
}

#[test]
fn l6_a_duty_that_tells_of_a_failure_has_failed() {
    let server = Server::with_method();
    server.post("sys/auth/a/b", r#"{"type":"gcp"}"#).expect(204);
    assert!(server.run_duties().is_empty());
    let failed = || StoreError::Unavailable("disk full".to_owned());
    server
        .script
        .due_rotation
        .is(Err(RotationError::Storage(failed().into())));
    server.script.due_keys.is(Err(IdentityTokenError::Random));
    let both = ["rotate-credentials", "maintain-identity-token-keys"];
    assert_eq!(server.run_duties(), both);
    // The other mount was handled nevertheless.
    assert_eq!(server.script.rotated_mounts.lock().unwrap().len(), 4);
    assert_eq!(server.operator_lines().len(), 2);

    server.script.due_rotation.is(Err(RotationError::Busy));
    let sealed = IdentityTokenError::Storage(StoreError::Sealed.into());
    server.script.due_keys.is(Err(sealed));
    let left = rotated(Some("k1"));
    assert!(server.run_duties().is_empty());
    server.script.due_rotation.is(Ok(Some(left)));
    assert!(server.run_duties().is_empty());
    assert_eq!(server.operator_lines().len(), 1);

    let batch = r#"{"type":"batch","policies":["default"]}"#;
    server.post("auth/token/create", batch).expect(200);
    server.pass(7 * 24 * 60 * 60);
    server.access_store.fail_next_commit(failed().into());
    assert_eq!(server.run_duties(), ["maintain-access"]);
    assert!(Server::empty().run_duties().is_empty());
}
