//! A component that asks for what Spin does not offer does not start, and everything that is missing is named.

use std::fs;
use std::process::Command;

use gatehouse_tests::{Host, Installation, Storage};

/// Where there are imports of a host's own, of another version, and one that is offered.
const DEMANDING: &str = r#"
    (component
        (import "gatehouse:host/audit@0.1.0" (instance))
        (import "wasi:keyvalue/store@0.2.0-draft" (instance))
        (import "wasi:keyvalue/store@0.2.0-draft2" (instance))
        (import "wasi:clocks/system-clock@0.3.0" (instance)))
"#;

/// What the host says of a component instead of serving it.
fn refusal(host: Host) -> String {
    let mut installation =
        Installation::start_program(host.program(), Storage::Memory, "").unwrap();
    installation.server().kill();
    let component = installation.folder().join("demanding.wasm");
    fs::write(&component, wat::parse_str(DEMANDING).unwrap()).unwrap();
    let program = host.program();
    let output = Command::new(program.path)
        .args(program.arguments)
        .arg(installation.configuration())
        .arg("--component")
        .arg(component)
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
        "wasi:keyvalue/store@0.2.0-draft\n",
    ] {
        assert!(refusal.contains(missing), "{missing} in {refusal}");
    }
    for offered in ["draft2", "wasi:clocks"] {
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
