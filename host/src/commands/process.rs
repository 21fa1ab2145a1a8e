//! The process of a server: its log, its signals, and what the operating system may do with its memory.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::{Context, Result};
use gatehouse::audit::Sinks;
use gatehouse::settings::{LogFormat, LogSettings};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Sends the log to standard error.
pub(super) fn start_log(settings: &LogSettings) -> Result<()> {
    let filter = EnvFilter::try_new(&settings.level).context("log.level")?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match settings.format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
}

/// Keeps the memory of the process, which holds keys, out of files (SEC-K6).
pub(super) fn forbid_core_dumps() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!("core dumps cannot be switched off: {error}");
    }
}

/// Reopens the audit log at every SIGHUP, which is how those who rotate files say that they have done it.
pub(super) fn reopen_on_hangup(mut hangup: Signal, audit: Option<Arc<Sinks>>) {
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            if let Some(audit) = &audit {
                audit.reopen();
            }
        }
    });
}

/// SIGHUP, which from now on does not end this process.
pub(super) fn hangup_signal() -> Result<Signal> {
    signal(SignalKind::hangup()).context("SIGHUP cannot be received")
}

/// Waits for SIGTERM or SIGINT (SEC-O1).
pub(super) async fn stop_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        tracing::warn!("signals cannot be received; only killing ends this process");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: requests in work are finished, new ones are not taken");
}
