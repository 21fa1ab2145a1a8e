//! A component that imports interfaces that Spin does not offer does not start, and the refusal names everything that is missing. A component
//! with invalid variables starts, as every component does under Spin, but answers every request with an error.

use std::fs;
use std::process::Command;

use gatehouse_tests::{Host, Installation, ServerProcess, Storage};

/// Imports of a host's own, of another version, of an interface that is no part of a release, and some that are offered.
const DEMANDING: &str = r#"
    (component
        (import "gatehouse:host/audit@0.1.0" (instance))
        (import "wasi:clocks/timezone@0.2.6" (instance))
        (import "wasi:keyvalue/store@0.2.0-draft" (instance))
        (import "wasi:keyvalue/store@0.2.0-draft2" (instance))
        (import "wasi:clocks/system-clock@0.3.0" (instance)))
"#;

/// The host's refusal to serve a component.
fn refusal(host: Host) -> String {
    let mut installation =
        Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    installation.server().kill();
    let component = installation.folder().join("demanding.wasm");
    fs::write(&component, wat::parse_str(DEMANDING).unwrap()).unwrap();
    let program = host.program_with(&component);
    let output = Command::new(program.path)
        .args(program.arguments)
        .arg(installation.configuration())
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_import_that_spin_4_does_not_offer_is_named() {
    let refusal = refusal(Host::Spin4);
    for missing in [
        "gatehouse:host/audit@0.1.0",
        "wasi:clocks/timezone@0.2.6",
        "wasi:keyvalue/store@0.2.0-draft\n",
    ] {
        assert!(refusal.contains(missing), "{missing} in {refusal}");
    }
    for offered in ["draft2", "wasi:clocks/system-clock"] {
        assert!(!refusal.contains(offered), "{offered} in {refusal}");
    }
}

#[test]
fn spin_3_does_not_offer_wasi_0_3() {
    let refusal = refusal(Host::Spin3);
    assert!(
        refusal.contains("wasi:clocks/system-clock@0.3.0"),
        "{refusal}"
    );
}

fn assert_nothing_is_answered_without_sense(host: Host) {
    let mut installation =
        Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    installation.server().kill();
    let mut program = host.program();
    let nonsense = ["--variable", "edition=s3cret"].map(str::to_owned);
    program.arguments.splice(1..1, nonsense);
    let program = program.logging();
    let configuration = installation.configuration();
    let server = ServerProcess::start(
        &program,
        &configuration,
        installation.address(),
        installation.output().unwrap(),
    )
    .unwrap();
    // Each request is told so, whether its instance is new or not.
    for _ in 0..3 {
        let answer = server.send("GET", "/v1/sys/health", None, None);
        assert_eq!(answer.status, 500, "{answer:?}");
        assert_eq!(
            answer.error(),
            "the server is misconfigured; its log says how"
        );
    }
    let log = fs::read_to_string(configuration.with_extension("toml.log")).unwrap();
    let reason = r#"the variable "edition" must be empty: set the environment variable "GATEHOUSE_EDITION" instead"#;
    assert!(log.contains(reason), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
}

#[test]
fn a_variable_that_means_nothing_is_named_in_the_log() {
    assert_nothing_is_answered_without_sense(Host::Spin4);
}

#[test]
fn a_variable_that_means_nothing_is_named_in_the_log_of_spin_3() {
    assert_nothing_is_answered_without_sense(Host::Spin3);
}
