//! A first start that others can reach before its operator does (SEC-A8): the operator has chosen the root token by its hash, and no other
//! caller gets one by asking first.

use std::fs;
use std::process::Command;

use gatehouse_tests::{Answer, Host, Installation, Storage, gatehouse_binary, workspace};
use serde_json::{Value, json};

use crate::HOST;

/// A root token and its hash, as an operator makes them.
fn made() -> (String, String) {
    let mut command = Command::new(gatehouse_binary());
    let output = command.args(["operator", "root-token"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let value = |label: &str| {
        let mut lines = printed.lines();
        let value = lines.find_map(|line| line.strip_prefix(label));
        value.expect(label).to_owned()
    };
    (value("Token: "), value("Hash: "))
}

/// A running server without anything in its store, told this hash: by a setting, or by a variable under Spin.
fn started(hash: &str) -> Installation {
    let mut program = HOST.program();
    let mut settings = String::new();
    if HOST == Host::Gatehouse {
        settings = format!("[bootstrap]\nroot_token_hash = {hash:?}\n");
    } else {
        program = program.with_variable("root_token_hash", hash);
    }
    let mut installation =
        Installation::not_started_program(program, Storage::Durable, &settings).unwrap();
    installation.run().unwrap();
    installation
}

fn initialize(installation: &Installation, token: Option<&str>, body: &Value) -> Answer {
    installation.send("PUT", "/v1/sys/init", token, Some(body))
}

fn policies_of(installation: &Installation, token: &str) -> Answer {
    let path = "/v1/auth/token/lookup-self";
    installation.send("GET", path, Some(token), None)
}

#[test]
fn a8_the_token_of_the_hash_initializes_an_empty_server_and_nobody_gets_a_root_token_by_asking() {
    let (token, hash) = made();
    let (other, _) = made();
    let mut installation = started(&hash);
    for (presented, body) in [
        (None, json!({})),
        (Some(other.as_str()), json!({})),
        (None, json!({"root_token": other})),
        // The hash is no secret, and opens nothing.
        (Some(hash.as_str()), json!({})),
        // A token in the body takes precedence over the one in the header.
        (Some(token.as_str()), json!({"root_token": other})),
    ] {
        let refused = initialize(&installation, presented, &body);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(
            refused.error().contains("chosen by its hash"),
            "{refused:?}"
        );
        assert!(!refused.body.contains("hvs."), "{refused:?}");
    }
    let status = installation.send("GET", "/v1/sys/init", None, None);
    assert_eq!(status.json()["initialized"], false, "{status:?}");
    let health = installation.send("GET", "/v1/sys/health", None, None);
    assert_eq!(health.status, 501, "{health:?}");
    assert!(policies_of(&installation, &token).status >= 400);

    let made = initialize(&installation, Some(&token), &json!({}));
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(made.json()["root_token"], json!(token));
    let again = initialize(&installation, Some(&token), &json!({}));
    assert_eq!(
        (again.status, again.error().as_str()),
        (400, "Vault is already initialized")
    );

    // Both tokens are as before after a restart, with the hash still in the settings.
    installation.server().terminate().unwrap();
    installation.run().unwrap();
    let root = policies_of(&installation, &token);
    assert_eq!(root.json()["data"]["policies"], json!(["root"]), "{root:?}");
    assert_eq!(policies_of(&installation, &other).status, 403);
    let accessors = installation.send("LIST", "/v1/auth/token/accessors/", Some(&token), None);
    let keys = &accessors.json()["data"]["keys"];
    assert_eq!(keys.as_array().map(Vec::len), Some(1), "{accessors:?}");
    assert_eq!(initialize(&installation, None, &json!({})).status, 400);
}

/// A root token and its hash, made by the commands of a page for operators who have no `gatehouse` at hand.
fn made_with_ordinary_tools() -> (String, String) {
    let page = fs::read_to_string(workspace().join("docs/hosts/spin.md")).unwrap();
    let commands = ["$ TOKEN=", "$ HASH="].map(|beginning| {
        let mut lines = page.lines().filter(|line| line.starts_with(beginning));
        lines.next().expect(beginning).trim_start_matches("$ ")
    });
    let script = format!("{}\necho \"$TOKEN $HASH\"", commands.join("\n"));
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let (token, hash) = printed.trim().split_once(' ').unwrap();
    (token.to_owned(), hash.to_owned())
}

#[test]
fn a_token_that_ordinary_tools_have_made_as_the_page_says_initializes_the_server() {
    let (token, hash) = made_with_ordinary_tools();
    let installation = started(&hash);
    assert_eq!(initialize(&installation, None, &json!({})).status, 403);
    let made = initialize(&installation, Some(&token), &json!({}));
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(made.json()["root_token"], json!(token));
    assert_eq!(policies_of(&installation, &token).status, 200);
}

#[test]
fn a8_without_a_hash_the_first_caller_gets_the_root_token_and_under_spin_none_does() {
    let mut program = HOST.program();
    if HOST != Host::Gatehouse {
        program = program.with_variable("root_token_hash", "");
    }
    let mut installation =
        Installation::not_started_program(program, Storage::Durable, "").unwrap();
    installation.run().unwrap();
    if HOST != Host::Gatehouse {
        let (token, _) = made();
        for presented in [None, Some(token.as_str())] {
            let refused = initialize(&installation, presented, &json!({}));
            assert_eq!(refused.status, 403, "{refused:?}");
            assert!(refused.error().contains("set root_token_hash"));
        }
        let status = installation.send("GET", "/v1/sys/init", None, None);
        assert_eq!(status.json()["initialized"], false, "{status:?}");
        return;
    }
    let first = initialize(&installation, None, &json!({}));
    assert_eq!(first.status, 200, "{first:?}");
    let token = first.json()["root_token"].as_str().unwrap().to_owned();
    let next = initialize(&installation, None, &json!({}));
    assert_eq!(next.status, 400, "{next:?}");
    assert!(!next.body.contains("hvs."), "{next:?}");
    assert_eq!(policies_of(&installation, &token).status, 200);
}
