//! Rules that files of the repository hold.

use std::fs;
use std::path::Path;
use std::process::Command;

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
fn c5_the_digests_of_a_release_are_those_of_every_file_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    for name in [
        "gatehouse",
        "gatehouse_0.1.0.deb",
        "files/portable/access.wasm",
        "files/SHA256SUMS",
        "bills/access cdx.json",
    ] {
        write(name, name);
    }
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(&folder).output();
        output.unwrap().status.success()
    };
    let checksums = workspace().join(".ci/checksums");
    let is_whole = || run("sha256sum".as_ref(), &["--check", "--strict", "SHA256SUMS"]);
    // Those of an earlier run count as no file of the release.
    for _ in 0..2 {
        assert!(run(&checksums, &["."]));
        let written = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
        let names: Vec<&str> = written.lines().filter_map(|line| line.get(66..)).collect();
        let all = [
            "bills/access cdx.json",
            "files/SHA256SUMS",
            "files/portable/access.wasm",
            "gatehouse",
            "gatehouse_0.1.0.deb",
        ];
        assert_eq!(names, all);
        assert!(is_whole());
    }
    write("files/portable/access.wasm", "changed");
    assert!(!is_whole());
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
        "sha256sum --check --strict",
        "cosign sign-blob",
        "cosign verify-blob",
        "attest-build-provenance",
    ] {
        assert!(release.contains(step), "{step}");
    }
}
