//! The clients that others wrote, unmodified, against the release server over HTTP: each script asserts what its client is told.

mod console;
mod everywhere;
mod go;
mod openapi;
mod script;
mod several_servers;
mod several_servers_page;
mod tofu;
mod vaultrs;

use gatehouse_tests::{Client, Host, Installation};

/// The program that runs the components.
const HOST: Host = Host::Gatehouse;

/// Runs `script` against a new server whose key is to be in shares, and starts that once more: it is sealed then.
fn assert_shares_open_the_server(script: &'static str) {
    let mut installation = Installation::with_shares("").unwrap();
    let address = format!("http://{}", installation.address());
    let run = Client::new(script).with("GATEHOUSE_ADDRESS", address).run();
    assert!(run.succeeded, "{script}:\n{}", run.output);
    installation.server().terminate().unwrap();
    installation.run().unwrap();
    let health = installation.send("GET", "/v1/sys/health", None, None);
    assert_eq!(health.status, 503);
    assert_eq!(health.json()["initialized"], true);
}

#[test]
fn k2_the_bao_command_line_initializes_unseals_and_seals() {
    assert_shares_open_the_server("bao_seal.py");
}

#[test]
fn k2_hvac_initializes_unseals_and_seals() {
    assert_shares_open_the_server("hvac_seal.py");
}
