//! The process of a server: its log, its signals, and what the operating system may do with its memory.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use gatehouse::listener::ACCESS_LOG;
use gatehouse::log::Naming;
use gatehouse::settings::{AccessLog, LogFormat, Settings};
use gatehouse::traces::Exporter;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

use super::access_file::AccessFile;
use super::reload::{Level, level_filter};

/// Most lines of the access log that wait for their reader. Further ones are dropped.
const WAITING_LINES: usize = 16_384;

/// The log of this process.
pub(super) struct Log {
    /// The level of the lines on standard error, which can be changed.
    pub(super) level: Level,
    /// The access log, if there is one.
    pub(super) access: Option<AccessWriter>,
    _traces: Option<Exporter>,
}

/// The writer of the access log, which is written to its end when this is dropped.
pub(super) struct AccessWriter {
    dropped: ErrorCounter,
    /// The file that it goes to, if it goes to one.
    pub(super) file: Option<AccessFile>,
    _guard: WorkerGuard,
}

impl AccessWriter {
    /// Counts the lines that were lost so far: dropped because the reader was too slow, or not written to a full disk.
    pub(super) fn lost_lines(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let (dropped, file) = (self.dropped.clone(), self.file.clone());
        move || dropped.dropped_lines() as u64 + file.as_ref().map_or(0, AccessFile::lost)
    }
}

impl Drop for AccessWriter {
    fn drop(&mut self) {
        let lines = self.lost_lines()();
        if lines > 0 {
            tracing::warn!(
                lines,
                "the access log has lost lines: its reader was too slow, or its disk full"
            );
        }
    }
}

/// Sends the log to standard error, and the access log and traces where the settings say.
pub(super) fn start_log(settings: &Settings) -> Result<Log> {
    let filter = level_filter(&settings.log.level).context("log.level")?;
    let (filter, level) = reload::Layer::new(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let lines = match settings.log.format {
        LogFormat::Text => lines.map_event_format(Naming::new).boxed(),
        LogFormat::Json => lines.json().map_event_format(Naming::new).boxed(),
    };
    let (access, writer) = access_log(&settings.log.access)?.unzip();
    let traces = Exporter::start(&settings.telemetry, &settings.node.name())?;
    // A layer that is `None` would have every callsite of every library enabled.
    let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = vec![
        lines.with_filter(filter).boxed(),
        gatehouse::log::layer().boxed(),
    ];
    layers.extend(access.map(Layer::boxed));
    layers.extend(traces.as_ref().map(|traces| traces.layer().boxed()));
    let log = tracing_subscriber::registry().with(layers);
    log.try_init()
        .map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))?;
    Ok(Log {
        level: Level(level),
        access: writer,
        _traces: traces,
    })
}

/// A line of JSON for each answer. A reader that is slow loses lines and keeps no request waiting.
fn access_log<S>(to: &AccessLog) -> Result<Option<(impl Layer<S> + use<S>, AccessWriter)>>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    let lines = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES);
    let mut file = None;
    let (lines, guard) = match to {
        AccessLog::None => return Ok(None),
        AccessLog::Stdout => lines.finish(std::io::stdout()),
        AccessLog::Stderr => lines.finish(std::io::stderr()),
        AccessLog::File(path) => lines.finish(file.insert(AccessFile::open(path)?).clone()),
    };
    let writer = AccessWriter {
        dropped: lines.error_counter(),
        file,
        _guard: guard,
    };
    let layer = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_level(false)
        .with_writer(lines)
        .with_filter(Targets::new().with_target(ACCESS_LOG, LevelFilter::INFO));
    Ok(Some((layer, writer)))
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

/// SIGHUP, which from now on does not end this process.
pub(super) fn hangup_signal() -> Result<Signal> {
    signal(SignalKind::hangup()).context("SIGHUP cannot be received")
}

/// SIGTERM or SIGINT, which from the call on do not end this process: what is returned becomes ready (SEC-O1).
pub(super) fn stop_signal() -> impl Future<Output = ()> + Send {
    // Not in the future, which may not be polled before the signal comes.
    let signals = signal(SignalKind::terminate())
        .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)));
    async move {
        let Ok((mut terminate, mut interrupt)) = signals else {
            tracing::warn!("signals cannot be received; only SIGKILL ends this process");
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in progress are finished, new ones are not accepted");
    }
}

/// Does `start`, a part of starting; `None` where `stop` was ready first (SEC-O1).
///
/// It is a task of its own: parts of a start compute for seconds without a pause in which the signal could be noticed.
///
/// # Errors
///
/// When the part fails.
pub(super) async fn unless_stopped<T: Send + 'static>(
    start: impl Future<Output = Result<T>> + Send + 'static,
    stop: impl Future<Output = ()>,
) -> Result<Option<T>> {
    let mut start = tokio::spawn(start);
    tokio::select! {
        biased;
        () = stop => {
            start.abort();
            tracing::info!("the start is given up");
            Ok(None)
        }
        started = &mut start => started.context("the start was cut off")?.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn o1_a_start_is_given_up_when_the_signal_has_come_and_done_when_it_has_not() {
        let started = unless_stopped(async { Ok(7) }, pending()).await;
        assert_eq!(started.unwrap(), Some(7));
        let endless = pending::<Result<()>>();
        assert!(unless_stopped(endless, ready(())).await.unwrap().is_none());
        // Both are ready: who asked for the end is not answered with a server.
        let at_once = unless_stopped(async { Ok(7) }, ready(())).await;
        assert_eq!(at_once.unwrap(), None);
        let failing = async { Err::<(), _>(anyhow::anyhow!("no store")) };
        let failed = unless_stopped(failing, pending());
        assert_eq!(failed.await.unwrap_err().to_string(), "no store");
    }

    #[tokio::test]
    async fn o1_a_signal_counts_from_the_call_on_and_not_from_the_first_wait() {
        let stop = stop_signal();
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, rustix::process::Signal::TERM).unwrap();
        stop.await;
    }

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
}
