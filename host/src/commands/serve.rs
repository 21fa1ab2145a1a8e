//! `gatehouse server`.

use anyhow::Result;
use clap::Args;
use gatehouse::seal::witness::Witness;
use gatehouse::server::Server;
use gatehouse::settings::{Origin, Settings};

use super::components::compile_apart;
use super::configuration::{Source, check_files, describe};
use super::process::{
    allow_open_files, forbid_core_dumps, hangup_signal, reopen_on_hangup, start_log, stop_signal,
};

/// The sections that say who can reach what, which are shown whole; of the others the settings that an operator changed.
const SECURITY_SECTIONS: [&str; 6] = [
    "audit.",
    "listener.",
    "storage.",
    "seal.",
    "google.",
    "compatibility.",
];

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Goes on with a store that is an older copy than seal.witness has seen. Tokens that were revoked since may be valid again
    #[arg(long)]
    accept_rollback: bool,
}

pub(super) async fn run(arguments: Arguments) -> Result<()> {
    let settings = arguments.source.load()?;
    start_log(&settings.log)?;
    forbid_core_dumps();
    check_files(&settings)?;
    allow_open_files(settings.limits.connections)?;
    log_security_settings(&settings);
    if arguments.accept_rollback
        && let Some(witness) = &settings.seal.witness
    {
        tracing::warn!(
            "whatever copy of the store is found is taken for the newest: --accept-rollback"
        );
        Witness::new(witness.clone()).forget()?;
    }

    let hangup = hangup_signal()?;
    compile_apart(settings.components.cache_directory.as_deref());
    let server = Server::start(&settings).await?;
    let scheme = if settings.listener.tls_files().is_some() {
        "https"
    } else {
        "http"
    };
    tracing::info!("serving at {scheme}://{}", server.local_address());
    reopen_on_hangup(hangup, server.audit());
    server.serve(stop_signal()).await;
    tracing::info!("stopped");
    Ok(())
}

/// Tells what is in force (SEC-O5).
fn log_security_settings(settings: &Settings) {
    for setting in settings.effective() {
        let concerns_security = SECURITY_SECTIONS
            .iter()
            .any(|section| setting.name.starts_with(section));
        if concerns_security || setting.origin != Origin::Default {
            tracing::info!("{}", describe(setting));
        }
    }
}
