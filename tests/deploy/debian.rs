//! The Debian package: what its manifest puts where, against the unit that runs it.

use std::fs;
use std::process::Command;

use gatehouse_deploy_tests::{read, workspace};
use toml::{Table, Value};

use crate::page::files;
use crate::run;

const UNIT: &str = "deploy/systemd/gatehouse.service";

/// The manifest of the program.
fn manifest() -> Table {
    read("host/Cargo.toml").parse().unwrap()
}

/// The part of it that `cargo deb` reads.
fn package() -> Table {
    let deb = &manifest()["package"]["metadata"]["deb"];
    deb.as_table().unwrap().clone()
}

/// The files of the repository that the source of an asset, which lies beside the program's manifest, stands for.
fn sources(source: &str) -> Vec<String> {
    let path = source.strip_prefix("../").expect(source);
    let Some((folder, ending)) = path.split_once("/**/*") else {
        assert!(!path.contains('*'), "{source}");
        let is_there = workspace().join(path).is_file();
        return is_there.then(|| path.to_owned()).into_iter().collect();
    };
    let mut found = Vec::new();
    files(folder, &mut found);
    found.retain(|file| file.ends_with(ending));
    found
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
    let kept = package["conf-files"].as_array().unwrap();
    assert_eq!(
        kept.len(),
        1,
        "what an operator changes stays through upgrades"
    );
    assert_eq!(kept[0].as_str(), Some("/etc/gatehouse/gatehouse.toml"));
}

#[test]
fn everything_that_is_packed_is_there_or_built() {
    let manifest = manifest();
    let package = package();
    let program = manifest["package"]["default-run"].as_str().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some(program));
    assert!(workspace().join("host/src/main.rs").is_file());
    let mut built = 0;
    for (source, place) in assets(&package) {
        if source.starts_with("target/") {
            // cargo-deb reads this as the folder of the build, wherever that is.
            assert_eq!(source, format!("target/release/{program}"));
            built += 1;
        } else {
            assert!(!sources(&source).is_empty(), "{source}");
        }
        assert!(!place.contains("//") && place.starts_with('/'), "{place}");
    }
    assert_eq!(built, 1);
    assert_eq!(sources("../docs/**/*.none"), [""; 0]);
    let features = manifest["features"].as_table().unwrap();
    for feature in package["features"].as_array().unwrap() {
        assert!(
            features.contains_key(feature.as_str().unwrap()),
            "{feature}"
        );
    }
    let beside = |key: &Value| workspace().join("host").join(key.as_str().unwrap());
    assert!(beside(&package["license-file"][0]).is_file());
    let units = &package["systemd-units"];
    let unit = format!("{}.service", units["unit-name"].as_str().unwrap());
    assert!(beside(&units["unit-scripts"]).join(unit).is_file());
}

#[test]
fn the_scripts_of_the_package_can_be_read_by_a_shell_and_say_what_comes_next() {
    let package = package();
    let folder = package["maintainer-scripts"].as_str().unwrap();
    let mut scripts = 0;
    for script in fs::read_dir(workspace().join("host").join(folder)).unwrap() {
        let script = script.unwrap();
        let name = script.file_name().into_string().unwrap();
        let known = ["preinst", "postinst", "prerm", "postrm", "config"];
        assert!(known.contains(&name.as_str()), "dpkg runs no {name}");
        run(Command::new("sh").arg("-n").arg(script.path()));
        scripts += 1;
    }
    assert_eq!(scripts, 1);
    let postinst = workspace().join("deploy/deb/postinst");
    let said = run(Command::new("sh").arg(&postinst).args(["configure", ""]));
    assert!(
        said.contains("gatehouse operator seal-key /etc/gatehouse/seal.key"),
        "{said}"
    );
    // Undoing a failed upgrade is no occasion for it.
    let said = run(Command::new("sh")
        .arg(&postinst)
        .args(["abort-upgrade", "0.1.0"]));
    assert_eq!(said, "");
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
