//! A real Spin in place of this host, with the manifest that users have: the same checks run against it.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use gatehouse::settings::{Settings, StorageType};
use gatehouse_spin_floor::KEEP_INSTANCES;

use crate::application::{STORES, Surroundings};

/// Where the manifests expect the components.
const PARTS: &str = "target/components/spin/";
/// The beginning of the list of hosts that components may call.
const HOSTS: &str = "allowed_outbound_hosts = [";
/// The manifests for versions of Spin that make an instance for each request.
const FOR_SPIN_3: [&str; 2] = ["spin-3.toml", "spin-3-postgres.toml"];
/// The variable that repeats the host and port of the database.
const POSTGRES_HOST: &str = "postgres_host";

/// The programs and files of a run.
pub struct RealSpin {
    /// The program `spin`.
    pub program: PathBuf,
    /// One of the repository's manifests.
    pub manifest: PathBuf,
    /// The folder of the components that it names.
    pub parts: PathBuf,
}

impl RealSpin {
    /// Becomes `spin up` with the address, variables, environment and stores of a server with these settings. Its files lie in `folder`,
    /// which the process that started it removes.
    ///
    /// # Errors
    ///
    /// When a file cannot be written, or Spin cannot be started; otherwise it does not return.
    pub fn run(
        &self,
        settings: &Settings,
        address: SocketAddr,
        surroundings: Surroundings,
        folder: &Path,
    ) -> Result<()> {
        let folder = folder.join(format!("spin-{}", address.port()));
        fs::create_dir_all(&folder)?;
        let manifest = self.manifest()?;
        let mut variables = surroundings.variables;
        if let Some(url) = &settings.storage.url {
            variables.insert(POSTGRES_HOST.to_owned(), host_of(url)?);
        }
        let is_declared = |name: &str| manifest.contains(&format!("\n{name} = {{"));
        variables.retain(|name, _| is_declared(name));
        fs::write(folder.join("spin.toml"), &manifest)?;
        fs::write(folder.join("runtime.toml"), stores(settings, &folder)?)?;
        let mut spin = Command::new(&self.program);
        spin.arg("up")
            .arg("--from")
            .arg(folder.join("spin.toml"))
            .arg("--runtime-config-file")
            .arg(folder.join("runtime.toml"))
            .arg("--state-dir")
            .arg(folder.join("state"))
            .args(["--listen", &address.to_string()]);
        if !FOR_SPIN_3.iter().any(|name| self.manifest.ends_with(name)) {
            spin.args(KEEP_INSTANCES);
        }
        for (name, value) in variables {
            spin.arg("--variable").arg(format!("{name}={value}"));
        }
        for (name, value) in surroundings.environment {
            spin.arg("--env").arg(format!("{name}={value}"));
        }
        Err(spin.exec()).with_context(|| format!("cannot run {}", self.program.display()))
    }

    /// The manifest with the components where they are, and with the Google of the tests among the hosts that may be called.
    fn manifest(&self) -> Result<String> {
        let text = fs::read_to_string(&self.manifest)?;
        ensure!(text.contains(PARTS) && text.contains(HOSTS), "no manifest");
        let parts = format!("{}/", self.parts.display());
        let text = text.replace(PARTS, &parts);
        Ok(text.replace(HOSTS, &format!("{HOSTS}\n    \"http://127.0.0.1:*\",")))
    }
}

/// The file that says where databases and key-value stores are.
fn stores(settings: &Settings, folder: &Path) -> Result<String> {
    let place = match (settings.storage.kind, &settings.storage.path) {
        (StorageType::Redb, Some(path)) => path.clone(),
        _ => {
            let short_lived = folder.join("databases");
            if short_lived.exists() {
                fs::remove_dir_all(&short_lived)?;
            }
            short_lived
        }
    };
    fs::create_dir_all(&place)?;
    let mut text = String::new();
    for label in STORES {
        for (kind, ending) in [("sqlite_database", "sqlite"), ("key_value_store", "db")] {
            let file = place.join(format!("{label}.{ending}"));
            writeln!(text, "[{kind}.{label}]\ntype = \"spin\"\npath = {file:?}\n")?;
        }
    }
    Ok(text)
}

/// Host and port in the address of a database.
fn host_of(url: &str) -> Result<String> {
    let rest = url.split_once("://").map(|(_, rest)| rest);
    let authority = rest.and_then(|rest| rest.split(['/', '?']).next());
    let authority = authority.context("storage.url has no host")?;
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    Ok(host.to_owned())
}
