//! The Debian package: what its manifest puts where, against the unit that runs it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use gatehouse_deploy_tests::{found, read, workspace};
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

/// Everything that is packed, as the manifest says it: sources, and the places that they go to.
fn assets(package: &Table) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let assets = package["assets"].as_array().unwrap().iter();
    assets
        .map(|asset| (text(&asset[0]), text(&asset[1])))
        .collect()
}

/// True for sources that a build makes: the program, and the files that the program writes.
fn is_made(source: &str) -> bool {
    source.starts_with("target/") || source.starts_with("../target/")
}

/// The files of the repository that the source of an asset stands for, each with its path behind the place that they go to. Like cargo-deb,
/// which keeps folders from the first star on.
fn sources(source: &str) -> Vec<(String, String)> {
    let path = source.strip_prefix("../").expect(source);
    let Some((before, ending)) = path.split_once('*') else {
        let name = path.rsplit('/').next().unwrap().to_owned();
        let is_there = workspace().join(path).is_file();
        return is_there
            .then(|| (path.to_owned(), name))
            .into_iter()
            .collect();
    };
    let folder = before.strip_suffix('/').expect(source);
    let (ending, is_deep) = match ending.strip_prefix("*/*") {
        Some(ending) => (ending, true),
        None => (ending, false),
    };
    assert!(!ending.contains('*'), "{source}");
    let mut found = Vec::new();
    files(folder, &mut found);
    let behind = found.into_iter().filter_map(|file| {
        let behind = file.strip_prefix(before)?.to_owned();
        let fits = file.ends_with(ending) && (is_deep || !behind.contains('/'));
        fits.then_some((file, behind))
    });
    behind.collect()
}

/// Every file of the repository that is packed, by its place.
fn packed(package: &Table) -> BTreeMap<String, String> {
    let mut packed = BTreeMap::new();
    for (source, place) in assets(package) {
        if is_made(&source) {
            continue;
        }
        for (file, behind) in sources(&source) {
            let place = match place.ends_with('/') {
                true => format!("/{place}{behind}"),
                false => format!("/{place}"),
            };
            let twice = packed.insert(place, file);
            assert_eq!(twice, None, "{source}");
        }
    }
    packed
}

/// `path` without `.` and `..`.
fn normalized(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn the_package_puts_what_the_unit_names_where_it_looks_for_it() {
    let package = package();
    let packed = packed(&package);
    let unit = read(UNIT);
    assert!(
        unit.contains("ExecStart=/usr/bin/gatehouse server --config /etc/gatehouse/gatehouse.toml")
    );
    let program = ("target/release/gatehouse", "usr/bin/");
    let program = (program.0.to_owned(), program.1.to_owned());
    assert!(assets(&package).contains(&program));
    let configuration = &packed["/etc/gatehouse/gatehouse.toml"];
    assert_eq!(configuration, "deploy/systemd/gatehouse.toml");
    let pages = found(&unit, r"(?m)^Documentation=file://(.*)$");
    assert_eq!(pages.len(), 1);
    assert_eq!(packed[pages[0]], "docs/operate/deploy.md");
    // Upgrades keep the files that an operator changes, and nothing else below /etc is packed.
    let kept = package["conf-files"].as_array().unwrap();
    let kept: Vec<&str> = kept.iter().map(|file| file.as_str().unwrap()).collect();
    let below_etc = packed.keys().filter(|place| place.starts_with("/etc/"));
    assert_eq!(kept, below_etc.collect::<Vec<_>>());
}

#[test]
fn everything_that_is_packed_is_there_or_built() {
    let manifest = manifest();
    let package = package();
    let program = manifest["package"]["default-run"].as_str().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some(program));
    assert!(workspace().join("host/src/main.rs").is_file());
    let mut made = Vec::new();
    for (source, place) in assets(&package) {
        assert!(!place.contains("//") && !place.starts_with('/'), "{place}");
        match is_made(&source) {
            true => made.push(source),
            false => assert!(!sources(&source).is_empty(), "{source}"),
        }
    }
    // cargo-deb reads the first as the folder of the build, wherever that is.
    let program = format!("target/release/{program}");
    assert_eq!(made, [program.as_str(), "../target/man/*.1"]);
    assert_eq!(sources("../docs/**/*.none"), []);
    assert_eq!(sources("../docs/none.md"), []);
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
fn the_script_that_packs_builds_what_the_manifest_asks_for_and_has_the_manual_written() {
    let script = read(".ci/deb");
    let package = package();
    let features = package["features"].as_array().unwrap();
    let features: Vec<&str> = features.iter().map(|it| it.as_str().unwrap()).collect();
    let places = [
        format!(
            "cargo build --quiet --locked --release --package gatehouse --features {}\n",
            features.join(",")
        ),
        "rm -rf target/man\n".to_owned(),
        "\"${CARGO_TARGET_DIR:-target}/release/gatehouse\" man target/man\n".to_owned(),
        "cargo deb --locked --no-build --package gatehouse".to_owned(),
    ]
    .map(|line| script.find(&line).unwrap_or_else(|| panic!("{line}")));
    assert!(places.is_sorted());
    assert!(read(".ci/release").contains("\n.ci/deb \"$to\"\n"));
    run(Command::new("bash")
        .arg("-n")
        .arg(workspace().join(".ci/deb")));
    let manual = (
        "../target/man/*.1".to_owned(),
        "usr/share/man/man1/".to_owned(),
    );
    assert!(assets(&package).contains(&manual));
}

#[test]
fn links_of_the_packed_pages_lead_to_packed_pages() {
    // The packages of WIT and the tests belong to the sources.
    const OF_SOURCES: [&str; 2] = [
        "/usr/share/doc/gatehouse/wit",
        "/usr/share/doc/gatehouse/tests/",
    ];
    let packed = packed(&package());
    let mut followed = 0;
    for (place, page) in &packed {
        if !page.ends_with(".md") {
            continue;
        }
        let folder = place.rsplit_once('/').unwrap().0;
        let text = read(page);
        for link in found(&text, r"\]\(([^()\s#]+)[^()\s]*\)") {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let place = normalized(&format!("{folder}/{link}"));
            let is_packed = packed
                .keys()
                .any(|packed| *packed == place || packed.starts_with(&format!("{place}/")));
            let is_source = OF_SOURCES.iter().any(|sources| place.starts_with(sources));
            assert!(is_packed || is_source, "{page}: {link}");
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed}");
}

#[test]
fn what_the_packed_pages_tell_to_copy_on_a_machine_is_packed() {
    let packed = packed(&package());
    let files = |below: &str| {
        let mut paths = Vec::new();
        files(below, &mut paths);
        paths
    };
    let beside = ["deploy/haproxy", "deploy/prometheus", "deploy/grafana"];
    let mut wanted: Vec<String> = beside.into_iter().flat_map(files).collect();
    wanted.push("deploy/systemd/postgresql.conf".to_owned());
    for file in wanted {
        let place = format!("/usr/share/doc/gatehouse/{file}");
        assert_eq!(packed.get(&place), Some(&file));
    }
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
    // The output names the files that the unit reads, and the unit.
    let unit = read(UNIT);
    let credential = found(&unit, r"(?m)^LoadCredential=seal\.key:(.*)$");
    let name = package["systemd-units"]["unit-name"].as_str().unwrap();
    let kept = package["conf-files"][0].as_str().unwrap();
    for step in [
        format!("gatehouse operator seal-key {} ", credential[0]),
        format!("systemctl enable --now {name}\n"),
        format!("into {kept},"),
    ] {
        assert!(said.contains(&step), "{step}: {said}");
    }
    // The script prints no such steps when a failed upgrade is undone.
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
    assert_eq!(
        packed(&package)[user],
        "deploy/systemd/gatehouse.sysusers.conf"
    );
    assert!(
        script.contains("#DEBHELPER#"),
        "user and unit are made known"
    );
}
