//! Backups of servers that run, and what becomes of tokens when they are restored (SEC-S11).

use std::path::Path;
use std::process::{Command, Output};

use gatehouse_tests::{Installation, Storage, gatehouse_binary};
use serde_json::json;

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

fn status_of(installation: &Installation, token: &str) -> u16 {
    let path = "/v1/auth/token/lookup-self";
    installation.send("GET", path, Some(token), None).status
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
    let organization = json!({"data": {"type": "organizations", "attributes": {"name": "demo-kept", "email": "a@example.com"}}});
    let made = installation.as_root("POST", "/api/v2/organizations", Some(&organization));
    assert_eq!(made.status, 201, "{made:?}");

    let folder = installation.folder().to_owned();
    let (file, key) = (folder.join("backup"), folder.join("seal.key"));
    let address = format!("http://{}", installation.address());
    let backup = ["backup", "--address", &address, "--to", text(&file)];
    let told = done(&backup, &root);
    assert!(told.contains("digest"), "{told}");
    // The server goes on, and so does what happens to it.
    let revoked = installation.send("POST", "/v1/auth/token/revoke-self", Some(&login), None);
    assert_eq!(revoked.status, 204);
    let again = operator(&backup, &root);
    assert!(!again.status.success(), "the file is there already");
    let refused = operator(
        &[
            "backup",
            "--address",
            &address,
            "--to",
            text(&folder.join("other")),
        ],
        "no-token",
    );
    assert!(String::from_utf8_lossy(&refused.stderr).contains("403"));
    assert!(!folder.join("other").exists());
    let genuine = ["verify", text(&file), "--key-file", text(&key)];
    assert!(done(&genuine, "").contains("made by who held the key"));

    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let configuration = installation.configuration();
    let restore = ["restore", text(&file), "--config", text(&configuration)];
    let refused = operator(&restore, "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not empty"));
    std::fs::rename(folder.join("data"), folder.join("lost")).unwrap();
    let told = done(&restore, "");
    assert!(told.contains("All tokens have ended"), "{told}");
    let new_root = done(&["generate-root", "--config", text(&configuration)], "");
    let new_root = new_root.lines().find(|line| line.starts_with("hvs."));
    let new_root = new_root.unwrap().to_owned();

    installation.run().unwrap();
    for ended in [&root, &login] {
        assert_eq!(status_of(&installation, ended), 403);
    }
    let as_user = installation.send("GET", "/api/v2/account/details", Some(&user), None);
    assert_eq!(as_user.status, 401);
    assert_eq!(status_of(&installation, &new_root), 200);
    let kept = installation.send(
        "GET",
        "/api/v2/organizations/demo-kept",
        Some(&new_root),
        None,
    );
    assert_eq!(kept.status, 200, "{kept:?}");
    let login = installation.login().unwrap();
    assert_eq!(login.status, 200, "{login:?}");

    // The same once more, with the tokens that were valid then.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    std::fs::rename(folder.join("data"), folder.join("restored")).unwrap();
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
    let moved = std::fs::read_to_string(&configuration).unwrap();
    let from = moved.find("[storage]").unwrap();
    let to = moved.find("[seal]").unwrap();
    let storage = format!("[storage]\ntype = \"redb\"\npath = {data:?}\n\n");
    let moved = [&moved[..from], &storage, &moved[to..]].concat();
    std::fs::write(&configuration, moved).unwrap();
    installation.run().unwrap();
    assert_eq!(status_of(&installation, &root), 200);
    assert_eq!(installation.login().unwrap().status, 200);
}
