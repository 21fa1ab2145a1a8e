//! The manifests alone.

use std::collections::BTreeSet;

use super::schema::{Manifest, RuntimeConfiguration, manifest, text};

const MANIFESTS: [&str; 2] = ["spin.toml", "spin-3.toml"];

fn both() -> [Manifest; 2] {
    MANIFESTS.map(manifest)
}

fn is_snake_case(name: &str) -> bool {
    let word = |word: &str| {
        let mut characters = word.chars();
        let fits = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
        characters
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
            && characters.all(fits)
    };
    name.split('_').all(word)
}

#[test]
fn every_path_leads_to_the_one_component() {
    for manifest in both() {
        assert_eq!(manifest.spin_manifest_version, 2);
        assert_eq!(manifest.application.name, "gatehouse");
        assert_eq!(manifest.application.version, env!("CARGO_PKG_VERSION"));
        assert!(!manifest.application.description.is_empty());
        let [trigger] = &manifest.trigger.http[..] else {
            panic!("there is one route");
        };
        assert_eq!(trigger.route, "/...");
        assert!(manifest.component.contains_key(&trigger.component));
    }
}

#[test]
fn the_key_of_the_stores_is_a_secret_that_has_no_default() {
    for manifest in both() {
        let key = &manifest.variables["seal_key"];
        assert!(key.required && key.secret && key.default.is_none());
        assert_eq!(
            manifest.variables["edition"].default.as_deref(),
            Some("self-hosted")
        );
    }
}

#[test]
fn every_variable_is_given_to_the_component_under_its_own_name() {
    for manifest in both() {
        for (name, variable) in &manifest.variables {
            assert!(is_snake_case(name), "{name}");
            assert!(variable.required != variable.default.is_some(), "{name}");
        }
        let given = &manifest.only_component().variables;
        for (name, template) in given {
            assert_eq!(*template, format!("{{{{ {name} }}}}"));
        }
        assert!(given.keys().eq(manifest.variables.keys()));
    }
}

#[test]
fn the_variables_are_the_key_and_those_that_the_front_reads() {
    let described = text("wit/spin-trigger/world.wit");
    let lines = described
        .lines()
        .filter_map(|line| line.strip_prefix("/// - `"));
    let mut read: BTreeSet<&str> = lines
        .filter_map(|line| line.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    assert!(read.len() > 3, "{read:?}");
    read.insert("seal_key");
    for manifest in both() {
        assert!(manifest.variables.keys().eq(read.iter()));
    }
}

#[test]
fn each_capability_has_a_store_of_its_own_and_nothing_else_is_open() {
    let labels: BTreeSet<String> = ["access", "auth-method", "orgs"].map(str::to_owned).into();
    for manifest in both() {
        assert_eq!(manifest.only_component().key_value_stores, labels);
    }
    let runtime: RuntimeConfiguration = toml::from_str(&text("spin-runtime.toml")).unwrap();
    assert!(runtime.key_value_store.keys().eq(labels.iter()));
    // Spin keeps what has no path in memory.
    let paths: BTreeSet<_> = runtime
        .key_value_store
        .values()
        .map(|store| &store.path)
        .collect();
    assert_eq!(paths.len(), labels.len());
    assert!(
        runtime
            .key_value_store
            .values()
            .all(|store| store.kind == "spin")
    );
}

#[test]
fn n1_only_hosts_of_google_can_be_called_and_only_by_https() {
    for manifest in both() {
        let component = manifest.only_component();
        let services = [
            "www",
            "iam",
            "compute",
            "cloudresourcemanager",
            "oauth2",
            "sts",
            "iamcredentials",
        ];
        let hosts = services.map(|service| format!("https://{service}.googleapis.com"));
        assert_eq!(component.allowed_outbound_hosts, hosts);
        assert!(component.environment.is_empty());
    }
}

#[test]
fn both_are_built_by_the_example_that_writes_what_they_name() {
    for manifest in both() {
        let build = &manifest.only_component().build;
        assert_eq!(
            build.command,
            format!(
                "cargo run --locked --release --package {} --example write_for_spin -- target/components/spin",
                env!("CARGO_PKG_NAME")
            )
        );
        assert!(!build.watch.is_empty());
    }
}

#[test]
fn the_two_differ_in_what_they_load_alone() {
    let [four, three] = both();
    let (four, three) = (four.only_component(), three.only_component());
    assert!(three.dependencies.is_empty());
    assert!(!four.dependencies.is_empty());
    assert_eq!(four.variables, three.variables);
}

#[test]
fn what_spin_does_not_know_is_refused() {
    for (known, unknown) in [
        ("[application]\n", "[application]\nlicence = \"x\"\n"),
        ("key_value_stores =", "key_values ="),
        ("inherit_configuration =", "inherit ="),
    ] {
        let changed = text("spin.toml").replace(known, unknown);
        assert_ne!(changed, text("spin.toml"));
        assert!(toml::from_str::<Manifest>(&changed).is_err(), "{unknown}");
    }
}
