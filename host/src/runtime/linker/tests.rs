//! Imports that are met, and imports that are missing.

use std::sync::Arc;

use gatehouse_ports::SystemClock;
use gatehouse_store::{MemoryBackend, Namespace, PrivateStore};

use super::*;
use crate::runtime::services::{self, Services};
use crate::runtime::storage;
use gatehouse_engine::{EngineSettings, engine};

fn small_engine() -> Engine {
    engine(EngineSettings {
        instances: 1,
        memory_limit: 1 << 20,
    })
    .unwrap()
}

/// A component that imports empty instances of these names and does nothing.
fn component(engine: &Engine, imports: &[&str]) -> Component {
    let imports: String = imports
        .iter()
        .map(|name| format!("(import \"{name}\" (instance))"))
        .collect();
    let bytes = wat::parse_str(format!("(component {imports})")).unwrap();
    Component::new(engine, bytes).unwrap()
}

/// The remedy for each import, as a host without any store gives it.
fn missing(imports: &[&str]) -> Vec<MissingImport> {
    let engine = small_engine();
    let component = component(&engine, imports);
    match ensure_imports_are_met(&linker(&engine).unwrap(), &component) {
        Ok(()) => Vec::new(),
        Err(MissingImports(missing)) => missing,
    }
}

#[test]
fn every_interface_that_is_said_to_be_there_is_there() {
    let engine = small_engine();
    let mut linker = linker(&engine).unwrap();
    for interface in WASI {
        let name = format!("{interface}@0.2.12");
        assert!(is_taken(&mut linker, &name), "{name}");
    }
}

#[test]
fn a_component_whose_imports_are_there_is_met() {
    assert_eq!(
        missing(&["wasi:http/types@0.2.0", "wasi:io/streams@0.2.12"]),
        []
    );
    let engine = small_engine();
    let names = [
        storage::INTERFACE,
        "gatehouse:host/seal@0.1.0",
        "gatehouse:network/addresses@0.1.0",
        "wasi:random/random@0.2.3",
    ];
    let mut linker = linker(&engine).unwrap();
    let backend = Arc::new(MemoryBackend::new(Arc::new(SystemClock)));
    let store = PrivateStore::new(backend, Namespace::Orgs);
    storage::bind(&mut linker, storage::INTERFACE, store).unwrap();
    services::bind(&mut linker, &Services::default()).unwrap();
    assert_eq!(
        ensure_imports_are_met(&linker, &component(&engine, &names)),
        Ok(())
    );
}

#[test]
fn each_missing_import_is_named_with_what_would_provide_it() {
    let expected = [
        (
            "gatehouse:storage/key-value@0.1.0",
            "runtime::storage::bind",
        ),
        ("gatehouse:storage/cache@0.1.0", "runtime::cache::bind"),
        ("gatehouse:storage/key-value@0.2.0", "one release"),
        (
            "gatehouse:auth-method/login@0.1.0",
            "the component auth-method exports it",
        ),
        (
            "gatehouse:access/tokens@0.1.0",
            "the component access exports it",
        ),
        (
            "gatehouse:orgs/teams@0.1.0",
            "the component orgs exports it",
        ),
        (
            "gatehouse:gateway/exchange@0.1.0",
            "the component gateway exports it",
        ),
        ("gatehouse:host/audit@0.1.0", "runtime::services::bind"),
        ("gatehouse:elsewhere/thing@0.1.0", "one release"),
        ("wasi:keyvalue/store@0.2.0-draft2", "such as Spin"),
        ("wasi:keyvalue/atomics@0.2.0-draft2", "0.2.0-draft2 store"),
        (
            "wasi:config/store@0.2.0-draft-2024-09-27",
            "wasi:config 0.2.0-draft-2024-09-27",
        ),
        ("spin:key-value/key-value@3.0.0", "only Spin"),
        ("fermyon:spin/key-value@2.0.0", "only Spin"),
        ("wasi:http/client@0.3.0", "this host serves WASI 0.2"),
        ("wasi:http/types@0.3.0", "this host serves WASI 0.2"),
        (
            "wasi:http/proxy-of-tomorrow@0.2.99",
            "this host serves WASI 0.2",
        ),
        (
            "wasi:cli/environment@0.2.0-rc-2023-12-05",
            "this host serves WASI 0.2",
        ),
        (
            "wasi:http/incoming-handler@0.2.12",
            "a component that answers requests exports it",
        ),
        ("wasi:blobstore/container@0.2.0", "no part of WASI 0.2"),
        ("example:company/ledger@1.0.0", "one that exports it"),
    ];
    let names = expected.map(|(name, _)| name);
    let missing = missing(&names);
    assert_eq!(missing.len(), expected.len(), "{missing:?}");
    for (import, (name, remedy)) in missing.iter().zip(expected) {
        assert_eq!(import.name, name);
        assert!(import.remedy.contains(remedy), "{import:?}");
    }
    let report = MissingImports(missing).to_string();
    assert_eq!(report.lines().count(), 1 + expected.len(), "{report}");
}

#[test]
fn an_import_under_a_name_of_its_own_is_judged_by_its_interface() {
    let import = MissingImport::new("access-storage", Some(storage::INTERFACE));
    assert_eq!(import.name, "access-storage");
    assert!(import.remedy.contains("storage::bind"), "{import:?}");
}
