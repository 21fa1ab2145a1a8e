//! `gatehouse config`: checking and describing settings, and the checks that `gatehouse server` makes before it starts (SEC-O5).

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use gatehouse::application_credentials;
use gatehouse::audit;
use gatehouse::database;
use gatehouse::listener::{Certificate, CertificateError};
use gatehouse::outbound::Outbound;
use gatehouse::settings::{
    AccessLog, EffectiveSetting, Settings, SettingsError, SettingsReference, StorageType,
};
use gatehouse_store::read_key_file;

use super::bootstrap;
use super::output::tell;
use super::runtime::on_runtime;

/// Permissions of the group and of all other users.
const OTHERS: u32 = 0o077;
/// Permissions of all other users alone. The group of a TLS key is often that of all servers of a machine.
const STRANGERS: u32 = 0o007;
const WRITABLE_BY_OTHERS: u32 = 0o022;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Names every problem of a configuration, or prints the settings in force
    Check(Source),
    /// Prints every setting with its meaning, form, unit, default and environment variable
    Reference,
    /// Prints the JSON Schema of configuration files, by which editors complete and check them
    Schema,
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
    /// Any setting; overrides the file and the environment; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", value_parser = parse_assignment)]
    set: Vec<(String, String)>,
}

impl Source {
    /// The settings of this file with others laid over it.
    pub(super) const fn new(config: PathBuf, set: Vec<(String, String)>) -> Self {
        Self {
            config,
            listen: None,
            set,
        }
    }

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

pub(super) fn parse_assignment(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "expected SECTION.KEY=VALUE".to_owned())
}

pub(super) fn run(command: &Command) -> Result<()> {
    let mut output = std::io::stdout().lock();
    match command {
        Command::Check(source) => check(source),
        Command::Reference => Ok(output.write_all(SettingsReference::new().page().as_bytes())?),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&SettingsReference::new().schema())?;
            Ok(writeln!(output, "{schema}")?)
        }
    }
}

fn check(source: &Source) -> Result<()> {
    let settings = source.load()?;
    check_files(&settings)?;
    if settings.storage.kind == StorageType::Postgresql
        && let Some(warning) = on_runtime(database::check(&settings))?
    {
        tell(warning);
    }
    let mut output = std::io::stdout().lock();
    for setting in settings.effective() {
        writeln!(output, "{}", describe(setting))?;
    }
    Ok(())
}

/// Checks the files that the settings name.
///
/// # Errors
///
/// Names everything that would stop a start, each with the line of the setting that names the file.
pub(super) fn check_files(settings: &Settings) -> Result<()> {
    let mut problems = FileProblems {
        settings,
        told: Vec::new(),
    };
    if let Some(file) = &settings.seal.key_file
        && let Err(error) = read_key_file(file)
    {
        problems.add("seal.key_file", format!("seal.key_file: {error}"));
    }
    if let Some((certificate, key)) = settings.listener.tls_files()
        && let Err(error) = Certificate::read(&certificate, &key)
    {
        let setting = match error {
            CertificateError::Key { .. } => KEY,
            CertificateError::Certificate { .. } | CertificateError::Pair(_) => CERTIFICATE,
        };
        problems.add(setting, error.to_string());
    }
    if let Err(error) = Outbound::new(&settings.google, &settings.limits) {
        problems.add("google.ca_file", error.to_string());
    }
    if let Some(file) = &settings.google.application_credentials
        && let Err(error) = application_credentials::read(file)
    {
        problems.add("google.application_credentials", error.to_string());
    }
    if let Some((_, key)) = settings.listener.tls_files()
        && let Some(mode) = mode_of(&key).filter(|mode| mode & STRANGERS != 0)
    {
        let problem = format!(
            "{KEY}: every user may use {path} (mode {mode:04o}); run: chmod o= {path}",
            path = key.display()
        );
        problems.add(KEY, problem);
    }
    if let Some(file) = &settings.storage.password_file {
        let path = file.display();
        let problem = match mode_of(file) {
            None => Some(format!("{PASSWORD}: {path} is not there")),
            Some(mode) => (mode & OTHERS != 0).then(|| {
                format!(
                    "{PASSWORD}: others may use {path} (mode {mode:04o}); run: chmod 600 {path}"
                )
            }),
        };
        if let Some(problem) = problem {
            problems.add(PASSWORD, problem);
        }
    }
    if let Some(directory) = &settings.storage.path {
        if let Some(mode) = mode_of(directory).filter(|mode| mode & WRITABLE_BY_OTHERS != 0) {
            let problem = format!(
                "{STORE}: others may change what is in {path} (mode {mode:04o}); run: chmod go-w {path}",
                path = directory.display()
            );
            problems.add(STORE, problem);
        }
        for problem in exposed_files(directory) {
            problems.add(STORE, problem);
        }
    }
    if let AccessLog::File(path) = &settings.log.access
        && !path.parent().is_some_and(Path::is_dir)
    {
        let problem = format!(
            "log.access: the folder of {} is not there; make it, writable for the user of the server",
            path.display()
        );
        problems.add("log.access", problem);
    }
    if let Some(file) = &settings.bootstrap.file
        && let Err(error) = bootstrap::read(file)
    {
        problems.add("bootstrap.file", format!("{error:#}"));
    }
    for (setting, problem) in audit::problems(&settings.audit) {
        problems.add(&setting, format!("{setting}: {problem}"));
    }
    let told = problems.told;
    if told.is_empty() {
        return Ok(());
    }
    bail!("the files have problems:\n  {}", told.join("\n  "));
}

const CERTIFICATE: &str = "listener.tls_cert_file";
const KEY: &str = "listener.tls_key_file";
const PASSWORD: &str = "storage.password_file";
const STORE: &str = "storage.path";

/// The problems of the files that `settings` name.
struct FileProblems<'s> {
    settings: &'s Settings,
    told: Vec<String>,
}

impl FileProblems<'_> {
    /// Notes a problem, after the line of the setting that names the file.
    fn add(&mut self, setting: &str, problem: String) {
        self.told.push(match self.settings.line_of(setting) {
            Some(line) => format!("line {line}: {problem}"),
            None => problem,
        });
    }
}

/// The permission bits of what stands there; `None` where nothing does.
fn mode_of(path: &Path) -> Option<u32> {
    let metadata = path.metadata().ok()?;
    Some(metadata.permissions().mode() & 0o7777)
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use tempfile::TempDir;

    use super::*;

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// A folder with everything that a durable server with TLS needs, and its settings.
    fn place() -> (TempDir, Settings) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(
            &at("key"),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            0o600,
        );
        fs::create_dir(at("store")).unwrap();
        fs::set_permissions(at("store"), Permissions::from_mode(0o700)).unwrap();
        write(&at("store/gatehouse.redb"), "", 0o600);
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        write(&at("cert.pem"), &pair.cert.pem(), 0o644);
        write(&at("tls.pem"), &pair.signing_key.serialize_pem(), 0o640);
        let text = format!(
            "[storage]\npath = {:?}\n[seal]\nkey_file = {:?}\n[listener]\ntls_cert_file = {:?}\ntls_key_file = {:?}\n",
            at("store"),
            at("key"),
            at("cert.pem"),
            at("tls.pem")
        );
        let settings = Settings::from_text(&text, Vec::new(), Vec::new()).unwrap();
        (folder, settings)
    }

    #[test]
    fn o5_each_fault_of_a_file_stops_the_start_and_says_what_mends_it() {
        let (folder, settings) = place();
        check_files(&settings).unwrap();
        for (name, mode, good, line, mends) in [
            ("key", 0o640, 0o600, "line 4: seal.key_file: ", "chmod 600"),
            ("key", 0o604, 0o600, "line 4: seal.key_file: ", "chmod 600"),
            (
                "store",
                0o770,
                0o700,
                "line 2: storage.path: ",
                "chmod go-w",
            ),
            (
                "store",
                0o702,
                0o700,
                "line 2: storage.path: ",
                "chmod go-w",
            ),
            (
                "store/gatehouse.redb",
                0o644,
                0o600,
                "line 2: storage.path: ",
                "chmod 600",
            ),
            (
                "store/gatehouse.redb",
                0o620,
                0o600,
                "line 2: storage.path: ",
                "chmod 600",
            ),
            (
                "tls.pem",
                0o644,
                0o640,
                "line 7: listener.tls_key_file: ",
                "chmod o=",
            ),
        ] {
            let path = folder.path().join(name);
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refused = check_files(&settings).unwrap_err().to_string();
            assert!(refused.contains(mends), "{name} {mode:o}: {refused}");
            assert!(refused.contains(line), "{name} {mode:o}: {refused}");
            assert!(refused.contains(name), "{refused}");
            fs::set_permissions(&path, Permissions::from_mode(good)).unwrap();
            check_files(&settings).unwrap();
        }
        for name in ["key", "tls.pem", "cert.pem"] {
            let path = folder.path().join(name);
            let kept = fs::read(&path).unwrap();
            for text in ["", "nonsense"] {
                fs::write(&path, text).unwrap();
                let refused = check_files(&settings).unwrap_err().to_string();
                assert!(!refused.contains("nonsense"), "{refused}");
            }
            fs::remove_file(&path).unwrap();
            check_files(&settings).unwrap_err();
            write(&path, &String::from_utf8(kept).unwrap(), 0o600);
            check_files(&settings).unwrap();
        }
    }

    #[test]
    fn o5_the_settings_in_force_are_told_without_what_the_files_hold() {
        let (folder, settings) = place();
        let told: Vec<String> = settings.effective().iter().map(describe).collect();
        let told = told.join("\n");
        for shown in [
            "seal.key_file",
            "storage.path",
            "listener.tls_key_file",
            "limits.connections",
        ] {
            assert!(told.contains(shown), "{told}");
        }
        for name in ["key", "tls.pem"] {
            let secret = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(
                !secret
                    .lines()
                    .any(|line| line.len() > 20 && told.contains(line))
            );
        }
    }
}
