//! `gatehouse config`: looking at settings, and the checks that `gatehouse server` makes before it starts (SEC-O5).

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use gatehouse::application_credentials;
use gatehouse::audit;
use gatehouse::listener::Certificate;
use gatehouse::outbound::Outbound;
use gatehouse::settings::{EffectiveSetting, Settings, SettingsError};
use gatehouse_store::read_key_file;

/// Permissions of the group and of everybody else.
const OTHERS: u32 = 0o077;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Names every problem of a configuration, or prints the settings in force
    Check(Source),
}

/// Where settings come from.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// Configuration file, in TOML
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Address to listen on, in place of listener.address
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Any setting, above the file and the environment; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", value_parser = parse_assignment)]
    set: Vec<(String, String)>,
}

impl Source {
    /// The settings with file, environment and flags laid over each other.
    pub(super) fn load(&self) -> Result<Settings, SettingsError> {
        let listen = self
            .listen
            .iter()
            .map(|address| ("listener.address".to_owned(), address.clone()));
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Settings::load(
            &self.config,
            environment,
            self.set.iter().cloned().chain(listen),
        )
    }
}

fn parse_assignment(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "expected SECTION.KEY=VALUE".to_owned())
}

pub(super) fn run(command: &Command) -> Result<()> {
    let Command::Check(source) = command;
    let settings = source.load()?;
    check_files(&settings)?;
    let mut output = std::io::stdout().lock();
    for setting in settings.effective() {
        writeln!(output, "{}", describe(setting))?;
    }
    Ok(())
}

/// Looks at the files that the settings name.
///
/// # Errors
///
/// Names everything that would stop a start.
pub(super) fn check_files(settings: &Settings) -> Result<()> {
    let mut problems: Vec<String> = Vec::new();
    if let Some(file) = &settings.seal.key_file
        && let Err(error) = read_key_file(file)
    {
        problems.push(format!("seal.key_file: {error}"));
    }
    if let Some((certificate, key)) = settings.listener.tls_files()
        && let Err(error) = Certificate::read(&certificate, &key)
    {
        problems.push(error.to_string());
    }
    if let Err(error) = Outbound::new(&settings.google, &settings.limits) {
        problems.push(error.to_string());
    }
    if let Some(file) = &settings.google.application_credentials
        && let Err(error) = application_credentials::read(file)
    {
        problems.push(error.to_string());
    }
    if let Some(directory) = &settings.storage.path {
        problems.extend(exposed_files(directory));
    }
    problems.extend(audit::problems(&settings.audit));
    if problems.is_empty() {
        return Ok(());
    }
    bail!("the files have problems:\n  {}", problems.join("\n  "));
}

/// The files of a store that others than their owner may use. A store that does not exist yet has none.
fn exposed_files(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            let mode = metadata.permissions().mode() & 0o7777;
            let path = entry.path();
            (metadata.is_file() && mode & OTHERS != 0).then(|| {
                format!(
                    "storage.path: others may use {path} (mode {mode:04o}); run: chmod 600 {path}",
                    path = path.display()
                )
            })
        })
        .collect()
}

/// A setting as a line of a configuration file, with its origin.
pub(super) fn describe(setting: &EffectiveSetting) -> String {
    match &setting.value {
        Some(value) => format!("{} = {value} ({})", setting.name, setting.origin),
        None => format!("{} is not set", setting.name),
    }
}
