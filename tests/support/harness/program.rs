//! The programs that tests drive: they take the same configuration file.

use std::path::PathBuf;

use crate::server::{gatehouse_binary, spin_host_binary};

/// Who runs the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Our own server.
    Gatehouse,
    /// What stands in for Spin 4.1: the front for WASI 0.3.
    Spin4,
    /// What stands in for Spin 3.6 and SpinKube: the front for WASI 0.2.
    Spin3,
}

impl Host {
    /// The program, built on first use.
    pub fn program(self) -> Program {
        match self {
            Self::Gatehouse => Program::gatehouse(),
            Self::Spin4 => Program::spin_host("0.3"),
            Self::Spin3 => Program::spin_host("0.2"),
        }
    }
}

/// What is run: a program, and its arguments before the path of the configuration file.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before the path of the configuration file.
    pub arguments: Vec<String>,
}

impl Program {
    /// Our own server.
    pub fn gatehouse() -> Self {
        Self::gatehouse_at(gatehouse_binary().to_owned())
    }

    /// A build of our own server that is there already.
    pub fn gatehouse_at(path: PathBuf) -> Self {
        Self {
            path,
            arguments: vec!["server".to_owned(), "--config".to_owned()],
        }
    }

    /// The host that stands in for Spin, with the front of this WASI version: `0.2` or `0.3`.
    pub fn spin_host(front: &str) -> Self {
        let arguments = ["server", "--front", front, "--config"];
        Self {
            path: spin_host_binary().to_owned(),
            arguments: arguments.map(str::to_owned).to_vec(),
        }
    }

    /// The same with all that it has to say in a file beside the configuration file, named like it with `.log` behind.
    #[must_use]
    pub fn logging(self) -> Self {
        let command = format!(
            "exec env GATEHOUSE_LOG_LEVEL=debug {} >>\"$0.log\" 2>&1",
            self.command_line()
        );
        Self::shell(command)
    }

    /// The same, which ends when the program that starts it does and then removes the folder of its configuration file: what is
    /// shared by all tests is dropped by none.
    #[must_use]
    pub fn ended_with_the_tests(self) -> Self {
        let command = format!(
            "{} & tail --pid=$PPID -f /dev/null; kill $!; rm -r \"$(dirname \"$0\")\"",
            self.command_line()
        );
        Self::shell(command)
    }

    fn command_line(&self) -> String {
        let arguments = self.arguments.join(" ");
        format!("'{}' {arguments} \"$0\"", self.path.display())
    }

    fn shell(command: String) -> Self {
        Self {
            path: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), command],
        }
    }
}
