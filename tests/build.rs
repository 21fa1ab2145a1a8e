//! Looks for what the tests of other languages' clients run, before anything is compiled for them.

#[path = "support/go_version.rs"]
mod go_version;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of PostgreSQL and of HAProxy that a page has run.
const SERVERS_OF_OTHERS: [&str; 4] = ["initdb", "pg_ctl", "createdb", "haproxy"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=support/go_version.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let missing = [
        missing_python(output("python3", &["-c", PYTHON])),
        missing_node(output("node", &["--version"])),
        missing_npm(output("npm", &["--version"])),
    ];
    for what in missing.into_iter().flatten() {
        println!("cargo::error=the tests need {what}");
    }
    // The clients in Go are the only ones that may be left out, which then is said here and beside each of their tests.
    println!("cargo::rustc-check-cfg=cfg(with_go)");
    let missing_go = go_version::missing();
    match missing_go {
        None => println!("cargo::rustc-cfg=with_go"),
        Some(what) => println!("cargo::warning=clients in Go are not tested without {what}"),
    }
    watch_for("go", missing_go.is_some());
    // The page about several servers is followed with the programs that it names, where an operator has them.
    println!("cargo::rustc-check-cfg=cfg(with_servers_of_others)");
    let missing: Vec<&str> = SERVERS_OF_OTHERS
        .into_iter()
        .filter(|program| !is_installed(program))
        .collect();
    match &missing[..] {
        [] => println!("cargo::rustc-cfg=with_servers_of_others"),
        missing => println!(
            "cargo::warning=docs/operate/several-servers.md is not tried without {}",
            missing.join(", ")
        ),
    }
    for program in SERVERS_OF_OTHERS {
        watch_for(program, missing.contains(&program));
    }
    // Vault and OpenTofu take long to build (docs/contributing/references.md). Without them their tests are shown as ignored.
    for (cfg, variables) in [
        ("with_vault", &["GATEHOUSE_VAULT"][..]),
        ("with_tofu", &["GATEHOUSE_TOFU", "GATEHOUSE_TOFU_PROVIDERS"]),
    ] {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        if are_given(variables) {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
}

/// True if all variables name something that is there. One that names nothing is an error: what was asked for would be left out.
fn are_given(variables: &[&str]) -> bool {
    let mut all = true;
    for variable in variables {
        println!("cargo::rerun-if-env-changed={variable}");
        match std::env::var_os(variable) {
            Some(path) if !Path::new(&path).exists() => {
                println!("cargo::error={variable} names {path:?}, which is not there");
            }
            Some(_) => {}
            None => all = false,
        }
    }
    all
}

/// Has this asked again when a program comes, changes or goes: where it is missing, it may come to any of the folders that are searched; a
/// file that is not there yet cannot be watched, for cargo would take it for changed every time.
fn watch_for(program: &str, is_missing: bool) {
    for folder in searched_folders() {
        let file = folder.join(program);
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
        } else if is_missing && folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
    }
}

fn is_installed(program: &str) -> bool {
    searched_folders()
        .iter()
        .any(|folder| folder.join(program).is_file())
}

fn searched_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect()
}

/// Prints the version, and fails where a virtual environment could not be made.
const PYTHON: &str = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])";

fn missing_python(version: Option<String>) -> Option<&'static str> {
    let fits = numbers(&version.unwrap_or_default()) >= Some((3, 11));
    (!fits).then_some(
        "Python 3.11 or newer with its venv module (on Debian: apt install python3 python3-venv)",
    )
}

fn missing_node(version: Option<String>) -> Option<&'static str> {
    let version = version.unwrap_or_default();
    let fits = match numbers(version.trim_start_matches('v')) {
        Some((20, minor)) => minor >= 19,
        Some((22, minor)) => minor >= 13,
        Some((23, minor)) => minor >= 5,
        Some((major, _)) => major > 23,
        None => false,
    };
    (!fits).then_some("Node 20.19, 22.13, or 23.5 and newer (https://nodejs.org)")
}

fn missing_npm(version: Option<String>) -> Option<&'static str> {
    version.is_none().then_some("npm, which comes with Node")
}

/// The output of a program, where it is there and ends well.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}

/// Major and minor.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
