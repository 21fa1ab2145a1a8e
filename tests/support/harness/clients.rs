//! The clients that others wrote: packages of Python and of Node in environments of the tests' own, and modules of Go.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

use crate::server::target_folder;

/// A script under `tests/clients`, of Python (`.py`) or of Node (`.js`), or a package of tests in Go below `go/`.
#[derive(Debug, Clone)]
pub struct Client {
    script: &'static str,
    environment: Vec<(String, String)>,
}

/// How a script ended.
#[derive(Debug)]
pub struct ClientRun {
    /// True if every check of the script held.
    pub succeeded: bool,
    /// Its output, for the test's own message.
    pub output: String,
}

impl Client {
    /// The script with this file name, or the package of Go in this folder.
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
        let mut command = match self.script.strip_prefix("go/") {
            Some(package) => go_tests(package),
            None => self.interpreted(),
        };
        let output = command
            .envs(self.environment.iter().cloned())
            .output()
            .expect("the script can be started");
        ClientRun {
            succeeded: output.status.success(),
            output: text(&output),
        }
    }

    /// The script, behind the interpreter of its language.
    fn interpreted(&self) -> Command {
        let mut command = if self.script.ends_with(".js") {
            let mut node = Command::new("node");
            node.env("NODE_PATH", node_modules());
            node
        } else {
            let environment = environment();
            let mut python = Command::new(environment.join("bin").join("python"));
            python.env("PATH", search_path(environment));
            python
        };
        command.arg(clients_source().join(self.script));
        command
    }
}

/// Where the scripts are.
fn clients_source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// The tests of a package of `tests/clients/go`. Modules come as `go.sum` lists them, into the caches that Go has for all programs.
fn go_tests(package: &str) -> Command {
    let mut go = Command::new("go");
    // Go caches the success of tests until their code changes; the server is not part of that code.
    go.args(["test", "-count=1", "-v"])
        .arg(format!("./{package}"))
        .current_dir(clients_source().join("go"))
        .env("GOWORK", "off")
        .env("GOTOOLCHAIN", "local");
    go
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

/// The library that gives a program a clock of its own, installed on first use.
///
/// # Panics
///
/// When it cannot be installed, or is not built for this system: a test that cannot run is a failed test.
pub fn faketime() -> PathBuf {
    let places = environment().join("lib");
    let interpreters = std::fs::read_dir(&places).expect("an environment of Python has a lib");
    let library = interpreters
        .filter_map(Result::ok)
        .map(|it| {
            it.path()
                .join("site-packages/libfaketime/vendor/libfaketime/src/libfaketime.so.1")
        })
        .find(|it| it.is_file());
    library.expect("the package libfaketime has its library, for Linux on x86-64")
}

/// The interpreter of an environment of its own, in the folder `name` of the target folder, with what `requirements` lists.
///
/// # Panics
///
/// When that cannot be installed: a test that cannot run is a failed test.
pub fn python(name: &str, requirements: &Path) -> PathBuf {
    let environment = target_folder().join(name).join("environment");
    install(&environment, requirements).expect("what a test needs of Python must be installable");
    environment.join("bin").join("python")
}

/// The program for Node in the folder `source`, with the packages of its lock file beside it, in the folder `name` of the target folder:
/// modules find packages only from where they are themselves.
///
/// # Panics
///
/// When the packages cannot be installed: a test that cannot run is a failed test.
pub fn node_program(name: &str, source: &Path) -> PathBuf {
    let folder = target_folder().join(name);
    copy_for_node(&folder, source).expect("what a test needs of Node must be installable");
    folder
}

/// The virtual environment, installed once for every list of requirements.
fn environment() -> &'static Path {
    static ENVIRONMENT: OnceLock<PathBuf> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let environment = clients_folder();
        let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/requirements.txt");
        install(&environment, &requirements).expect("the clients must be installable");
        environment
    })
}

/// The folder of the packages for Node, installed once for every lock file.
fn node_modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let (folder, _lock) = locked_folder().expect("the target folder can be written");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/node");
        let folder = folder.join("node");
        install_for_node(&folder, &source).expect("the clients must be installable");
        folder.join("node_modules")
    })
}

/// Locks the folder of all environments until the file is dropped: test programs run one after the other, but two of them
/// may also be started by hand at one time.
fn locked_folder() -> Result<(PathBuf, std::fs::File)> {
    let folder = target_folder().join("clients");
    std::fs::create_dir_all(&folder)?;
    let lock = std::fs::File::create(folder.join("lock"))?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    Ok((folder, lock))
}

/// Installs what the lock file in `source` lists. The caller holds the lock.
fn install_for_node(environment: &Path, source: &Path) -> Result<()> {
    const LOCK: &str = "package-lock.json";
    let wanted = std::fs::read_to_string(source.join(LOCK))?;
    let stamp = environment.join("node_modules").join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(environment)?;
    for name in ["package.json", LOCK] {
        std::fs::copy(source.join(name), environment.join(name))?;
    }
    run(Command::new("npm")
        .args([
            "ci",
            "--engine-strict",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ])
        .current_dir(environment))
    .context("Node 20.19, 22.13, or 23.5 and newer and npm are needed for the tests")?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}

fn copy_for_node(folder: &Path, source: &Path) -> Result<()> {
    let (_, _lock) = locked_folder()?;
    install_for_node(folder, source)?;
    for file in std::fs::read_dir(source)? {
        let file = file?;
        if !file.file_type()?.is_file() {
            continue;
        }
        let (text, copy) = (std::fs::read(file.path())?, folder.join(file.file_name()));
        // A copy that is right is left alone: another test may be running it.
        if std::fs::read(&copy).ok().as_ref() != Some(&text) {
            std::fs::write(copy, text)?;
        }
    }
    Ok(())
}

fn install(environment: &Path, requirements: &Path) -> Result<()> {
    let (_, _lock) = locked_folder()?;
    let wanted = std::fs::read_to_string(requirements)?;
    let stamp = environment.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(environment))
    .context("python3 with its venv module is needed for the tests")?;
    run(Command::new(environment.join("bin/pip"))
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .arg(requirements))?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", text(&output));
    Ok(())
}
