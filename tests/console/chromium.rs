//! The console in a real browser, without scripts: a Chromium goes through it as a person does, and a checker judges every page.

use std::path::{Path, PathBuf};
use std::process::Command;

use gatehouse_tests::{
    Client, DevServer, Installation, OPERATOR, WORKLOAD, gatehouse_binary, node_program,
};
use serde_json::{Value, json};

use crate::pages::{HOSTED, SELF_HOSTED, pages};
use crate::sessions::CONSOLE;
use crate::{SERVER, data, google, started};

/// The name of the mount, the role and the organization that the browser makes.
const MADE: &str = "by-browser";

/// Where the pictures of the docs are, if this run is to make them.
fn pictures() -> Option<PathBuf> {
    std::env::var_os("GATEHOUSE_WRITE")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operate/pictures");
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

/// The key file of an account, as Google gives it out.
fn key_file(email: &str) -> Value {
    let accounts = &google().service_accounts;
    let account = accounts
        .iter()
        .find(|account| account.email == email)
        .unwrap();
    json!({
        "type": "service_account",
        "project_id": account.project_id,
        "client_email": account.email,
        "client_id": account.unique_id,
        "private_key_id": account.kid,
        "private_key": account.private_key_pem,
    })
}

/// A JWT that the account signs for `role`.
fn login_jwt(email: &str, role: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), key_file(email).to_string()).unwrap();
    let made = Command::new(gatehouse_binary())
        .args(["login-jwt", "--role", role, "--credentials"])
        .arg(file.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// The endpoints of the Google that the server runs, as the form of a configuration takes them.
fn endpoints() -> String {
    let config = data("/v1/auth/gcp/config");
    let endpoints = config["custom_endpoint"].as_object().unwrap();
    let lines = endpoints
        .iter()
        .map(|(name, address)| format!("{name}={}", address.as_str().unwrap()));
    lines.collect::<Vec<_>>().join("\n")
}

/// A server that can be sealed, for its key is in a share, and its root token.
fn sealable() -> (Installation, String) {
    let server = Installation::with_shares(CONSOLE).unwrap();
    let one = json!({ "secret_shares": 1, "secret_threshold": 1 });
    let made = server.send("PUT", "/v1/sys/init", None, Some(&one)).json();
    let share = json!({ "key": made["keys"][0] });
    let unsealed = server.send("PUT", "/v1/sys/unseal", None, Some(&share));
    assert_eq!(unsealed.json()["sealed"], false, "{unsealed:?}");
    (server, made["root_token"].as_str().unwrap().to_owned())
}

/// A token that may do nothing but what every token may.
fn limited_token() -> String {
    let policies = json!({ "policies": ["default"] });
    let made = SERVER.as_root("POST", "/v1/auth/token/create", Some(&policies));
    made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_person_without_scripts_goes_through_the_console_and_every_page_is_accessible() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("console/node");
    let program = node_program("console-browser", &source);
    let self_hosted = started(&["--edition", "self-hosted"]);
    let site = |server: &DevServer, without: &[&str]| {
        json!({
            "address": server.process.address(),
            "root_token": server.root_token,
            "pages": pages(&|path, body| server.as_root("POST", path, Some(body)), without),
        })
    };
    let (to_be_sealed, root_token) = sealable();
    let server = json!({
        "limited_token": limited_token(),
        "sealable": { "address": format!("http://{}", to_be_sealed.address()), "root_token": root_token },
        "address": SERVER.process.address(),
        "root_token": SERVER.root_token,
        "credentials": key_file(OPERATOR).to_string(),
        "account": WORKLOAD,
        "endpoints": endpoints(),
        "refused_jwt": login_jwt(OPERATOR, MADE),
        "sites": [site(&SERVER, &SELF_HOSTED), site(&self_hosted, &HOSTED)],
    });
    // The browser is unpacked into the folder for scratch files, and keeps its profile there.
    let scratch = program.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let mut command = Command::new("node");
    command
        .arg(program.join("main.mjs"))
        .env("GATEHOUSE", server.to_string())
        .env("TMPDIR", &scratch)
        .env("HOME", &scratch);
    if let Some(folder) = pictures() {
        command.env("PICTURES", folder);
    }
    let run = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        run.status.success(),
        "{}{}",
        text(&run.stdout),
        text(&run.stderr)
    );

    let run = Client::new("after_the_console.py")
        .with("GATEHOUSE_ADDRESS", SERVER.process.address())
        .with("GATEHOUSE_ROOT_TOKEN", SERVER.root_token.as_str())
        .with("GATEHOUSE_NAME", MADE)
        .with("GATEHOUSE_JWT", login_jwt(WORKLOAD, MADE))
        .run();
    assert!(run.succeeded, "{}", run.output);
}
