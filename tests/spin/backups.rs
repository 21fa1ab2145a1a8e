//! Backups of an installation under Spin, restored into a server of ours, and into another installation under Spin (SEC-S11). Its records
//! are in SQLite or in PostgreSQL, depending on the program.

use std::fs;
use std::path::{Path, PathBuf};

use gatehouse_tests::{Answer, Host, Installation, Storage};
use serde_json::json;

use crate::HOST;
use crate::command::{Run, run};
use crate::stage::{fill, logged_in, make_organization, status_of};

/// Stands in an address for the password of the database, which lets everyone in.
const PASSWORD: &str = "hunter2-canary";

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A server that was not started yet, and gets its access to Google where that of `of` does.
fn beside(host: Host, of: &Installation) -> Installation {
    let installation =
        Installation::not_started_program(host.program(), Storage::Durable, "").unwrap();
    let file = installation.configuration();
    let settings = fs::read_to_string(&file).unwrap();
    let [own, theirs] = [&installation, of].map(|it| it.google().token_url());
    fs::write(&file, settings.replace(&own, &theirs)).unwrap();
    installation
}

/// Writes a runtime configuration of Spin that names the files of the installation, which Spin's stand-in finds without one.
fn runtime(installation: &Installation) -> PathBuf {
    let labels = ["access", "auth-method", "orgs"];
    let data = installation.folder().join("data");
    let section = |label| {
        let file = data.join(format!("{label}.sqlite"));
        format!("[sqlite_database.{label}]\ntype = \"spin\"\npath = {file:?}\n")
    };
    let path = installation.folder().join("spin-runtime.toml");
    fs::write(&path, labels.map(section).concat()).unwrap();
    path
}

/// Writes the file with the address of the database of the installation.
fn postgres_url(installation: &Installation) -> PathBuf {
    let settings = fs::read_to_string(installation.configuration()).unwrap();
    let mut lines = settings.lines();
    let url = lines.find_map(|line| line.strip_prefix("url = "));
    let url: String = serde_json::from_str(url.unwrap()).unwrap();
    let url = url.replace("owner@", &format!("owner:{PASSWORD}@"));
    assert!(url.contains(PASSWORD), "{url}");
    let path = installation.folder().join("postgres-url");
    fs::write(&path, url + "\n").unwrap();
    path
}

/// Runs `gatehouse operator` with options that name the store of an installation under Spin, and this key.
fn with_key(installation: &Installation, arguments: &[&str], key: &Path) -> Run {
    let (option, file) = match HOST {
        Host::SpinPostgres => ("--postgres-url-file", postgres_url(installation)),
        _ => ("--spin-runtime", runtime(installation)),
    };
    let named = [option, text(&file), "--seal-key", text(key)];
    let run = operator(installation, &[arguments, &named].concat());
    for told in [&run.output, &run.errors] {
        assert!(!told.contains(PASSWORD), "{told}");
    }
    run
}

/// The same with the key of the installation.
fn under_spin(installation: &Installation, arguments: &[&str]) -> Run {
    let key = installation.folder().join("seal.key");
    with_key(installation, arguments, &key)
}

pub fn operator(installation: &Installation, arguments: &[&str]) -> Run {
    run(installation, [&["operator"], arguments].concat(), &[])
}

#[track_caller]
fn assert_done(run: &Run) {
    assert_eq!(run.code, Some(0), "{run:?}");
}

/// The token that `operator generate-root` printed.
#[track_caller]
fn root(run: &Run) -> String {
    assert_done(run);
    let mut lines = run.output.lines();
    let token = lines.find(|line| line.starts_with("hvs."));
    token.unwrap().to_owned()
}

fn organization(installation: &Installation, name: &str, token: &str) -> Answer {
    let path = format!("/api/v2/organizations/{name}");
    installation.send("GET", &path, Some(token), None)
}

#[test]
fn s11_an_installation_moves_from_spin_to_our_own_server_and_back_with_all_that_it_holds() {
    let before = Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    fill(&before);
    let login = logged_in(&before, &before);
    let file = before.folder().join("backup");
    assert_done(&under_spin(&before, &["backup", "--to", text(&file)]));
    // Spin continues, and its later writes are not in the backup.
    make_organization(&before, "demo-later");
    assert_eq!(status_of(&before, &login), 200);
    let key = before.folder().join("seal.key");
    let verified = operator(&before, &["verify", text(&file), "--key-file", text(&key)]);
    assert_done(&verified);
    let proven = verified.summary().contains("holder of the key");
    assert!(proven, "{verified:?}");

    let mut ours = beside(Host::Gatehouse, &before);
    let configuration = ours.configuration();
    let config = ["--config", text(&configuration)];
    let restore = ["restore", text(&file), "--key-file", text(&key)];
    let restored = operator(&ours, &[&restore[..], &config].concat());
    assert_done(&restored);
    assert!(
        restored.errors.contains("All tokens have ended"),
        "{restored:?}"
    );
    let ours_root = root(&operator(
        &ours,
        &[&["generate-root"], &config[..]].concat(),
    ));
    ours.run().unwrap();
    for ended in [before.root_token(), &login] {
        assert_eq!(status_of(&ours, ended), 403);
    }
    let kept = organization(&ours, "demo-acme", &ours_root);
    assert_eq!(kept.status, 200, "{kept:?}");
    assert_eq!(organization(&ours, "demo-later", &ours_root).status, 404);
    // The backup has the key for Google, which no import can copy.
    let login = logged_in(&before, &ours);
    assert_eq!(ours.server().terminate().unwrap(), Some(0));

    let file = ours.folder().join("backup");
    let backup = ["backup", "--to", text(&file)];
    assert_done(&operator(&ours, &[&backup[..], &config].concat()));
    let mut after = beside(HOST, &before);
    let key = ours.folder().join("seal.key");
    let restore = [
        "restore",
        text(&file),
        "--key-file",
        text(&key),
        "--keep-tokens",
    ];
    assert_done(&under_spin(&after, &restore));
    let again = under_spin(&after, &restore);
    assert_eq!(again.code, Some(1), "{again:?}");
    let why = match HOST {
        Host::SpinPostgres => "has records",
        _ => "is there already",
    };
    assert!(again.errors.contains(why), "{again:?}");
    after.run().unwrap();
    for kept in [&ours_root, &login] {
        assert_eq!(status_of(&after, kept), 200);
    }
    let kept = organization(&after, "demo-acme", &login);
    assert_eq!(kept.status, 200, "{kept:?}");
    logged_in(&before, &after);
    let attributes = json!({"name": "demo-after", "email": "ops@example.com"});
    let new = json!({"data": {"type": "organizations", "attributes": attributes}});
    let made = after.send("POST", "/api/v2/organizations", Some(&login), Some(&new));
    assert_eq!(made.status, 201, "{made:?}");
}

#[test]
fn an_operator_without_a_root_token_makes_one_while_spin_goes_on() {
    let installation = Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    fill(&installation);
    let revoke = "/v1/auth/token/revoke-self";
    assert_eq!(installation.as_root("POST", revoke, None).status, 204);
    assert_eq!(status_of(&installation, installation.root_token()), 403);
    let token = root(&under_spin(&installation, &["generate-root"]));
    assert_eq!(status_of(&installation, &token), 200);
    assert_eq!(organization(&installation, "demo-acme", &token).status, 200);

    let other = beside(HOST, &installation);
    let stranger = other.folder().join("seal.key");
    let refused = with_key(&installation, &["generate-root"], &stranger);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.errors.contains("seal_key"), "{refused:?}");
}
