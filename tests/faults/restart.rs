//! A server that is stopped, gently or not, and started again.

use gatehouse_tests::{Host, Installation, ROLE, Storage};
use serde_json::json;

use crate::HOST;

fn start() -> Installation {
    Installation::start_program(HOST.program(), Storage::Durable, "").unwrap()
}

fn organization() -> serde_json::Value {
    json!({"data": {
        "type": "organizations",
        "attributes": {"name": "demo-kept", "email": "kept@example.com"},
    }})
}

/// Everything that must survive: config, role, policy, a token, and what the token made.
struct Kept {
    token: String,
}

fn prepare(installation: &Installation) -> Kept {
    installation.set_up_login().unwrap();
    let login = installation.login().unwrap();
    assert_eq!(login.status, 200, "{login:?}");
    let token = login.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let created = installation.send(
        "POST",
        "/api/v2/organizations",
        Some(&token),
        Some(&organization()),
    );
    assert_eq!(created.status, 201, "{created:?}");
    Kept { token }
}

fn assert_kept(installation: &Installation, kept: &Kept) {
    let config = installation.as_root("GET", "/v1/auth/gcp/config", None);
    assert_eq!(config.status, 200, "{config:?}");
    assert!(
        config.json()["data"]["client_email"].is_string(),
        "{config:?}"
    );
    let role = installation.as_root("GET", &format!("/v1/auth/gcp/role/{ROLE}"), None);
    assert_eq!(role.status, 200, "{role:?}");
    let token = installation.send("GET", "/v1/auth/token/lookup-self", Some(&kept.token), None);
    assert_eq!(token.status, 200, "{token:?}");
    let shown = installation.send(
        "GET",
        "/api/v2/organizations/demo-kept",
        Some(&kept.token),
        None,
    );
    assert_eq!(shown.status, 200, "{shown:?}");
    let again = installation.login().unwrap();
    assert_eq!(again.status, 200, "{again:?}");
}

#[test]
fn o1_a_terminated_server_exits_cleanly_and_keeps_everything() {
    let mut installation = start();
    let kept = prepare(&installation);
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    installation.run().unwrap();
    assert_kept(&installation, &kept);
}

#[test]
fn s1_a_killed_server_keeps_everything_that_it_acknowledged() {
    let mut installation = start();
    let kept = prepare(&installation);
    installation.server().kill();
    installation.run().unwrap();
    assert_kept(&installation, &kept);
}

/// Nothing that is stored is told or changed.
fn assert_shut(installation: &Installation, kept: &Kept) {
    let health = installation.send("GET", "/v1/sys/health", None, None);
    let lookup = installation.send("GET", "/v1/auth/token/lookup-self", Some(&kept.token), None);
    let login = installation.login().unwrap();
    if HOST == Host::Gatehouse {
        assert_eq!(
            (health.status, &health.json()["sealed"]),
            (503, &json!(true)),
            "{health:?}"
        );
        assert_eq!(
            (lookup.status, lookup.error().as_str()),
            (503, "Vault is sealed")
        );
        assert_eq!(login.status, 503, "{login:?}");
    } else {
        // The key is a variable of the application there: another one is a store that cannot be had, and no seal.
        let statuses = [health.status, lookup.status, login.status];
        assert_eq!(statuses, [503; 3], "{health:?} {lookup:?} {login:?}");
    }
}

#[test]
fn k2_with_another_key_the_server_stays_shut_and_with_its_own_it_opens_again() {
    let mut installation = start();
    let kept = prepare(&installation);
    installation.server().kill();
    let key_file = installation.folder().join("seal.key");
    let own = std::fs::read(&key_file).unwrap();
    std::fs::remove_file(&key_file).unwrap();
    let made = std::process::Command::new(gatehouse_tests::gatehouse_binary())
        .args(["operator", "seal-key"])
        .arg(&key_file)
        .status()
        .unwrap();
    assert!(made.success());
    let other = std::fs::read(&key_file).unwrap();
    assert_ne!(own, other);

    installation.run().unwrap();
    assert_shut(&installation, &kept);
    installation.server().kill();

    std::fs::write(&key_file, own).unwrap();
    installation.run().unwrap();
    assert_kept(&installation, &kept);
}
