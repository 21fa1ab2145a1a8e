//! The clients that others wrote: Python packages in a virtual environment of the tests' own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

use crate::server::target_folder;

const REQUIREMENTS: &str = include_str!("../../clients/requirements.txt");

/// A script under `tests/clients`.
#[derive(Debug, Clone)]
pub struct Client {
    script: &'static str,
    environment: Vec<(String, String)>,
}

/// How a script ended.
#[derive(Debug)]
pub struct ClientRun {
    /// Whether every check of the script held.
    pub succeeded: bool,
    /// What it printed, for the test's own message.
    pub output: String,
}

impl Client {
    /// The script with this file name.
    pub const fn new(script: &'static str) -> Self {
        Self {
            script,
            environment: Vec::new(),
        }
    }

    /// Sets an environment variable for the script.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Runs the script to its end.
    ///
    /// # Panics
    ///
    /// When the clients cannot be installed: a test that cannot run is a failed test.
    pub fn run(&self) -> ClientRun {
        let environment = environment();
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("clients")
            .join(self.script);
        let output = Command::new(environment.join("bin").join("python"))
            .arg(script)
            .env("PATH", search_path(environment))
            .envs(self.environment.iter().cloned())
            .output()
            .expect("the script can be started");
        ClientRun {
            succeeded: output.status.success(),
            output: text(&output),
        }
    }
}

fn search_path(environment: &Path) -> String {
    let inherited = std::env::var("PATH").unwrap_or_default();
    format!("{}:{inherited}", environment.join("bin").display())
}

fn text(output: &Output) -> String {
    let standard = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    format!("{standard}{error}")
}

/// The folder of the virtual environment, whether it is installed yet or not.
pub fn clients_folder() -> PathBuf {
    target_folder().join("clients").join("environment")
}

/// The `bao` program, installed on first use.
///
/// # Panics
///
/// When the clients cannot be installed: a test that cannot run is a failed test.
pub fn bao_program() -> PathBuf {
    environment().join("bin").join("bao")
}

/// The virtual environment, installed once for every list of requirements.
fn environment() -> &'static Path {
    static ENVIRONMENT: OnceLock<PathBuf> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| install().expect("the clients must be installable"))
}

fn install() -> Result<PathBuf> {
    let folder = target_folder().join("clients");
    // Test programs run one after the other, but two of them may also be started by hand at one time.
    std::fs::create_dir_all(&folder)?;
    let lock = std::fs::File::create(folder.join("lock"))?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    let environment = clients_folder();
    let stamp = environment.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == REQUIREMENTS) {
        return Ok(environment);
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&environment))
    .context("python3 with its venv module is needed for the client tests")?;
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/requirements.txt");
    run(Command::new(environment.join("bin/pip"))
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .arg(requirements))?;
    std::fs::write(stamp, REQUIREMENTS)?;
    Ok(environment)
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", text(&output));
    Ok(())
}
