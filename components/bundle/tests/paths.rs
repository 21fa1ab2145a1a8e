//! Which folders of the building machine the compiler is told to call otherwise.

#[path = "../build/paths.rs"]
mod paths;

use std::path::Path;

fn rules() -> Vec<String> {
    paths::remapped(Path::new("/checkout"), Path::new("/built"))
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
