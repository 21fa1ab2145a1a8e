//! The cost of a request in Spin itself, measured with a component that does as little as possible: no component is faster under Spin.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use gatehouse_spin_floor::{
    HELLO, KEEP_INSTANCES, PREPARE, READ, WRITE, manifest, runtime_configuration,
};
use gatehouse_tests::{Program, ServerProcess, free_address, real_spin, target_folder, workspace};

use crate::cores::Cores;
use crate::load::{Load, Measured, Target, measure, request};

const PACKAGE: &str = "gatehouse-spin-floor";
const TARGET: &str = "wasm32-wasip2";
/// The build profile, which is that of the components that are measured beside this one.
const PROFILE: &str = "component";

/// The work of the component.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// Answers.
    Hello,
    /// Reads four rows in one statement, and answers.
    Read,
    /// Writes a row in one statement and waits for the disk, and answers.
    Write,
}

impl Work {
    const fn path(self) -> &'static str {
        match self {
            Self::Hello => HELLO,
            Self::Read => READ,
            Self::Write => WRITE,
        }
    }
}

/// Compiles the component, and returns its file.
///
/// # Errors
///
/// When it does not compile.
pub fn component() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let folder = target_folder().join("spin-floor");
    let status = Command::new(cargo)
        .current_dir(workspace())
        .args(["rustc", "--quiet", "--locked", "--package", PACKAGE])
        .args(["--lib", "--crate-type", "cdylib"])
        .args(["--profile", PROFILE, "--target", TARGET])
        .arg("--target-dir")
        .arg(&folder)
        .status()
        .context("cannot run cargo")?;
    ensure!(
        status.success(),
        "the component of the floor does not compile"
    );
    let file = format!("{}.wasm", PACKAGE.replace('-', "_"));
    Ok(folder.join(TARGET).join(PROFILE).join(file))
}

/// A Spin that serves the component.
pub struct Floor {
    server: Target,
    // The process ends before its folder is removed.
    _process: ServerProcess,
    _folder: tempfile::TempDir,
}

impl Floor {
    /// Starts it as the Spin of the tests is started, on the core for servers.
    ///
    /// # Errors
    ///
    /// When there is no real Spin, or it does not start or cannot make the tables.
    pub fn start(cores: &Cores, component: &Path) -> Result<Self> {
        let spin = real_spin().context("no real Spin")?;
        let folder = tempfile::tempdir()?;
        let [application, runtime, database, state] =
            ["spin.toml", "runtime.toml", "floor.sqlite", "state"]
                .map(|name| folder.path().join(name));
        fs::write(&application, manifest(component))?;
        fs::write(&runtime, runtime_configuration(&database))?;
        let address = free_address();
        let [keep, instances] = KEEP_INSTANCES;
        let arguments = [
            "up",
            keep,
            instances,
            "--runtime-config-file",
            text(&runtime)?,
            "--state-dir",
            text(&state)?,
            "--listen",
            &address,
            // The manifest comes last, where other programs are given their configuration file.
            "--from",
        ];
        let program = Program {
            path: spin.into(),
            arguments: arguments.map(str::to_owned).to_vec(),
            needs_database: false,
            has_children: true,
            first_root_token: None,
        };
        let output = File::create(folder.path().join("output"))?;
        cores.enter_server_core()?;
        let process = ServerProcess::start(&program, &application, &address, output)?;
        cores.enter_load_core()?;
        let prepared = process.send("GET", PREPARE, None, None);
        ensure!(prepared.status == 200, "tables of the floor: {prepared:?}");
        Ok(Self {
            server: Target {
                address: address.parse()?,
                process: process.id(),
            },
            _process: process,
            _folder: folder,
        })
    }

    /// Measures repeated requests for one work, over the connections of `load`.
    ///
    /// # Errors
    ///
    /// When an answer is not as expected.
    pub fn measured(&self, work: Work, load: Load) -> Result<Measured> {
        let request = request("GET", work.path(), None, "");
        measure(self.server, &[request], load).with_context(|| format!("{work:?}"))
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the folder is not named in UTF-8")
}
