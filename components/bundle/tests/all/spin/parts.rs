//! The built components against the manifests and against Spin.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_assembly::spin::{
    CAPABILITIES, KEY_VALUE_CAPABILITIES, POSTGRES_CAPABILITIES, compose,
};
use gatehouse_components::spin::{Part, bytes};

use super::faces::{exports, functions, imports};
use super::offered::{self, Offer, covers};
use super::schema::manifest;

/// Where the bundle leaves its files, as the manifests name it.
const FOLDER: &str = "target/components/spin/";

/// The part that a manifest names by the path of its file.
fn part_at(path: &str) -> Part {
    Part::ALL
        .into_iter()
        .find(|part| format!("{FOLDER}{}.wasm", part.name()) == path)
        .unwrap_or_else(|| panic!("the bundle writes no {path}"))
}

/// The imports that remain when everything that is offered is taken away.
fn unmet(part: Part, offers: &[Offer]) -> Vec<String> {
    let mut imports = imports(bytes(part).unwrap());
    imports.retain(|import| !covers(offers, import));
    imports
}

/// The sets of its parent's configuration that a dependency makes use of.
fn needed(dependency: &[u8]) -> BTreeSet<String> {
    let imports = imports(dependency);
    let has = |beginning: &str| imports.iter().any(|import| import.starts_with(beginning));
    // The standard library imports the environment for every component; a component that reads a variable holds its name.
    let reads_environment = dependency
        .windows(b"GATEHOUSE_".len())
        .any(|window| window == b"GATEHOUSE_");
    let sets = [
        (
            "allowed_outbound_hosts",
            has("wasi:http/outgoing-handler@")
                || has("wasi:http/client@")
                || has("wasi:sockets/")
                || has("spin:postgres/"),
        ),
        ("environment", reads_environment),
        ("files", has("wasi:filesystem/preopens@")),
        ("key_value_stores", has("wasi:keyvalue/store@")),
        ("sqlite_databases", has("spin:sqlite/")),
        ("variables", has("wasi:config/store@")),
    ];
    let needed = sets.iter().filter(|(_, needed)| *needed);
    needed.map(|(set, _)| (*set).to_owned()).collect()
}

#[test]
fn spin_4_1_offers_everything_that_is_imported() {
    let offers = offered::by_spin_4_1();
    for part in [
        Part::Whole,
        Part::KeyValueWhole,
        Part::PostgresWhole,
        Part::Access,
        Part::AuthMethod,
        Part::Orgs,
    ] {
        assert_eq!(unmet(part, &offers), <[String; 0]>::default(), "{part:?}");
    }
    // Beside what Spin offers, the front wants the capabilities.
    for import in unmet(Part::Front, &offers) {
        let keys = CAPABILITIES.map(|(key, _)| key);
        assert!(
            keys.iter()
                .any(|key| import.starts_with(&format!("{key}/"))),
            "{import}"
        );
    }
}

#[test]
fn spin_3_6_offers_everything_that_is_imported() {
    let offers = offered::by_spin_3_6();
    for part in [Part::WholeP2, Part::PostgresWholeP2] {
        assert_eq!(unmet(part, &offers), <[String; 0]>::default(), "{part:?}");
    }
}

#[test]
fn each_whole_exports_the_one_handler_that_its_spin_calls() {
    assert_eq!(
        exports(bytes(Part::Front).unwrap()),
        ["wasi:http/handler@0.3.0"]
    );
    for part in [Part::Whole, Part::KeyValueWhole, Part::PostgresWhole] {
        assert_eq!(exports(bytes(part).unwrap()), ["wasi:http/handler@0.3.0"]);
    }
    for part in [Part::FrontP2, Part::WholeP2, Part::PostgresWholeP2] {
        let exports = exports(bytes(part).unwrap());
        assert_eq!(exports.len(), 1, "{exports:?}");
        assert!(
            exports[0].starts_with("wasi:http/incoming-handler@0.2."),
            "{exports:?}"
        );
    }
}

#[test]
fn no_front_has_services_that_spin_does_not_offer() {
    for part in [Part::Front, Part::FrontP2] {
        let imports = imports(bytes(part).unwrap());
        assert!(
            !imports
                .iter()
                .any(|import| import.starts_with("gatehouse:host/")),
            "{imports:?}"
        );
    }
}

#[test]
fn a_capability_exports_the_same_with_its_adapter_as_without() {
    for (joined, alone) in [
        (Part::Access, gatehouse_components::Part::Access),
        (Part::AuthMethod, gatehouse_components::Part::AuthMethod),
        (Part::Orgs, gatehouse_components::Part::Orgs),
        (Part::KeyValueOrgs, gatehouse_components::Part::Orgs),
        (Part::PostgresOrgs, gatehouse_components::Part::Orgs),
    ] {
        let alone =
            gatehouse_components::bytes(alone, gatehouse_components::Flavour::Portable).unwrap();
        assert_eq!(
            exports(bytes(joined).unwrap()),
            exports(alone),
            "{joined:?}"
        );
        let imports = imports(bytes(joined).unwrap());
        assert!(
            !imports
                .iter()
                .any(|import| import.starts_with("gatehouse:")),
            "{imports:?}"
        );
    }
}

#[test]
fn only_the_auth_method_can_call_out() {
    for part in [Part::Access, Part::Orgs] {
        assert!(
            !needed(bytes(part).unwrap()).contains("allowed_outbound_hosts"),
            "{part:?}"
        );
    }
    assert!(needed(bytes(Part::AuthMethod).unwrap()).contains("allowed_outbound_hosts"));
    // A capability over a database elsewhere may reach that, and has no interface to send requests by.
    for part in [Part::PostgresAccess, Part::PostgresOrgs] {
        let imports = imports(bytes(part).unwrap());
        assert!(
            !imports
                .iter()
                .any(|it| it.starts_with("wasi:http/") || it.starts_with("wasi:sockets/")),
            "{imports:?}"
        );
    }
}

#[test]
fn nothing_lists_keys_or_reads_many_at_once() {
    for part in Part::ALL {
        for (interface, functions) in functions(bytes(part).unwrap()) {
            if !interface.starts_with("wasi:keyvalue/") {
                continue;
            }
            for function in functions {
                assert!(
                    !function.ends_with("list-keys") && function != "get-many",
                    "{part:?} uses {interface} {function}"
                );
            }
        }
    }
}

/// A manifest, the dependencies that it names by their keys, and what comes of them.
type Composed = (&'static str, [(&'static str, Part); 3], Part);

/// The manifests whose dependencies Spin composes.
const COMPOSED: [Composed; 3] = [
    ("spin.toml", CAPABILITIES, Part::Whole),
    (
        "spin-key-value.toml",
        KEY_VALUE_CAPABILITIES,
        Part::KeyValueWhole,
    ),
    (
        "spin-postgres.toml",
        POSTGRES_CAPABILITIES,
        Part::PostgresWhole,
    ),
];

/// The manifests for Spin 3, with the one for Spin 4 that has the same dependencies, and the part that joins them.
const JOINED: [(&str, &str, Part); 2] = [
    ("spin-3.toml", "spin-key-value.toml", Part::WholeP2),
    (
        "spin-3-postgres.toml",
        "spin-postgres.toml",
        Part::PostgresWholeP2,
    ),
];

#[test]
fn the_manifests_name_files_that_the_bundle_writes() {
    for (name, capabilities, _) in COMPOSED {
        let manifest = manifest(name);
        let component = manifest.only_component();
        assert_eq!(part_at(&component.source), Part::Front);
        for (key, part) in capabilities {
            assert_eq!(part_at(&component.dependencies[key].path), part);
        }
        assert_eq!(component.dependencies.len(), capabilities.len());
    }
    for (name, _, part) in JOINED {
        assert_eq!(part_at(&manifest(name).only_component().source), part);
    }
}

#[test]
fn each_dependency_inherits_what_it_needs_and_no_more() {
    for (name, _, _) in COMPOSED {
        for (key, dependency) in &manifest(name).only_component().dependencies {
            let needed = needed(bytes(part_at(&dependency.path)).unwrap());
            assert_eq!(dependency.inherit_configuration, needed, "{key}");
        }
    }
}

/// The components that a manifest names as dependencies, by their keys.
fn dependencies(name: &str) -> BTreeMap<String, Vec<u8>> {
    let manifest = manifest(name);
    let dependencies = &manifest.only_component().dependencies;
    let of = |path: &str| bytes(part_at(path)).unwrap().to_vec();
    dependencies
        .iter()
        .map(|(key, dependency)| (key.clone(), of(&dependency.path)))
        .collect()
}

#[test]
fn what_spin_composes_by_a_manifest_is_what_the_bundle_has_composed() {
    for (name, _, part) in COMPOSED {
        let manifest = manifest(name);
        let front = bytes(part_at(&manifest.only_component().source)).unwrap();
        let whole = compose(front, &dependencies(name)).unwrap();
        assert!(whole == bytes(part).unwrap(), "{name}");
    }
    let front = bytes(Part::FrontP2).unwrap();
    for (name, composed, part) in JOINED {
        let whole = compose(front, &dependencies(composed)).unwrap();
        assert!(whole == bytes(part).unwrap(), "{name}");
    }
}
