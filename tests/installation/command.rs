//! The commands of an operator.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use gatehouse_tests::{Installation, gatehouse_binary};

/// The end of a command.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl Run {
    /// The last line of the report.
    pub fn summary(&self) -> &str {
        self.output.lines().last().unwrap_or_default()
    }
}

/// Runs `gatehouse` with these arguments against `installation`, as its operator.
pub fn run<A: AsRef<OsStr>>(
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
