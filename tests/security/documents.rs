//! Rules that files of the repository hold.

use std::fs;

use gatehouse_tests::workspace;

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn k7_the_crate_whose_private_key_operations_leak_is_neither_locked_nor_excused() {
    assert!(!read("Cargo.lock").contains("\nname = \"rsa\"\n"));
    let deny = read("deny.toml");
    assert!(deny.contains("{ crate = \"rsa\""), "it is banned");
    let (_, advisories) = deny.split_once("[advisories]").expect("a section");
    let advisories = advisories.split("\n[").next().unwrap_or_default();
    assert!(!advisories.contains("RUSTSEC-2023-0071"));
}

#[test]
fn c5_reports_have_a_private_way_and_times_and_a_release_is_signed_and_verified() {
    let policy = read("SECURITY.md");
    assert!(policy.contains("private vulnerability reporting"));
    let (_, answers) = policy.split_once("## Answers").expect("a section");
    let (answers, _) = answers.split_once("\n## ").expect("a section after it");
    let times = answers.lines().filter(|line| line.ends_with("days |"));
    assert!(times.count() >= 3, "{answers}");
    let release = read("docs/contributing/release.md");
    for step in [
        ".ci/sbom",
        "sha256sum",
        "cosign sign-blob",
        "cosign verify-blob",
        "attest-build-provenance",
    ] {
        assert!(release.contains(step), "{step}");
    }
}
