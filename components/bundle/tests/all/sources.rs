//! A component is made again after a change to any crate that it links.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use gatehouse_assembly::Unit;

/// The folders of the crates of this workspace that components link.
fn linked(compiled: &BTreeSet<&str>) -> BTreeSet<PathBuf> {
    let mut tree = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tree.args(["tree", "--locked", "--target", "wasm32-wasip2"])
        .args(["--all-features", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}"])
        .args(compiled.iter().flat_map(|package| ["--package", package]));
    let tree = tree.output().unwrap();
    let told = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{told}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    // A line is "name v0.1.0 (/folder)", for crates of the workspace alone.
    let folders = tree.lines().filter_map(|line| {
        let (_, folder) = line.split_once(" (/")?;
        Some(PathBuf::from(format!("/{}", folder.split_once(')')?.0)))
    });
    folders.collect()
}

#[test]
fn a_component_is_made_again_after_a_change_to_any_crate_that_it_links() {
    // Cargo keeps what the build script asked for beside the folder for its output.
    let asked = Path::new(env!("OUT_DIR")).with_file_name("output");
    let asked = std::fs::read_to_string(asked).unwrap();
    let compiled: BTreeSet<&str> = Unit::ALL.map(Unit::package).into();
    let linked = linked(&compiled);
    assert!(linked.len() > compiled.len(), "{linked:?}");
    for folder in linked {
        for part in ["src", "Cargo.toml"] {
            let watched = folder.join(part);
            let line = format!("cargo::rerun-if-changed={}", watched.display());
            assert!(asked.lines().any(|asked| asked == line), "{watched:?}");
        }
    }
}
