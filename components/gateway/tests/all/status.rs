//! Status endpoints and initialization (contract 6.2).

use std::time::Duration;

use gatehouse_gateway::host::Host;
use gatehouse_gateway::{Method, Settings};
use serde_json::json;

use super::server::{NOW, ROOT, Server};

#[test]
fn health_follows_the_state_and_its_switches() {
    let server = Server::empty();
    let status = |server: &Server, query: &str| {
        let target = format!("sys/health{query}");
        let answer = server.send(Method::Get, &target, None, "").0.status;
        let head = server.send(Method::Head, &target, None, "").0;
        assert_eq!((head.status, head.body.len()), (answer, 0));
        answer
    };
    assert_eq!(status(&server, ""), 501);
    assert_eq!(status(&server, "?uninitcode=299&activecode=298"), 299);
    let auto_auth = "?drsecondarycode=299&haunhealthy=299&performancestandbycode=299&removedcode=299&sealedcode=299&standbycode=299&uninitcode=299";
    assert_eq!(status(&server, auto_auth), 299);
    let server = Server::initialized();
    assert_eq!(status(&server, ""), 200);
    assert_eq!(status(&server, auto_auth), 200);
    assert_eq!(
        status(
            &server,
            "?activecode=204&standbyok=true&perfstandbyok=x&unknown=1"
        ),
        204
    );
    assert_eq!(status(&server, "?standbyok"), 200);
    for bad in [
        "?standbyok=x",
        "?activecode=x",
        "?sealedcode=",
        "?removedcode=99",
        "?uninitcode=1000",
    ] {
        assert_eq!(status(&server, bad), 400, "{bad}");
    }
}

#[test]
fn health_that_may_be_a_moment_old_says_at_once_that_a_server_has_become_active() {
    let settings = Settings {
        health_reuse: Some(Duration::from_secs(3600)),
        ..Settings::default()
    };
    let server = Server::on(Host::default(), settings);
    let status = |server: &Server| server.send(Method::Get, "sys/health", None, "").0.status;
    assert_eq!(status(&server), 501);
    let server = server.initialize();
    assert_eq!([status(&server), status(&server)], [200, 200]);
}

#[test]
fn bodies_have_every_member_and_no_envelope() {
    let server = Server::initialized();
    let get = |path: &str| server.send(Method::Get, path, None, "").expect(200).json();
    let health = get("sys/health");
    let cluster = (&health["cluster_name"], &health["cluster_id"]);
    assert_eq!(
        health,
        json!({"initialized":true,"sealed":false,"standby":false,"performance_standby":false,
            "replication_performance_mode":"disabled","replication_dr_mode":"disabled",
            "server_time_utc":NOW,"version":"1.21.0","enterprise":false,
            "cluster_name":cluster.0,"cluster_id":cluster.1,"echo_duration_ms":0,"clock_skew_ms":0,
            "replication_primary_canary_age_ms":0})
    );
    assert_eq!(
        get("sys/seal-status"),
        json!({"type":"static","initialized":true,"sealed":false,"t":1,"n":1,"progress":0,"nonce":"",
            "version":"1.21.0","build_date":"1970-01-01T00:00:00Z","migration":false,
            "cluster_name":cluster.0,"cluster_id":cluster.1,"recovery_seal":false,"storage_type":"gatehouse"})
    );
    assert_eq!(
        get("sys/leader"),
        json!({"ha_enabled":false,"is_self":false,"active_time":"0001-01-01T00:00:00Z","leader_address":"",
            "leader_cluster_address":"","performance_standby":false,"performance_standby_last_remote_wal":0})
    );
    assert_eq!(get("sys/init"), json!({"initialized": true}));
    server
        .send(Method::Post, "sys/health", None, "")
        .silently_refused(405);
}

#[test]
fn contract_6_2_the_version_is_the_one_that_clients_are_to_take_this_server_for() {
    for version in ["1.21.4", "1.21.4+ent"] {
        let settings = Settings {
            compatibility_version: version.to_owned(),
            ..Settings::default()
        };
        let server = Server::on(Host::default(), settings).initialize();
        for path in ["sys/health", "sys/seal-status"] {
            let status = server.send(Method::Get, path, None, "").expect(200);
            assert_eq!(status.json()["version"], version, "{path}");
        }
        // The version tells clients which fields to send; it promises no feature of that edition.
        let health = server.send(Method::Get, "sys/health", None, "").json();
        assert_eq!(health["enterprise"], false);
    }
}

#[test]
fn contract_6_2_the_kind_of_store_is_the_one_that_the_operator_has_chosen() {
    let settings = Settings {
        storage_type: "postgresql".to_owned(),
        ..Settings::default()
    };
    let server = Server::on(Host::default(), settings).initialize();
    let status = server.send(Method::Get, "sys/seal-status", None, "");
    assert_eq!(status.expect(200).json()["storage_type"], "postgresql");
}

#[test]
fn contract_6_2_a_status_that_has_no_body_has_none() {
    let server = Server::initialized();
    let answer = server.send(Method::Get, "sys/health?activecode=204", None, "");
    assert_eq!((answer.0.status, answer.text()), (204, String::new()));
}

#[test]
fn a8_initialization_works_once() {
    let server = Server::empty();
    let init = || {
        server.send(
            Method::Put,
            "sys/init",
            None,
            r#"{"secret_shares":1,"secret_threshold":1}"#,
        )
    };
    assert_eq!(
        server.send(Method::Get, "sys/init", None, "").json(),
        json!({"initialized": false})
    );
    server
        .send(Method::Get, "sys/auth", Some(ROOT), "")
        .refused(503, "Vault is not initialized");

    let encrypted = r#"{"root_token_pgp_key":"key"}"#;
    server
        .send(Method::Put, "sys/init", None, encrypted)
        .expect(400);
    assert_eq!(server.commits(), 0);

    for asked in [
        r#"{"secret_shares":5,"secret_threshold":3}"#,
        r#"{"secret_shares":1,"secret_threshold":2}"#,
        r#"{"secret_shares":-1}"#,
    ] {
        let refused = server
            .send(Method::Put, "sys/init", None, asked)
            .expect(400);
        let text = refused.text();
        assert!(text.contains(" must be 1 or left out"), "{text}");
    }
    assert_eq!(server.commits(), 0);

    let made = init().expect(200).json();
    let token = made["root_token"].as_str().unwrap();
    assert!(token.starts_with("hvs."));
    assert_eq!(
        (&made["keys"], &made["keys_base64"]),
        (&json!([]), &json!([]))
    );
    server
        .send(Method::Get, "sys/auth", Some(token), "")
        .expect(200);
    let before = server.commits();
    init().refused(400, "Vault is already initialized");
    // The refusal does not depend on the other fields.
    let shares = r#"{"secret_shares":5,"secret_threshold":3}"#;
    server
        .send(Method::Put, "sys/init", None, shares)
        .refused(400, "Vault is already initialized");
    assert_eq!(server.commits(), before);
}
