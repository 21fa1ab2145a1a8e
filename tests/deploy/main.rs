//! Each file of `deploy` is parsed, tried by the program that it is for where that is installed, and held against what it speaks of.

mod debian;
mod haproxy;
mod image;
mod kubernetes;
mod page;
mod promql;
mod schemas;
mod spinkube;
mod systemd;
mod watching;

use std::process::Command;

/// Runs a program that must end well; what it said on both outputs.
fn run(command: &mut Command) -> String {
    let (done, said) = outcome(command);
    assert!(done, "{command:?}:\n{said}");
    said
}

/// True if a program ended well, and what it said on both outputs.
fn outcome(command: &mut Command) -> (bool, String) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}
