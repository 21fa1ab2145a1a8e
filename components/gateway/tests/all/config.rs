//! `config` (contract 2).

use gatehouse_auth_method::{
    AliasSource, ConfigView, CredentialsSource, CredentialsView, CustomEndpoints, RotationSettings,
};
use serde_json::json;

use super::server::{Server, listed};

#[test]
fn a_mount_that_was_never_configured_shows_the_defaults() {
    let server = Server::with_method();
    assert_eq!(
        server.get("auth/gcp/config").expect(200).data(),
        json!({
            "credentials_source": "adc",
            "disable_automated_rotation": false,
            "gce_alias": "role_id",
            "gce_metadata": ["instance_creation_timestamp", "instance_id", "instance_name", "project_id",
                "project_number", "role", "service_account_id", "service_account_email", "zone"],
            "iam_alias": "role_id",
            "iam_metadata": ["project_id", "role", "service_account_id", "service_account_email"],
            "identity_token_audience": "",
            "identity_token_ttl": 3600,
            "rotation_period": 0,
            "rotation_policy": "",
            "rotation_schedule": "",
            "rotation_window": 0,
        })
    );
    assert_eq!(server.get("auth/gcp/config").json()["mount_type"], "gcp");
}

#[test]
fn a_configuration_shows_everything_but_the_key() {
    let server = Server::with_method();
    let mut view = ConfigView {
        credentials: Some(CredentialsView {
            client_email: "root@p.iam.gserviceaccount.com".to_owned(),
            client_id: String::new(),
            private_key_id: "k1".to_owned(),
            project_id: "p".to_owned(),
        }),
        iam_alias: AliasSource::Caller,
        gce_alias: AliasSource::Caller,
        iam_metadata: Vec::new(),
        gce_metadata: vec!["zone".to_owned()],
        custom_endpoint: CustomEndpoints {
            iam: Some("iam.example".to_owned()),
            ..CustomEndpoints::default()
        },
        credentials_source: CredentialsSource::Static,
        service_account_email: String::new(),
        identity_token_audience: String::new(),
        identity_token_ttl: 3600,
        rotation: RotationSettings {
            schedule: "0 3 * * 6".to_owned(),
            period: 0,
            window: 60,
            policy: "p".to_owned(),
            disabled: true,
        },
    };
    server.script.config.is(Ok(view.clone()));
    let mut expected = json!({
        "client_email": "root@p.iam.gserviceaccount.com",
        "credentials_source": "static",
        "custom_endpoint": {"iam": "iam.example"},
        "disable_automated_rotation": true,
        "gce_alias": "instance_id",
        "gce_metadata": ["zone"],
        "iam_alias": "unique_id",
        "iam_metadata": [],
        "identity_token_audience": "",
        "identity_token_ttl": 3600,
        "private_key_id": "k1",
        "project_id": "p",
        "rotation_period": 0,
        "rotation_policy": "p",
        "rotation_schedule": "0 3 * * 6",
        "rotation_window": 60,
    });
    assert_eq!(server.get("auth/gcp/config").expect(200).data(), expected);

    view.credentials = None;
    view.credentials_source = CredentialsSource::Federation;
    view.service_account_email = "a@p".to_owned();
    view.identity_token_audience = "//iam.googleapis.com/x".to_owned();
    view.identity_token_ttl = 600;
    server.script.config.is(Ok(view));
    for member in ["client_email", "private_key_id", "project_id"] {
        expected.as_object_mut().unwrap().remove(member);
    }
    expected["credentials_source"] = json!("wif");
    expected["service_account_email"] = json!("a@p");
    expected["identity_token_audience"] = json!("//iam.googleapis.com/x");
    expected["identity_token_ttl"] = json!(600);
    assert_eq!(server.get("auth/gcp/config").expect(200).data(), expected);
}

#[test]
fn writes_merge_and_delete_resets() {
    let server = Server::with_method();
    let post = |body| server.post("auth/gcp/config", body).expect(204);
    assert!(post(r#"{"iam_alias":"unique_id"}"#).0.body.is_empty());
    post(
        r#"{"gce_alias":"instance_id","google_certs_endpoint":"https://www.googleapis.com/oauth2/v3/certs"}"#,
    );
    let config = server.get("auth/gcp/config").data();
    assert_eq!(
        (&config["iam_alias"], &config["gce_alias"]),
        (&json!("unique_id"), &json!("instance_id"))
    );
    assert_eq!(config.get("google_certs_endpoint"), None);
    server.delete("auth/gcp/config").expect(204);
    assert_eq!(server.get("auth/gcp/config").data()["iam_alias"], "role_id");
}

#[test]
fn refusals_have_their_texts_and_store_nothing() {
    let server = Server::with_method();
    let before = server.commits();
    for (body, status, text) in [
        (r#"{"b":1,"a":2}"#, 422, r#"unknown fields: ["a" "b"]"#),
        (
            r#"{"iam_alias":"x"}"#,
            400,
            "invalid IAM alias type: must be one of: role_id, unique_id",
        ),
        (
            r#"{"gce_alias":"x"}"#,
            400,
            "invalid GCE alias type: must be one of: instance_id, role_id",
        ),
        (
            r#"{"iam_metadata":"Default,a"}"#,
            400,
            r#"failed to parse iam metadata: ["a" "default"] contains default - default can't be used in combination with other fields"#,
        ),
        (
            r#"{"iam_metadata":"x"}"#,
            400,
            r#"failed to parse iam metadata: "x" contains an unavailable field, please select from "project_id, role, service_account_id, service_account_email""#,
        ),
        (
            r#"{"custom_endpoint":{"x":"y"}}"#,
            400,
            r#"invalid custom endpoint type "x". Available types are: 'api', 'iam', 'crm', 'compute'"#,
        ),
        (
            r#"{"credentials":"{}"}"#,
            400,
            "missing private key in credentials",
        ),
    ] {
        server
            .post("auth/gcp/config", body)
            .refused(status, &listed(text));
    }
    for (body, beginning) in [
        (
            r#"{"credentials":"nonsense-of-the-operator"}"#,
            "failed to read credentials: ",
        ),
        (
            r#"{"custom_endpoint":{"api":"http://example.com"}}"#,
            r#"invalid custom endpoint value for "api": "#,
        ),
    ] {
        let answer = server.post("auth/gcp/config", body).expect(400);
        assert!(
            answer.text().contains(&beginning.replace('"', "\\\"")),
            "{}",
            answer.text()
        );
        assert!(!answer.text().contains("nonsense"));
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn other_operations_are_unsupported() {
    let server = Server::with_method();
    server
        .list("auth/gcp/config")
        .refused(405, &listed("unsupported operation"));
    server
        .get("auth/gcp/config/x")
        .refused(404, &listed("unsupported path"));
}

#[test]
fn g15_n1_a_host_that_anybody_can_write_to_is_refused_and_the_refusal_names_the_setting() {
    let server = Server::with_method();
    let before = server.commits();
    for value in [
        "https://storage.googleapis.com/bucket",
        "https://bucket.storage.googleapis.com",
        "firebasestorage.googleapis.com",
        "https://www.googleapis.com/storage/v1/b/bucket/o",
    ] {
        for key in ["api", "iam", "crm", "compute"] {
            let body = json!({ "custom_endpoint": { key: value } }).to_string();
            let answer = server.post("auth/gcp/config", &body).expect(400);
            let text = answer.text();
            assert!(text.contains("google.allowed_hosts"), "{text}");
            assert!(!text.contains("bucket"), "{text}");
        }
    }
    assert_eq!(server.commits(), before);
}
