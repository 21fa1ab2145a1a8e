//! Keeps the building machine out of what is built.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler flags by which the names of files in panic messages, and with them the bytes of a component, are the same wherever it is
/// built. Where two rules fit, the compiler takes the later one.
pub(crate) fn remapped(workspace: &Path, target_folders: &[PathBuf]) -> Vec<String> {
    let mut rules = Vec::new();
    if let Some(home) = cargo_home() {
        rules.extend(registries(&home).map(|registry| (registry, "cargo/registry".to_owned())));
    }
    rules.extend(standard_library());
    rules.push((workspace.to_owned(), ".".to_owned()));
    // Build scripts leave sources here, which are compiled like others.
    let target_folders = target_folders.iter().cloned();
    rules.extend(target_folders.map(|folder| (folder, "target".to_owned())));
    rules
        .into_iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect()
}

/// Where cargo keeps the sources of dependencies. The launcher of rustup says it; a cargo without that does not.
fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

/// The folders with what came from one registry each: they are called after where it was reached, which can be a mirror.
fn registries(cargo_home: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = cargo_home.join("registry/src").read_dir();
    let mut folders: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    // Cargo compiles everything again where the same rules come in another order.
    folders.sort();
    folders.into_iter()
}

/// Where the sources of the standard library are, where they are installed, and what the compiler calls that place where they are not.
fn standard_library() -> Option<(PathBuf, String)> {
    let sysroot = rustc(&["--print", "sysroot"])?;
    let version = rustc(&["--version", "--verbose"])?;
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    Some((sources, format!("/rustc/{commit}")))
}

fn rustc(arguments: &[&str]) -> Option<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc).args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<String> {
        remapped(Path::new("/checkout"), &["/built".into()])
    }

    #[test]
    fn the_workspace_and_what_build_scripts_leave_lose_their_places() {
        let rules = rules();
        assert!(rules.contains(&"--remap-path-prefix=/checkout=.".to_owned()));
        let last = rules.last().map(String::as_str);
        assert_eq!(last, Some("--remap-path-prefix=/built=target"));
    }

    #[test]
    fn the_standard_library_is_called_as_where_its_sources_are_not_installed() {
        let rules = rules();
        let rule = rules.iter().find(|rule| rule.contains("rustlib"));
        let rule = rule.map(String::as_str).unwrap_or_default();
        assert!(rule.contains("lib/rustlib/src/rust=/rustc/"), "{rules:?}");
    }

    #[test]
    fn the_same_machine_gives_the_same_rules_in_the_same_order() {
        assert_eq!(rules(), rules());
    }

    /// The crates that this test is built from were unpacked there.
    #[test]
    fn no_registry_is_called_after_where_it_was_reached() {
        let to_registry = rules().into_iter();
        let count = to_registry.filter(|rule| rule.ends_with("=cargo/registry"));
        assert!(count.count() > 0);
    }
}
