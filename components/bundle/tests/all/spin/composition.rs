//! Composition for Spin, shown with components that hold hardly anything but their imports and exports.

use std::collections::BTreeMap;

use gatehouse_assembly::spin;

use super::faces::{exports, imports};

const KEY_VALUE: &str = "gatehouse:storage/key-value@0.1.0";
const CACHE: &str = "gatehouse:storage/cache@0.1.0";
const STORE: &str = "wasi:keyvalue/store@0.2.0-draft2";
const OUTGOING: &str = "wasi:http/outgoing-handler@0.2.12";

/// A component that imports and exports instances with these names, each with one function.
fn component(imports: &[&str], exports: &[&str]) -> Vec<u8> {
    let mut text = String::from("(component\n");
    for name in imports {
        text += &format!("(import \"{name}\" (instance (export \"call\" (func))))\n");
    }
    text += r#"(core module $m (func (export "call")))
        (core instance $i (instantiate $m))
        (func $call (canon lift (core func $i "call")))
        (instance $face (export "call" (func $call)))
    "#;
    for name in exports {
        text += &format!("(export \"{name}\" (instance $face))\n");
    }
    wat::parse_str(text + ")").unwrap()
}

fn dependencies(parts: &[(&str, Vec<u8>)]) -> BTreeMap<String, Vec<u8>> {
    parts
        .iter()
        .map(|(key, bytes)| ((*key).to_owned(), bytes.clone()))
        .collect()
}

#[test]
fn a_capability_keeps_its_records_through_its_adapter_and_exports_what_it_did() {
    let capability = component(
        &[KEY_VALUE, CACHE, OUTGOING],
        &["gatehouse:x/one@0.1.0", "gatehouse:x/two@0.1.0"],
    );
    let adapter = component(&[STORE], &[KEY_VALUE, CACHE]);
    let joined = spin::join(&capability, &adapter).unwrap();
    assert_eq!(imports(&joined), [OUTGOING, STORE]);
    assert_eq!(
        exports(&joined),
        ["gatehouse:x/one@0.1.0", "gatehouse:x/two@0.1.0"]
    );
}

#[test]
fn a_capability_without_a_cache_gets_none() {
    let capability = component(&[KEY_VALUE], &["gatehouse:x/one@0.1.0"]);
    let adapter = component(&[STORE], &[KEY_VALUE, CACHE]);
    let joined = spin::join(&capability, &adapter).unwrap();
    assert_eq!(imports(&joined), [STORE]);
    assert_eq!(exports(&joined), ["gatehouse:x/one@0.1.0"]);
}

#[test]
fn an_adapter_that_does_not_offer_what_is_asked_for_is_refused() {
    let capability = component(&[KEY_VALUE, CACHE], &["gatehouse:x/one@0.1.0"]);
    let adapter = component(&[STORE], &[KEY_VALUE]);
    let refused = spin::join(&capability, &adapter).unwrap_err().to_string();
    assert!(refused.contains(CACHE), "{refused}");
    let idle = component(&[], &["gatehouse:x/one@0.1.0"]);
    assert!(spin::join(&idle, &adapter).is_err());
}

#[test]
fn every_interface_of_a_package_comes_from_one_instance_and_equal_imports_become_one() {
    let front = component(
        &[
            "gatehouse:x/one@0.1.0",
            "gatehouse:x/two@0.1.0",
            "gatehouse:y/one@0.1.0",
            STORE,
        ],
        &["wasi:http/handler@0.3.0"],
    );
    let x = component(
        &[STORE],
        &["gatehouse:x/one@0.1.0", "gatehouse:x/two@0.1.0"],
    );
    let y = component(&[STORE], &["gatehouse:y/one@0.1.0"]);
    let dependencies = dependencies(&[("gatehouse:x", x), ("gatehouse:y", y)]);
    let whole = spin::compose(&front, &dependencies).unwrap();
    assert_eq!(imports(&whole), [STORE]);
    assert_eq!(exports(&whole), ["wasi:http/handler@0.3.0"]);
    // Of the same parts comes the same component.
    assert_eq!(spin::compose(&front, &dependencies).unwrap(), whole);
}

#[test]
fn what_no_dependency_serves_stays_an_import() {
    let front = component(
        &["gatehouse:x/one@0.1.0", "gatehouse:z/one@0.1.0"],
        &["wasi:http/handler@0.3.0"],
    );
    let x = component(&[], &["gatehouse:x/one@0.1.0"]);
    let whole = spin::compose(&front, &dependencies(&[("gatehouse:x", x)])).unwrap();
    assert_eq!(imports(&whole), ["gatehouse:z/one@0.1.0"]);
}

#[test]
fn keys_may_name_an_interface_and_a_version() {
    let front = component(&["gatehouse:x/one@0.1.0"], &["wasi:http/handler@0.3.0"]);
    let x = component(&[], &["gatehouse:x/one@0.1.0"]);
    for key in [
        "gatehouse:x",
        "gatehouse:x@0.1.0",
        "gatehouse:x/one",
        "gatehouse:x/one@0.1.0",
    ] {
        let whole = spin::compose(&front, &dependencies(&[(key, x.clone())])).unwrap();
        assert!(imports(&whole).is_empty(), "{key}");
    }
    for key in [
        "gatehouse:y",
        "gatehouse:x@0.2.0",
        "gatehouse:x/two",
        "gatehouse",
    ] {
        assert!(
            spin::compose(&front, &dependencies(&[(key, x.clone())])).is_err(),
            "{key}"
        );
    }
}

#[test]
fn two_dependencies_for_one_import_are_refused_and_so_is_one_that_does_not_serve() {
    let front = component(&["gatehouse:x/one@0.1.0"], &["wasi:http/handler@0.3.0"]);
    let x = component(&[], &["gatehouse:x/one@0.1.0"]);
    let both = dependencies(&[("gatehouse:x", x.clone()), ("gatehouse:x/one", x)]);
    assert!(spin::compose(&front, &both).is_err());
    let other = component(&[], &["gatehouse:x/one@0.2.0"]);
    assert!(spin::compose(&front, &dependencies(&[("gatehouse:x", other)])).is_err());
}

#[test]
fn the_capabilities_have_keys_of_their_own() {
    for (key, part) in spin::CAPABILITIES {
        assert_eq!(key, format!("gatehouse:{}", part.name()));
    }
}
