//! The program asks a server how it is, at each stage of its life.

use std::process::Command;

use gatehouse_tests::{Installation, Storage, gatehouse_binary};
use serde_json::Value;

/// Runs a command against the server at `address`; its exit code and what it printed.
fn ask(address: &str, command: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(gatehouse_binary());
    let output = program
        .args(command)
        .args(["--address", &format!("http://{address}")])
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

/// The exit codes of `status` and `health`, and what the former says of the server.
fn asked(address: &str) -> (Option<i32>, Option<i32>, Value) {
    let (status, report) = ask(address, &["status", "--json"]);
    let (health, silence) = ask(address, &["health"]);
    assert_eq!(silence, "");
    let report = serde_json::from_str(&report).unwrap_or_default();
    (status, health, report)
}

#[test]
fn status_and_health_tell_a_new_server_one_that_serves_and_one_that_is_gone_apart() {
    let fresh = Installation::with_shares("").unwrap();
    let (status, health, report) = asked(fresh.address());
    assert_eq!((status, health), (Some(2), Some(1)));
    assert_eq!(report["state"], "not-initialized");
    assert_eq!(report["cluster_name"], Value::Null);

    let mut serving = Installation::start(Storage::Memory, "").unwrap();
    let (status, health, report) = asked(serving.address());
    assert_eq!((status, health), (Some(0), Some(0)));
    assert_eq!(report["state"], "ready");
    assert!(report["cluster_name"].is_string(), "{report}");
    assert_eq!(report["version"], "1.21.0");
    assert_eq!(report["server_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["storage_type"], "inmem");
    let (_, text) = ask(serving.address(), &["status"]);
    assert!(text.contains("State                ready\n"), "{text}");

    assert_eq!(serving.server().terminate().unwrap(), Some(0));
    let (status, health, report) = asked(serving.address());
    assert_eq!((status, health), (Some(1), Some(1)));
    assert_eq!(report, Value::Null);
}
