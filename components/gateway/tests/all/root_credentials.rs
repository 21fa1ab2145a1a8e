//! `config/rotate-root` and `config/check` (contract 2.6, 8.3).

use gatehouse_auth_method::{
    ApiRefusal, CredentialsError, CredentialsReport, CredentialsSource, GoogleCallError,
    PermissionsFound, ProjectReport, Rotated, RotationError,
};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use serde_json::json;

use super::rows::{absent, hidden, rows, texts};
use super::server::{ROOT, Server, listed};

const ROTATE: &str = "auth/gcp/config/rotate-root";
const CHECK: &str = "auth/gcp/config/check";

fn refused(error: RotationError, status: u16, text: &str) {
    let server = Server::with_method();
    let before = server.commits();
    server.script.rotation.is(Err(error));
    server.post(ROTATE, "").refused(status, text);
    assert_eq!(server.commits(), before);
}

rows! { refused:
    d22_no_stored_credentials: RotationError::NoStoredCredentials => 400 &listed("configuration does not have credentials - this endpoint only works with user-provided JSON credentials explicitly provided via the config/ endpoint");
    another_rotation_at_work: RotationError::Busy => 503 &listed("another rotation of these credentials is at work, try again");
    key_refused: RotationError::Refused(hidden()) => 400 "failed to create a new key: googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission iam.serviceAccountKeys.create)";
    account_gone: RotationError::Refused(absent()) => 400 "failed to create a new key: googleapi: Error 404: Not found, notFound";
    key_unreadable: RotationError::AnswerUnreadable => 502 "google API gave an unusable answer: iam";
    key_not_yet_accepted: RotationError::NotYetAccepted("k2".to_owned()) => 503 &listed("Google does not accept the new key \"k2\" yet: it is kept, and the next rotation goes on with it, try again");
    credentials_unusable: RotationError::Credentials(CredentialsError::Unusable) => 502 "failed to create oauth2 http client: the stored private key is not usable";
    endpoint_denied: RotationError::EndpointDenied("iam".into()) => 502 "outgoing requests to the iam API are not allowed: add its host to the allowed hosts of the server";
    google_unavailable: RotationError::GoogleUnavailable("iam".into()) => 503 "google API unavailable: iam";
    configuration_changed: RotationError::ConfigurationChanged => 400 &listed("the configuration was changed in the meantime, so the rotation was given up");
    sealed: RotationError::Storage(StoreError::Sealed.into()) => 503 "Vault is sealed";
}

#[test]
fn a_rotation_names_the_new_key() {
    for method in [Method::Post, Method::Put] {
        let server = Server::with_method();
        server.script.rotation.is(Ok(Rotated {
            private_key_id: "k2".to_owned(),
            key_left_behind: None,
        }));
        let answer = server.send(method, ROTATE, Some(ROOT), "").expect(200);
        assert_eq!(answer.data(), json!({"private_key_id": "k2"}));
        assert!(answer.warnings().is_empty());
    }
}

#[test]
fn d22_a_key_left_behind_is_a_warning_that_names_both() {
    let server = Server::with_method();
    server.script.rotation.is(Ok(Rotated {
        private_key_id: "k2".to_owned(),
        key_left_behind: Some("k1".to_owned()),
    }));
    let answer = server.post(ROTATE, "{}").expect(200);
    assert_eq!(answer.data(), json!({"private_key_id": "k2"}));
    let text = "The key \"k2\" is in use, and the key \"k1\" before it could not be deleted: it still opens everything. Delete it.";
    assert_eq!(answer.warnings(), [text]);
}

#[test]
fn a_rotation_warns_of_fields_that_it_does_not_know() {
    let server = Server::with_method();
    server.script.rotation.is(Ok(Rotated {
        private_key_id: "k2".to_owned(),
        key_left_behind: None,
    }));
    let answer = server.post(ROTATE, r#"{"force":true}"#).expect(200);
    let ignored = "Endpoint ignored these unrecognized parameters: [force]";
    assert_eq!(answer.warnings(), [ignored]);
}

#[test]
fn a_rotation_is_a_write_without_fields() {
    let server = Server::with_method();
    for method in [Method::Get, Method::Delete, Method::List] {
        let answer = server.send(method, ROTATE, Some(ROOT), "");
        answer.refused(405, &listed("unsupported operation"));
    }
    let reader = server.token_with(r#"path "auth/gcp/*" { capabilities = ["read", "create"] }"#);
    server
        .send(Method::Post, ROTATE, Some(&reader), "")
        .refused(403, &listed("permission denied"));
}

fn report() -> CredentialsReport {
    let found = |held: &[&str], lacking: &[&str]| PermissionsFound {
        held: texts(held),
        lacking: texts(lacking),
    };
    CredentialsReport {
        source: CredentialsSource::Federation,
        failure: None,
        projects: vec![
            ProjectReport {
                project: "p1".to_owned(),
                outcome: Ok(found(
                    &["iam.serviceAccounts.get"],
                    &["compute.instances.get", "some.new.permission"],
                )),
            },
            ProjectReport {
                project: "p2".to_owned(),
                outcome: Err(GoogleCallError::Refused(ApiRefusal {
                    status: 403,
                    ..hidden()
                })),
            },
        ],
    }
}

#[test]
fn a_check_shows_what_is_held_and_lacking_and_what_for() {
    let server = Server::with_method();
    let before = server.commits();
    server.script.check.is(Ok(report()));
    assert_eq!(
        server.get(CHECK).expect(200).data(),
        json!({
            "credentials_source": "wif",
            "usable": true,
            "needed_for": {
                "iam.serviceAccounts.get": "every login and renewal, unless the role has \"live_checks\" off",
                "compute.instances.get": "logins and renewals on gce roles, unless the role has \"live_checks\" off",
            },
            "projects": {
                "p1": {"held": ["iam.serviceAccounts.get"], "lacking": ["compute.instances.get", "some.new.permission"]},
                "p2": {"held": [], "lacking": [], "failure": "googleapi: Error 403: Permission denied, forbidden"},
            },
        })
    );
    assert_eq!(server.commits(), before);
}

#[test]
fn a_check_takes_projects_from_the_query_and_the_body() {
    let server = Server::with_method();
    server.get(CHECK).expect(200);
    server.get(&format!("{CHECK}?projects=a,b")).expect(200);
    let query = format!("{CHECK}?projects=a&projects=%20b&x=1");
    let warnings = server.get(&query).expect(200).warnings();
    assert_eq!(
        warnings,
        ["Endpoint ignored these unrecognized parameters: [x]"]
    );
    server.post(CHECK, "").expect(200);
    server.post(CHECK, r#"{"projects":["a"]}"#).expect(200);
    server.post(CHECK, r#"{"projects":"a, b,"}"#).expect(200);
    let checked = server.script.checked.lock().unwrap();
    let expected: [&[&str]; 6] = [&[], &["a", "b"], &["a", "b"], &[], &["a"], &["a", "b"]];
    assert_eq!(*checked, expected.map(texts));
}

#[test]
fn every_failure_of_a_check_has_its_words() {
    for (failure, text) in [
        (
            GoogleCallError::Refused(absent()),
            "googleapi: Error 404: Not found, notFound",
        ),
        (
            GoogleCallError::Credentials(CredentialsError::NotFound),
            "failed to create oauth2 http client: could not find default credentials",
        ),
        (
            GoogleCallError::EndpointDenied("crm".into()),
            "outgoing requests to the crm API are not allowed: add its host to the allowed hosts of the server",
        ),
        (
            GoogleCallError::GoogleUnusable("crm".into()),
            "google API gave an unusable answer: crm",
        ),
        (
            GoogleCallError::GoogleUnavailable("crm".into()),
            "google API unavailable: crm",
        ),
    ] {
        let server = Server::with_method();
        server.script.check.is(Ok(CredentialsReport {
            source: CredentialsSource::ApplicationDefault,
            failure: Some(failure),
            projects: Vec::new(),
        }));
        assert_eq!(
            server.get(CHECK).expect(200).data(),
            json!({"credentials_source": "adc", "usable": false, "failure": text, "needed_for": {}, "projects": {}})
        );
    }
}

#[test]
fn a_check_is_read_or_written_and_nothing_else() {
    let server = Server::with_method();
    for method in [Method::Delete, Method::List] {
        let answer = server.send(method, CHECK, Some(ROOT), "");
        answer.refused(405, &listed("unsupported operation"));
    }
    server
        .post(CHECK, r#"{"project":"a"}"#)
        .refused(422, &listed(r#"unknown fields: ["project"]"#));
    let sealed = StoreError::Sealed;
    server.script.check.is(Err(sealed.into()));
    server.get(CHECK).refused(503, "Vault is sealed");
    let reader = server.token_with(r#"path "auth/gcp/config/check" { capabilities = ["read"] }"#);
    server
        .send(Method::Get, CHECK, Some(&reader), "")
        .expect(200);
    server
        .send(Method::Post, CHECK, Some(&reader), "")
        .refused(403, &listed("permission denied"));
}
