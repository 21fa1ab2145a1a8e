//! The unit, its drop-in for a database, and the configuration that belongs to it.

use std::fs;
use std::path::Path;
use std::process::Command;

use gatehouse_deploy_tests::{
    configuration, default_limit, default_seconds, found, read, settings, workspace,
};
use tempfile::TempDir;

use crate::{outcome, run};

const UNIT: &str = "deploy/systemd/gatehouse.service";
const DROP_IN: &str = "deploy/systemd/postgresql.conf";
const CONFIGURATION: &str = "deploy/systemd/gatehouse.toml";

/// The values that are given to a key of a unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    found(unit, &format!("(?m)^{key}=(.*)$"))
}

/// The only value of a key.
fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let values = values(unit, key);
    assert_eq!(values.len(), 1, "{key}");
    values[0]
}

/// A folder with the unit and its drop-in, as they would be installed, for a program that is there.
fn installed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let unit = read(UNIT).replace("/usr/bin/gatehouse", "/bin/true");
    fs::write(folder.path().join("gatehouse.service"), unit).unwrap();
    let beside = folder.path().join("gatehouse.service.d");
    fs::create_dir(&beside).unwrap();
    fs::copy(workspace().join(DROP_IN), beside.join("postgresql.conf")).unwrap();
    folder
}

fn analyze(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("systemd-analyze");
    // The folders of the system come after it.
    command.env("SYSTEMD_UNIT_PATH", format!("{}:", folder.display()));
    command.args(arguments).current_dir(folder);
    command
}

#[test]
#[cfg_attr(
    not(with_systemd),
    ignore = "systemd-analyze is missing (apt install systemd)"
)]
fn systemd_finds_no_fault_in_the_unit_and_its_drop_in() {
    let folder = installed();
    let verify = ["verify", "./gatehouse.service"];
    let said = run(&mut analyze(folder.path(), &verify));
    let about_ours = |line: &&str| line.contains("gatehouse");
    assert_eq!(said.lines().find(about_ours), None, "{said}");

    // Both files were read.
    for file in ["gatehouse.service", "gatehouse.service.d/postgresql.conf"] {
        let path = folder.path().join(file);
        let kept = fs::read_to_string(&path).unwrap();
        fs::write(&path, kept.replace("[Service]", "[Service]\nNonsense=yes")).unwrap();
        let (_, said) = outcome(&mut analyze(folder.path(), &verify));
        assert!(said.contains("Nonsense"), "{file}: {said}");
        fs::write(&path, kept).unwrap();
    }
}

#[test]
#[cfg_attr(
    not(with_systemd),
    ignore = "systemd-analyze is missing (apt install systemd)"
)]
fn systemd_finds_the_unit_little_exposed() {
    let folder = installed();
    // In tenths. A unit without any protection has 96.
    let limit = "--threshold=20";
    let offline = ["security", "--offline=true", "--no-pager", limit];
    let said = analyze(folder.path(), &offline)
        .arg("./gatehouse.service")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&said.stderr)
    );
    assert!(text.contains("Overall exposure level"), "{text}");
}

#[test]
fn the_unit_waits_for_the_server_and_lets_it_finish() {
    let unit = read(UNIT);
    assert_eq!(value(&unit, "Type"), "notify");
    let stop: u64 = value(&unit, "TimeoutStopSec").parse().unwrap();
    assert!(stop > default_seconds("drain_timeout").as_secs());
    let files: u64 = value(&unit, "LimitNOFILE").parse().unwrap();
    let connections: u64 = default_limit("connections").parse().unwrap();
    assert!(files >= connections + 256);
    // However long its database is away, it is started again and again.
    assert_eq!(value(&unit, "Restart"), "on-failure");
    assert_eq!(value(&unit, "StartLimitIntervalSec"), "0");
    assert_eq!(value(&unit, "RestartSec"), "2");
    // The engine makes what it has mapped executable, and forbidding that would stop every start.
    assert!(values(&unit, "MemoryDenyWriteExecute").is_empty());
}

#[test]
fn every_credential_is_copied_to_where_the_environment_names_it() {
    for file in [UNIT, DROP_IN] {
        let unit = read(file);
        let (name, source) = value(&unit, "LoadCredential").split_once(':').unwrap();
        assert_eq!(source, format!("/etc/gatehouse/{name}"), "{file}");
        let copy = format!("%t/gatehouse/{name}");
        let command = format!("/usr/bin/install -m 0600 %d/{name} {copy}");
        assert_eq!(value(&unit, "ExecStartPre"), command, "{file}");
        let named = values(&unit, "Environment").into_iter();
        let named: Vec<_> = named
            .filter_map(|variable| variable.strip_suffix(&copy))
            .collect();
        assert_eq!(named.len(), 1, "{file}");
        let variable = named[0].trim_end_matches('=');
        let is_setting = |setting: &String| {
            variable == format!("GATEHOUSE_{}", setting.replace('.', "_").to_uppercase())
        };
        assert!(settings().iter().any(is_setting), "{file}: {variable}");
    }
    assert_eq!(value(&read(UNIT), "RuntimeDirectory"), "gatehouse");
    assert_eq!(value(&read(UNIT), "RuntimeDirectoryMode"), "0700");
}

#[test]
fn the_configuration_names_the_folders_that_the_unit_makes_and_the_key_that_it_hands_over() {
    let unit = read(UNIT);
    let configuration = configuration(CONFIGURATION);
    for (directory, below) in [
        ("StateDirectory", "/var/lib"),
        ("LogsDirectory", "/var/log"),
    ] {
        let folder = format!("{below}/{}", value(&unit, directory));
        let named = match directory {
            "StateDirectory" => configuration["storage"]["path"].as_str(),
            _ => configuration["audit"]["main"]["path"]
                .as_str()
                .and_then(|path| Some(path.rsplit_once('/')?.0)),
        };
        assert_eq!(named, Some(folder.as_str()));
        assert_eq!(value(&unit, &format!("{directory}Mode")), "0700");
    }
    let (_, key) = value(&unit, "LoadCredential").split_once(':').unwrap();
    assert_eq!(configuration["seal"]["key_file"], key);
    let start = "/usr/bin/gatehouse server --config /etc/gatehouse/gatehouse.toml";
    assert_eq!(value(&unit, "ExecStart"), start);
}

#[test]
fn the_user_of_the_unit_is_the_one_that_is_made() {
    let unit = read(UNIT);
    let users = read("deploy/systemd/gatehouse.sysusers.conf");
    assert_eq!(found(&users, r"(?m)^u (\w+) "), [value(&unit, "User")]);
}
