//! The Debian package: what its manifest puts where, against the unit that runs it.

use gatehouse_deploy_tests::{read, workspace};
use toml::{Table, Value};

const UNIT: &str = "deploy/systemd/gatehouse.service";

/// The part of the program's manifest that `cargo deb` reads.
fn package() -> Table {
    let manifest: Table = read("host/Cargo.toml").parse().unwrap();
    let deb = &manifest["package"]["metadata"]["deb"];
    deb.as_table().unwrap().clone()
}

/// The files that are packed, each with its place.
fn assets(package: &Table) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let assets = package["assets"].as_array().unwrap().iter();
    assets
        .map(|asset| {
            let (source, place) = (text(&asset[0]), text(&asset[1]));
            let name = source.rsplit('/').next().unwrap().to_owned();
            match place.ends_with('/') {
                true => (source, format!("/{place}{name}")),
                false => (source, format!("/{place}")),
            }
        })
        .collect()
}

#[test]
fn the_package_puts_what_the_unit_names_where_it_looks_for_it() {
    let package = package();
    let assets = assets(&package);
    let unit = read(UNIT);
    for place in ["/usr/bin/gatehouse", "/etc/gatehouse/gatehouse.toml"] {
        assert!(unit.contains(place), "{place}");
        assert!(assets.iter().any(|(_, packed)| packed == place), "{place}");
    }
    let pages = "Documentation=file:///usr/share/doc/gatehouse/";
    assert!(unit.contains(pages), "the pages are packed there");
    for (source, _) in &assets {
        // The program is built, and pages are named by a pattern.
        if source.starts_with("target/") || source.contains('*') {
            continue;
        }
        assert!(workspace().join("host").join(source).is_file(), "{source}");
    }
    let kept = package["conf-files"].as_array().unwrap();
    assert_eq!(
        kept.len(),
        1,
        "what an operator changes stays through upgrades"
    );
    assert_eq!(kept[0].as_str(), Some("/etc/gatehouse/gatehouse.toml"));
}

#[test]
fn an_installation_starts_nothing_and_makes_the_user_of_the_unit() {
    let package = package();
    let units = package["systemd-units"].as_table().unwrap();
    for off in ["enable", "start"] {
        assert_eq!(units[off].as_bool(), Some(false), "{off}");
    }
    let script = read("deploy/deb/postinst");
    // cargo-deb has the user made that a file of this folder describes, by the name of its source: another name would not be found.
    let user = "/usr/lib/sysusers.d/gatehouse.sysusers.conf";
    let packed = assets(&package);
    assert!(packed.iter().any(|(_, place)| place == user), "{packed:?}");
    assert!(
        script.contains("#DEBHELPER#"),
        "user and unit are made known"
    );
}
