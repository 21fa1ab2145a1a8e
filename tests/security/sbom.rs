//! The bills of materials that `.ci/sbom` writes, against `Cargo.lock` and what Cargo says that each artifact links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use gatehouse_tests::workspace;

/// Artifacts with the arguments by which Cargo lists what they link, one for each build that is made of them.
const ARTIFACTS: [(&str, &str); 11] = [
    ("gatehouse", ""),
    ("gatehouse-access", COMPONENT),
    ("gatehouse-auth-method", COMPONENT),
    ("gatehouse-console", COMPONENT),
    ("gatehouse-gateway", COMPONENT),
    ("gatehouse-orgs", COMPONENT),
    ("gatehouse-spin-trigger", FRONT),
    ("gatehouse-spin-trigger", FRONT_P2),
    ("gatehouse-storage-adapter", COMPONENT),
    ("gatehouse-storage-adapter", OVER_SQLITE),
    ("gatehouse-storage-adapter", OVER_POSTGRES),
];
const COMPONENT: &str = "--target wasm32-wasip2 --features component";
const FRONT: &str = "--target wasm32-wasip2 --no-default-features --features wasi-0-3";
const FRONT_P2: &str = "--target wasm32-wasip2 --no-default-features --features wasi-0-2";
const OVER_SQLITE: &str = "--target wasm32-wasip2 --features component,over-sqlite";
const OVER_POSTGRES: &str = "--target wasm32-wasip2 --features component,over-postgres";
/// Crates that only tests link.
const OF_TESTS: [&str; 4] = [
    "gatehouse-tests",
    "gatehouse-histories",
    "proptest",
    "vaultrs",
];

type Package = (String, String);

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(workspace())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("programs write UTF-8")
}

/// The crates that `package` links, with versions.
fn linked(package: &str, arguments: &str) -> BTreeSet<Package> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let plain = ["tree", "--locked", "--edges", "normal", "--prefix", "none"];
    let plain = plain.into_iter().chain(["--package", package]);
    let all: Vec<&str> = plain.chain(arguments.split_ascii_whitespace()).collect();
    let tree = output(&cargo, &all);
    let packages = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some((name.to_owned(), version.trim_start_matches('v').to_owned()))
    });
    packages.collect()
}

/// The checksums of `Cargo.lock`; packages of this repository have none.
fn locked() -> BTreeMap<Package, Option<String>> {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).expect("Cargo.lock is there");
    let packages = lock.split("[[package]]").skip(1).map(|package| {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.strip_prefix(" = ")?.trim_matches('"').to_owned())
        };
        let named = |name| field(name).expect("every package has a name and a version");
        ((named("name"), named("version")), field("checksum"))
    });
    packages.collect()
}

/// Writes the bills into a new folder and gives them by file name.
fn bills(folder: &str) -> BTreeMap<String, String> {
    let folder = std::env::temp_dir().join(format!("gatehouse-{folder}-{}", std::process::id()));
    let script = workspace().join(".ci/sbom");
    let path = |path: &Path| path.to_string_lossy().into_owned();
    output("python3", &[&path(&script), &path(&folder)]);
    let files = fs::read_dir(&folder).expect("the bills are there");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry can be read");
        let text = fs::read_to_string(entry.path()).expect("a bill is text");
        (entry.file_name().to_string_lossy().into_owned(), text)
    };
    let bills = files.map(read).collect();
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    bills
}

/// The part of a bill that describes a package.
fn described<'a>(bill: &'a str, (name, version): &Package) -> Option<&'a str> {
    let version = version.replace('+', "%2B");
    let reference = format!("\"bom-ref\": \"pkg:cargo/{name}@{version}\"");
    let (_, after) = bill.split_once(&reference)?;
    after.split("\"bom-ref\"").next()
}

#[test]
fn c3_a_bill_of_materials_names_all_that_its_artifact_links_with_the_locked_checksum() {
    let (bills, locked) = (bills("sbom"), locked());
    for (artifact, arguments) in ARTIFACTS {
        let bill = &bills[&format!("{artifact}.cdx.json")];
        for package in linked(artifact, arguments) {
            let found = described(bill, &package)
                .unwrap_or_else(|| panic!("the bill of {artifact} lacks {package:?}"));
            for field in ["\"purl\": ", "\"licenses\": "] {
                assert!(found.contains(field), "{artifact}: {package:?}: {found}");
            }
            if let Some(checksum) = &locked[&package] {
                let content = format!("\"content\": \"{checksum}\"");
                assert!(found.contains(&content), "{artifact}: {package:?}: {found}");
            }
        }
        for test in OF_TESTS {
            assert!(
                !bill.contains(&format!("pkg:cargo/{test}@")),
                "{artifact}: {test}"
            );
        }
    }
    // The components that the server holds built are in its bill as well.
    let of_server = &bills["gatehouse.cdx.json"];
    for (artifact, arguments) in ARTIFACTS {
        for package in linked(artifact, arguments) {
            assert!(described(of_server, &package).is_some(), "{package:?}");
        }
    }
}

#[test]
fn c3_the_same_state_gives_the_same_bytes() {
    let first = bills("sbom-first");
    let names: BTreeSet<&str> = ARTIFACTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(first.len(), names.len());
    assert!(first == bills("sbom-second"));
}
