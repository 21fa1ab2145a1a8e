//! `gatehouse apply` and `gatehouse import`, as an operator types them, against servers; first starts, and the image of the program.

mod apply;
mod bootstrap;
mod first_root_token;
mod image;
mod import;

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use gatehouse_tests::{Installation, gatehouse_binary};

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;

/// The end of a command.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Run {
    /// The last line of the report.
    fn summary(&self) -> &str {
        self.output.lines().last().unwrap_or_default()
    }
}

/// Runs `gatehouse` with these arguments against `installation`, as its operator.
fn run<A: AsRef<OsStr>>(
    installation: &Installation,
    arguments: impl IntoIterator<Item = A>,
    environment: &[(&str, &str)],
) -> Run {
    let output = Command::new(gatehouse_binary())
        .args(arguments)
        .env(
            "GATEHOUSE_ADDR",
            format!("http://{}", installation.address()),
        )
        .env("GATEHOUSE_TOKEN", installation.root_token())
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        code: output.status.code(),
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}
