//! Programs of other languages, which run components themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gatehouse_components::{Flavour, Part, bytes};
use gatehouse_tests::{ROLE, WORKLOAD, node_program, python, target_folder};
use serde_json::{Value, json};

use crate::Report;
use crate::google;
use crate::suite::Suite;

/// The checks on components under wasmtime-py.
pub fn in_python() -> Report {
    run(python_script("run_checks.py"), "python")
}

/// The output of `judge_login.py`, the example for readers, for a good and a bad login.
pub fn judge_login_in_python() -> String {
    let folder = made_folder("python-example");
    let google = google::usual();
    let key_file = folder.join("key.json");
    std::fs::write(&key_file, google.credentials_json(WORKLOAD).unwrap()).unwrap();
    let script = python_script("judge_login.py")
        .arg(written(Part::AuthMethod, &folder))
        .arg(key_file)
        .arg(google.sign_login_jwt(WORKLOAD, ROLE).unwrap())
        .arg(google.base_url())
        .output();
    printed(script)
}

/// The output of `bad_surroundings.py`; fails where something of it does not hold.
pub fn bad_surroundings_in_python() -> String {
    let folder = made_folder("python-surroundings");
    let script = python_script("bad_surroundings.py")
        .args([Part::AuthMethod, Part::Orgs].map(|part| written(part, &folder)))
        .output();
    printed(script)
}

fn python_script(name: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("behaviour/python");
    let mut command = Command::new(python("behaviour-python", &folder.join("requirements.txt")));
    // Python's compiled files do not belong beside their sources.
    command.arg("-B").arg(folder.join(name));
    command
}

/// The checks on components that jco has transpiled.
pub fn in_node() -> Report {
    run(node_script("main.mjs"), "node")
}

/// The output of `judge_login.mjs`, the example for readers, for a good and a bad login.
pub fn judge_login_in_node() -> String {
    let folder = made_folder("node-login");
    let google = google::usual();
    let key_file = folder.join("key.json");
    std::fs::write(&key_file, google.credentials_json(WORKLOAD).unwrap()).unwrap();
    let script = node_script("judge_login.mjs")
        .arg(transpiled(Part::AuthMethod, &folder))
        .arg(key_file)
        .arg(google.sign_login_jwt(WORKLOAD, ROLE).unwrap())
        .arg(google.base_url())
        .output();
    printed(script)
}

/// The output of `make_organizations.mjs`, the example for readers.
pub fn make_organizations_in_node() -> String {
    let folder = made_folder("node-organizations");
    let script = node_script("make_organizations.mjs")
        .arg(transpiled(Part::Orgs, &folder))
        .output();
    printed(script)
}

/// The output of `boundary.mjs`; fails where one of its tests does.
pub fn pass_nonsense_in_node() -> String {
    let folder = made_folder("node-boundary");
    let script = node_script("boundary.mjs")
        .args([Part::AuthMethod, Part::Orgs].map(|part| transpiled(part, &folder)))
        .output();
    printed(script)
}

fn node_script(name: &str) -> Command {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("behaviour/node");
    let mut command = Command::new("node");
    command.arg(node_program("behaviour-node", &source).join(name));
    command
}

/// The folder in which jco has made a module for Node of the component.
fn transpiled(part: Part, folder: &Path) -> PathBuf {
    let module = folder.join(part.name());
    let script = node_script("transpile.mjs")
        .arg(written(part, folder))
        .arg(&module)
        .output();
    printed(script);
    module
}

/// The output of a program that must have ended well.
fn printed(ended: std::io::Result<Output>) -> String {
    let output = ended.expect("the script can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}:\n{printed}{errors}",
        output.status
    );
    printed.into_owned()
}

fn made_folder(name: &str) -> PathBuf {
    let folder = target_folder().join("behaviour").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The component as a file, in the flavour that runs on every engine.
fn written(part: Part, folder: &Path) -> PathBuf {
    let path = folder.join(part.name()).with_extension("wasm");
    std::fs::write(&path, bytes(part, Flavour::Portable).unwrap()).unwrap();
    path
}

/// Runs the checks by a program that takes the path of the suite's file as its last argument.
fn run(mut command: Command, name: &str) -> Report {
    let folder = made_folder(name);
    let google = google::usual();
    let suite = Suite::load();
    let mut given = serde_json::to_value(&suite).unwrap();
    given["components"] = [Part::AuthMethod, Part::Orgs]
        .into_iter()
        .map(|part| {
            let path = written(part, &folder).display().to_string();
            (part.name().to_owned(), Value::from(path))
        })
        .collect();
    given["environment"] = json!({
        Part::AuthMethod.name(): {
            "GATEHOUSE_GOOGLE_TOKEN_URL": google.token_url(),
            "GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK": "true",
        },
        Part::Orgs.name(): {},
    });
    given["values"] = google::values(&google);
    let file = folder.join("suite.json");
    std::fs::write(&file, given.to_string()).unwrap();

    let output = command
        .arg(file)
        .output()
        .expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{name} ended with {}:\n{errors}",
        output.status
    );
    let said: BTreeMap<String, Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter_map(|line: Value| Some((line["id"].as_str()?.to_owned(), line)))
        .collect();
    let verdict = |id: &String| match said.get(id) {
        Some(line) if line["passed"] == true => Ok(()),
        Some(line) => Err(line["why"].as_str().unwrap_or_default().to_owned()),
        None => Err(format!("{name} said nothing about it")),
    };
    let checks = suite.checks.into_iter();
    checks
        .map(|check| (check.id.clone(), verdict(&check.id)))
        .collect()
}
