//! Backups of servers that run, and what becomes of tokens when they are restored (SEC-S11).

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use gatehouse_postgres_server::PostgresServer;
use gatehouse_tests::{Answer, Installation, ROLE, Storage, gatehouse_binary};
use serde_json::{Value, json};

/// Runs `gatehouse operator` with these arguments and this token.
fn operator(arguments: &[&str], token: &str) -> Output {
    Command::new(gatehouse_binary())
        .arg("operator")
        .args(arguments)
        .env("GATEHOUSE_TOKEN", token)
        .output()
        .unwrap()
}

fn done(arguments: &[&str], token: &str) -> String {
    let output = operator(arguments, token);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    told + &String::from_utf8_lossy(&output.stdout)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that must be refused, and returns its error output.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = operator(arguments, "");
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn status_of(installation: &Installation, token: &str) -> u16 {
    let path = "/v1/auth/token/lookup-self";
    installation.send("GET", path, Some(token), None).status
}

fn make_organization(installation: &Installation, name: &str) {
    let attributes = json!({"name": name, "email": "a@example.com"});
    let organization = json!({"data": {"type": "organizations", "attributes": attributes}});
    let made = installation.as_root("POST", "/api/v2/organizations", Some(&organization));
    assert_eq!(made.status, 201, "{made:?}");
}

fn organization(installation: &Installation, name: &str, token: &str) -> Answer {
    let path = format!("/api/v2/organizations/{name}");
    installation.send("GET", &path, Some(token), None)
}

/// Makes a root token for the stopped installation.
fn new_root(installation: &Installation) -> String {
    let configuration = installation.configuration();
    let told = done(&["generate-root", "--config", text(&configuration)], "");
    let root = told.lines().find(|line| line.starts_with("hvs."));
    root.unwrap().to_owned()
}

fn in_file(folder: &Path) -> String {
    format!("type = \"redb\"\npath = {folder:?}")
}

/// Replaces the store in the configuration.
fn move_to(installation: &Installation, storage: &str) {
    let configuration = installation.configuration();
    let settings = fs::read_to_string(&configuration).unwrap();
    let from = settings.find("[storage]").unwrap();
    let to = settings.find("[seal]").unwrap();
    let storage = format!("[storage]\n{storage}\n\n");
    let moved = [&settings[..from], &storage, &settings[to..]].concat();
    fs::write(&configuration, moved).unwrap();
}

#[test]
fn s11_a_restored_server_knows_everything_but_the_tokens() {
    let mut installation = Installation::start(Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let root = installation.root_token().to_owned();
    let login = installation.login().unwrap().json();
    let login = login["auth"]["client_token"].as_str().unwrap().to_owned();
    let user = installation.as_root(
        "POST",
        "/api/v2/admin/users",
        Some(&json!({"data": {"type": "users", "attributes": {"username": "ada", "email": "ada@example.com"}}})),
    );
    let user = user.json()["meta"]["token"].as_str().unwrap().to_owned();
    make_organization(&installation, "demo-kept");

    let folder = installation.folder().to_owned();
    let (file, key) = (folder.join("backup"), folder.join("seal.key"));
    let address = format!("http://{}", installation.address());
    let backup = ["backup", "--address", &address, "--to", text(&file)];
    let told = done(&backup, &root);
    assert!(told.contains("digest"), "{told}");
    // The server continues to serve, and its records continue to change.
    let revoked = installation.send("POST", "/v1/auth/token/revoke-self", Some(&login), None);
    assert_eq!(revoked.status, 204);
    let again = operator(&backup, &root);
    assert!(!again.status.success(), "the file is there already");
    let by_stranger = operator(
        &[
            "backup",
            "--address",
            &address,
            "--to",
            text(&folder.join("other")),
        ],
        "no-token",
    );
    assert!(String::from_utf8_lossy(&by_stranger.stderr).contains("403"));
    assert!(!folder.join("other").exists());
    let genuine = ["verify", text(&file), "--key-file", text(&key)];
    assert!(done(&genuine, "").contains("made by a holder of the key"));

    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let configuration = installation.configuration();
    let restore = ["restore", text(&file), "--config", text(&configuration)];
    assert!(refused(&restore).contains("not empty"));
    fs::rename(folder.join("data"), folder.join("lost")).unwrap();
    let told = done(&restore, "");
    assert!(told.contains("All tokens have ended"), "{told}");
    let new_root = new_root(&installation);

    installation.run().unwrap();
    for ended in [&root, &login] {
        assert_eq!(status_of(&installation, ended), 403);
    }
    let as_user = installation.send("GET", "/api/v2/account/details", Some(&user), None);
    assert_eq!(as_user.status, 401);
    assert_eq!(status_of(&installation, &new_root), 200);
    let kept = organization(&installation, "demo-kept", &new_root);
    assert_eq!(kept.status, 200, "{kept:?}");
    let login = installation.login().unwrap();
    assert_eq!(login.status, 200, "{login:?}");

    // The same once more, with the tokens that were valid at the time of the backup.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    fs::rename(folder.join("data"), folder.join("restored")).unwrap();
    let keeping = [&restore[..], &["--keep-tokens"]].concat();
    let told = done(&keeping, "");
    assert!(told.contains("revoke them once more"), "{told}");
    installation.run().unwrap();
    assert_eq!(status_of(&installation, &root), 200);
    let as_user = installation.send("GET", "/api/v2/account/details", Some(&user), None);
    assert_eq!(as_user.status, 200);
}

#[test]
fn s11_a_database_is_backed_up_beside_its_server_and_moves_into_a_file() {
    let mut installation = Installation::start(Storage::Postgres, "").unwrap();
    installation.set_up_login().unwrap();
    let root = installation.root_token().to_owned();
    let folder = installation.folder().to_owned();
    let file = folder.join("backup");
    let configuration = installation.configuration();
    let backup = [
        "backup",
        "--config",
        text(&configuration),
        "--to",
        text(&file),
    ];
    done(&backup, "");
    assert_eq!(status_of(&installation, &root), 200, "it serves on");

    let data = folder.join("moved");
    let storage = [
        "storage.type=redb".to_owned(),
        format!("storage.path={}", data.display()),
    ];
    let elsewhere = [
        "--config",
        text(&configuration),
        "--set",
        &storage[0],
        "--set",
        &storage[1],
    ];
    let restore = ["restore", text(&file), "--keep-tokens"];
    done(&[&restore[..], &elsewhere].concat(), "");
    let again = folder.join("again");
    let backup = ["backup", "--to", text(&again)];
    let of_database = done(&["verify", text(&file)], "");
    done(&[&backup[..], &elsewhere].concat(), "");
    let of_file = done(&["verify", text(&again)], "");
    let counts = |told: &str| -> Vec<String> {
        let lines = told.lines().filter(|line| line.starts_with("  "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(counts(&of_file), counts(&of_database));

    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    move_to(&installation, &in_file(&data));
    installation.run().unwrap();
    assert_eq!(status_of(&installation, &root), 200);
    assert_eq!(installation.login().unwrap().status, 200);
}

/// The contents that an installation must have wherever its store is: a role for logins, and an organization.
struct Contents {
    role: Value,
    organization: Value,
}

impl Contents {
    fn read(installation: &Installation, root: &str) -> Self {
        let role = format!("/v1/auth/gcp/role/{ROLE}");
        let role = installation.send("GET", &role, Some(root), None);
        let organization = organization(installation, "demo-kept", root);
        assert_eq!([role.status, organization.status], [200, 200]);
        Self {
            role: role.json()["data"].clone(),
            organization: organization.json()["data"]["attributes"].clone(),
        }
    }

    fn assert_same(&self, installation: &Installation, root: &str) {
        let found = Self::read(installation, root);
        assert_eq!(found.role, self.role);
        assert_eq!(found.organization, self.organization);
    }
}

#[test]
fn s11_an_installation_moves_from_a_file_into_a_database_and_back() {
    let database = PostgresServer::start_blocking(&[]);
    let mut installation = Installation::start(Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    make_organization(&installation, "demo-kept");
    let first_root = installation.root_token().to_owned();
    let contents = Contents::read(&installation, &first_root);
    let folder = installation.folder().to_owned();
    let [file, cut, later] = ["backup", "cut", "later"].map(|name| folder.join(name));
    let configuration = installation.configuration();
    let backup = |file: &Path| {
        let arguments = [
            "backup",
            "--to",
            text(file),
            "--config",
            text(&configuration),
        ];
        done(&arguments, "")
    };
    let restore = ["restore", text(&file), "--config", text(&configuration)];

    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    backup(&file);
    let whole = fs::read(&file).unwrap();
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let url = database.create_database_blocking();
    move_to(
        &installation,
        &format!("type = \"postgresql\"\nurl = {url:?}"),
    );
    // A restore makes no tables, and refuses a backup that is cut off.
    let without_tables = refused(&restore);
    assert!(
        without_tables.contains("database migrate"),
        "{without_tables}"
    );
    let migrate = ["database", "migrate", "--config", text(&configuration)];
    done(&migrate, "");
    let of_half = refused(&["restore", text(&cut), "--config", text(&configuration)]);
    assert!(of_half.contains("is cut off"), "{of_half}");
    let told = done(&restore, "");
    assert!(told.contains("All tokens have ended"), "{told}");
    let again = refused(&restore);
    assert!(again.contains("not empty"), "{again}");

    let root = new_root(&installation);
    installation.run().unwrap();
    contents.assert_same(&installation, &root);
    assert_eq!(status_of(&installation, &first_root), 403, "it has ended");
    assert_eq!(installation.login().unwrap().status, 200);
    let while_it_serves = refused(&restore);
    assert!(
        while_it_serves.contains("stop all its servers"),
        "{while_it_serves}"
    );
    contents.assert_same(&installation, &root);

    backup(&later);
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    move_to(&installation, &in_file(&folder.join("moved")));
    done(
        &["restore", text(&later), "--config", text(&configuration)],
        "",
    );
    let last_root = new_root(&installation);
    installation.run().unwrap();
    contents.assert_same(&installation, &last_root);
    for ended in [&first_root, &root] {
        assert_eq!(status_of(&installation, ended), 403, "it has ended");
    }
    assert_eq!(installation.login().unwrap().status, 200);
}

/// The milliseconds after which a restore is killed, beginning before its first write.
const KILLED_AFTER: [u64; 8] = [0, 10, 20, 40, 80, 160, 320, 5_000];

#[test]
fn s11_a_restore_that_is_killed_starts_no_server_and_is_repeated_over_a_file_and_a_database() {
    let database = PostgresServer::start_blocking(&[]);
    let mut installation = Installation::start(Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    for number in 0..50 {
        make_organization(&installation, &format!("demo-{number}"));
    }
    make_organization(&installation, "demo-kept");
    let contents = Contents::read(&installation, installation.root_token());
    let folder = installation.folder().to_owned();
    let file = folder.join("backup");
    let configuration = installation.configuration();
    let of_configuration = ["--config", text(&configuration)];
    let backup = ["backup", "--to", text(&file)];
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    done(&[&backup[..], &of_configuration].concat(), "");
    let restore = [&["restore", text(&file)][..], &of_configuration].concat();
    let generate_root = [&["generate-root"][..], &of_configuration].concat();

    let url = database.create_database_blocking();
    let in_database = format!("type = \"postgresql\"\nurl = {url:?}");
    for storage in [in_file(&folder.join("other")), in_database] {
        move_to(&installation, &storage);
        if storage.contains("postgresql") {
            done(
                &[&["database", "migrate"][..], &of_configuration].concat(),
                "",
            );
        }
        let is_whole_after = |milliseconds: u64| {
            let mut restore = Command::new(gatehouse_binary())
                .arg("operator")
                .args(&restore)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(milliseconds));
            restore.kill().unwrap();
            restore.wait().unwrap();
            // No command uses a store that has a part of a backup; but the kill may have come after the last write.
            operator(&generate_root, "").status.success()
        };
        if !KILLED_AFTER.into_iter().any(is_whole_after) {
            done(&restore, "");
        }
        let again = refused(&restore);
        assert!(again.contains("not empty"), "{again}");
        let root = new_root(&installation);
        installation.run().unwrap();
        contents.assert_same(&installation, &root);
        assert_eq!(installation.server().terminate().unwrap(), Some(0));
    }
}
