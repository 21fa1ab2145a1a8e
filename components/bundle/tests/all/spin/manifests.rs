//! The manifests alone.

use std::collections::BTreeSet;

use super::schema::{Manifest, RuntimeConfiguration, manifest, text};

const MANIFESTS: [&str; 5] = [
    "spin.toml",
    "spin-key-value.toml",
    "spin-3.toml",
    "spin-postgres.toml",
    "spin-3-postgres.toml",
];

fn each() -> [Manifest; 5] {
    MANIFESTS.map(manifest)
}

/// The variables of `manifest` beyond those of the others: of a database elsewhere, which has an address.
fn of_database(manifest: &Manifest) -> BTreeSet<&str> {
    let names = manifest.variables.keys().map(String::as_str);
    names.filter(|name| name.starts_with("postgres_")).collect()
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
    for manifest in each() {
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
    for manifest in each() {
        let key = &manifest.variables["seal_key"];
        assert!(key.required && key.secret && key.default.is_none());
    }
}

/// The front refuses a variable `edition` that is set, so a default would have it refuse every request.
#[test]
fn the_variable_that_the_edition_has_left_is_empty() {
    for manifest in each() {
        assert_eq!(manifest.variables["edition"].default.as_deref(), Some(""));
    }
}

#[test]
fn every_variable_is_given_to_the_component_under_its_own_name() {
    for manifest in each() {
        for (name, variable) in &manifest.variables {
            assert!(is_snake_case(name), "{name}");
            assert!(variable.required != variable.default.is_some(), "{name}");
        }
        let given = &manifest.only_component().variables;
        for (name, template) in given {
            assert_eq!(*template, format!("{{{{ {name} }}}}"));
        }
        // The host of the database is for the list of hosts that may be called.
        let named = manifest.variables.keys();
        assert!(
            given
                .keys()
                .eq(named.filter(|name| *name != "postgres_host"))
        );
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
    for manifest in each() {
        let of_database = of_database(&manifest);
        let others = manifest.variables.keys().map(String::as_str);
        assert!(
            others
                .filter(|name| !of_database.contains(name))
                .eq(read.iter().copied())
        );
    }
    let [.., postgres, three_postgres] = each();
    for manifest in [postgres, three_postgres] {
        let expected = ["postgres_host", "postgres_url"].into();
        assert_eq!(of_database(&manifest), expected);
        let address = &manifest.variables["postgres_url"];
        assert!(address.required && address.secret, "it holds a password");
    }
}

#[test]
fn each_capability_has_a_store_of_its_own_and_nothing_else_is_open() {
    let labels: BTreeSet<String> = ["access", "auth-method", "orgs"].map(str::to_owned).into();
    let [four, key_value, three, postgres, three_postgres] = each();
    let sets = |manifest: &Manifest| {
        let component = manifest.only_component();
        (
            component.sqlite_databases.clone(),
            component.key_value_stores.clone(),
        )
    };
    assert_eq!(sets(&four), (labels.clone(), BTreeSet::new()));
    for manifest in [key_value, three] {
        assert_eq!(sets(&manifest), (BTreeSet::new(), labels.clone()));
    }
    for manifest in [postgres, three_postgres] {
        assert_eq!(sets(&manifest), (BTreeSet::new(), BTreeSet::new()));
    }
    let runtime: RuntimeConfiguration = toml::from_str(&text("spin-runtime.toml")).unwrap();
    assert!(runtime.key_value_store.keys().eq(labels.iter()));
    assert!(runtime.sqlite_database.keys().eq(labels.iter()));
    // Spin keeps what has no path in memory.
    let files = || {
        let key_value = runtime.key_value_store.values();
        key_value.chain(runtime.sqlite_database.values())
    };
    let paths: BTreeSet<_> = files().map(|file| &file.path).collect();
    assert_eq!(paths.len(), 2 * labels.len());
    assert!(files().all(|file| file.kind == "spin"));
}

#[test]
fn n1_only_hosts_of_google_can_be_called_and_only_by_https() {
    for manifest in each() {
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
        let (of_google, others): (Vec<&String>, Vec<&String>) = component
            .allowed_outbound_hosts
            .iter()
            .partition(|host| host.starts_with("https://"));
        assert!(of_google.into_iter().eq(hosts.iter()));
        let database = "postgres://{{ postgres_host }}";
        match of_database(&manifest).is_empty() {
            true => assert_eq!(others, [""; 0]),
            false => assert_eq!(others, [database]),
        }
        assert!(component.environment.is_empty());
    }
}

#[test]
fn all_are_built_by_the_example_that_writes_what_they_name() {
    for manifest in each() {
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
fn they_differ_in_what_they_load_and_keep_alone() {
    let manifests = each();
    let components = manifests.each_ref().map(Manifest::only_component);
    let [four, key_value, three, postgres, three_postgres] = components;
    for joined in [three, three_postgres] {
        assert!(joined.dependencies.is_empty());
    }
    for other in [key_value, postgres] {
        assert!(four.dependencies.keys().eq(other.dependencies.keys()));
    }
    for (one, other) in [(four, key_value), (four, three), (postgres, three_postgres)] {
        assert_eq!(one.variables, other.variables);
        assert_eq!(one.allowed_outbound_hosts, other.allowed_outbound_hosts);
    }
}

#[test]
fn what_spin_does_not_know_is_refused() {
    for (known, unknown) in [
        ("[application]\n", "[application]\nlicence = \"x\"\n"),
        ("sqlite_databases =", "databases ="),
        ("inherit_configuration =", "inherit ="),
    ] {
        let changed = text("spin.toml").replace(known, unknown);
        assert_ne!(changed, text("spin.toml"));
        assert!(toml::from_str::<Manifest>(&changed).is_err(), "{unknown}");
    }
}
