//! `gatehouse dev`: everything for a first login in one command, and nothing that is kept (SEC-K3).

mod guide;
mod setup;

use std::ffi::OsString;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gatehouse::server::Server;
use gatehouse::settings::{Edition, Settings};
use gatehouse_fake_google::{Description, FakeGoogle, FakeGoogleOptions, Population};
use serde::Serialize;

use super::components::compile_apart;
use super::process::{forbid_core_dumps, start_log, stop_signal, unless_stopped};
use guide::Guide;

/// The settings that the environment may change in dev mode. The rest is fixed, so that nothing becomes durable or public.
const VARIABLES: [&str; 6] = [
    "GATEHOUSE_COMPONENTS_",
    "GATEHOUSE_CONSOLE_",
    "GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS",
    "GATEHOUSE_LIMITS_",
    "GATEHOUSE_LOG_",
    "GATEHOUSE_VERSION_",
];

/// The values of settings in dev mode unless the environment says otherwise.
///
/// The credentials that developers have for their own work stay out, although a server would find them.
const DEFAULTS: &str =
    "log.level = \"warn\"\ngoogle.application_credentials = \"none\"\nconsole.enabled = true\n";

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Address to listen on; it must be on this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8200")]
    listen: SocketAddr,
    /// Root token to use in place of a random one
    #[arg(long, value_name = "TEXT")]
    root_token: Option<String>,
    /// Product that the organizations API behaves like
    #[arg(long, value_parser = edition_parser(), default_value = Edition::Hosted.as_str())]
    edition: Edition,
    /// Prints one line of JSON, when ready, in place of the guide
    #[arg(long)]
    json: bool,
}

fn edition_parser() -> impl TypedValueParser<Value = Edition> {
    let known = PossibleValuesParser::new(Edition::ALL.map(Edition::as_str));
    known.try_map(|text| Edition::from_text(&text).ok_or("no edition"))
}

/// The description that programs read which start a dev server.
#[derive(Serialize)]
struct Ready<'a> {
    address: &'a str,
    root_token: &'a str,
    site_admin_token: &'a str,
    google: &'a Description,
}

pub(super) async fn run(arguments: Arguments) -> Result<()> {
    if !arguments.listen.ip().is_loopback() {
        bail!(
            "dev mode listens on this machine only, and {} can be reached from others; use 127.0.0.1, or `gatehouse server`",
            arguments.listen
        );
    }
    let google = FakeGoogle::start(FakeGoogleOptions::default())
        .await
        .context("cannot start the fake Google")?;
    let settings = settings(&arguments, &google, std::env::vars_os())?;
    let _log = start_log(&settings)?;
    let mut stop = std::pin::pin!(stop_signal());
    forbid_core_dumps();
    tracing::warn!(
        "dev mode: records are kept in memory only, and every program on this machine can reach the server"
    );

    let has_console = settings.console.enabled;
    let start = async move {
        compile_apart(settings.components.cache_directory.as_deref()).await;
        Server::start(&settings).await
    };
    let Some(server) = unless_stopped(start, stop.as_mut()).await? else {
        return Ok(());
    };
    let initialized = setup::run(&*server.handler(), &google, arguments.root_token.as_deref())
        .await
        .context("cannot set up the dev server")?;

    let address = format!("http://{}", server.local_address());
    let folder = tempfile::Builder::new()
        .prefix("gatehouse-dev-")
        .tempdir()
        .context("cannot create a temporary directory")?;
    let key_file = write_key_file(folder.path(), &google)?;
    if arguments.json {
        let ready = Ready {
            address: &address,
            root_token: &initialized.root_token,
            site_admin_token: &initialized.site_admin_token,
            google: &google.description()?,
        };
        print(&format!("{}\n", serde_json::to_string(&ready)?))?;
    } else {
        let guide = Guide {
            address: &address,
            root_token: &initialized.root_token,
            site_admin_token: &initialized.site_admin_token,
            unseal_keys: &initialized.unseal_keys,
            google: &google.base_url(),
            has_console,
            key_file: &key_file,
        };
        print(&guide.to_string())?;
    }
    server.serve(stop).await;
    Ok(())
}

fn settings(
    arguments: &Arguments,
    google: &FakeGoogle,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Settings> {
    let environment = environment
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| VARIABLES.iter().any(|prefix| name.starts_with(prefix)));
    let fixed = [
        ("listener.address", arguments.listen.to_string()),
        ("storage.type", "memory".to_owned()),
        ("google.token_url", google.token_url()),
        ("google.metadata_host", google.address().to_string()),
        ("google.sts_url", format!("{}/v1/token", google.base_url())),
        ("google.iam_credentials_url", google.base_url()),
        ("google.allow_http_loopback", "true".to_owned()),
        (
            "organizations.edition",
            arguments.edition.as_str().to_owned(),
        ),
    ];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value));
    Ok(Settings::from_text(DEFAULTS, environment, fixed)?)
}

/// Writes the workload's key file, for the first login.
fn write_key_file(folder: &Path, google: &FakeGoogle) -> Result<PathBuf> {
    let path = folder.join("workload.json");
    let content = google.credentials_json(Population::WORKLOAD)?;
    let write = || {
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?
            .write_all(content.as_bytes())
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn print(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const ARGUMENTS: Arguments = Arguments {
        listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
        root_token: None,
        edition: Edition::Hosted,
        json: false,
    };

    async fn settings_with(environment: &[(&str, &str)]) -> Settings {
        let google = FakeGoogle::start(FakeGoogleOptions::default())
            .await
            .unwrap();
        let environment = environment
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = settings(&ARGUMENTS, &google, environment).unwrap();
        let host = settings.google.metadata_host.clone().unwrap();
        assert_eq!(format!("http://{host}"), google.base_url());
        settings
    }

    #[tokio::test]
    async fn the_credentials_of_the_developer_stay_out_unless_asked_for() {
        let developers = [
            (
                "GOOGLE_APPLICATION_CREDENTIALS",
                "key-of-the-developer.json",
            ),
            ("GCE_METADATA_HOST", "metadata.example.com"),
        ];
        let settings = settings_with(&developers).await;
        assert_eq!(settings.google.application_credentials, None);

        let asked = [("GATEHOUSE_GOOGLE_APPLICATION_CREDENTIALS", "/tmp/key.json")];
        let settings = settings_with(&asked).await;
        assert_eq!(
            settings.google.application_credentials,
            Some(PathBuf::from("/tmp/key.json"))
        );
    }
}
