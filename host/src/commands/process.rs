//! The process of a server: its log, its signals, and what the operating system may do with its memory.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::{Context, Result};
use gatehouse::audit::Sinks;
use gatehouse::settings::{LogFormat, LogSettings};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Sends the log to standard error.
pub(super) fn start_log(settings: &LogSettings) -> Result<()> {
    let filter: Targets = settings.level.parse().context("log.level")?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let lines = match settings.format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let log = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(gatehouse::log::layer());
    log.try_init()
        .map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
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

/// Files that are open beside the connections of clients: store, logs, outgoing calls.
const OPEN_BESIDE_CONNECTIONS: u64 = 256;

/// Lets the process have as many open files as the settings can ask for (SEC-O5).
///
/// # Errors
///
/// When the system allows fewer: the server would refuse clients long before the limit that its operator has set.
pub(super) fn allow_open_files(connections: usize) -> Result<()> {
    let needed = u64::try_from(connections)
        .unwrap_or(u64::MAX)
        .saturating_add(OPEN_BESIDE_CONNECTIONS);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    check_open_files(needed, limit.maximum)?;
    let raised = Rlimit {
        current: Some(needed),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised)
        .map_err(|error| anyhow::anyhow!("cannot have {needed} open files: {error}"))
}

/// True if a process that may have `allowed` open files at most, `None` for any number, can have as many as are needed.
fn check_open_files(needed: u64, allowed: Option<u64>) -> Result<()> {
    match allowed {
        Some(allowed) if allowed < needed => anyhow::bail!(
            "limits.connections needs {needed} open files and the system allows {allowed}; raise that limit (`ulimit -Hn`, LimitNOFILE) or \
             lower limits.connections to {}",
            allowed.saturating_sub(OPEN_BESIDE_CONNECTIONS)
        ),
        _ => Ok(()),
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

/// SIGTERM or SIGINT, which from the call on end this process in good order (SEC-O1).
pub(super) fn stop_signal() -> impl Future<Output = ()> + Send {
    let terminate = signal(SignalKind::terminate());
    let interrupt = signal(SignalKind::interrupt());
    async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) else {
            tracing::warn!("signals cannot be received; only killing ends this process");
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in work are finished, new ones are not taken");
    }
}

/// The result of a start, or `None` if `stop` is ready before: the start, which can wait for a database or for code to be compiled, is
/// given up where it is, and leaves what a killed one would leave.
pub(super) async fn unless_stopped<T>(
    stop: impl Future<Output = ()>,
    start: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = stop => None,
        started = start => Some(started),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o5_too_few_open_files_stop_the_start_and_the_limit_is_raised_as_far_as_needed() {
        assert!(check_open_files(10_256, None).is_ok());
        assert!(check_open_files(10_256, Some(10_256)).is_ok());
        let refused = check_open_files(10_256, Some(4_096)).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("lower limits.connections to 3840"), "{text}");
        let before = getrlimit(Resource::Nofile);
        if before.maximum.is_none_or(|maximum| maximum >= 1_256) {
            allow_open_files(1_000).unwrap();
            let after = getrlimit(Resource::Nofile);
            assert!(after.current.is_none_or(|current| current >= 1_256));
            assert_eq!(after.maximum, before.maximum);
        }
        assert!(allow_open_files(usize::MAX).is_err() || before.maximum.is_none());
    }

    #[tokio::test]
    async fn o1_a_start_is_given_up_at_the_signal_to_stop() {
        use std::future::{pending, ready};
        assert_eq!(unless_stopped(ready(()), pending::<()>()).await, None);
        assert_eq!(unless_stopped(ready(()), ready(1)).await, None);
        assert_eq!(unless_stopped(pending(), ready(1)).await, Some(1));
    }

    #[tokio::test]
    async fn o1_a_signal_before_the_first_look_counts() {
        let stop = stop_signal();
        let process = rustix::process::getpid();
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        stop.await;
    }
}
