//! The lines that the server logs.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::bindings::gatehouse::host::log as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/log@0.1.0";

/// How much a line matters, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Something failed that should not.
    Error,
    /// Something that the operator should look at.
    Warn,
    /// Actions of the server.
    Info,
    /// Details of its actions.
    Debug,
    /// The same, in all detail.
    Trace,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// How much it matters.
    pub level: LogLevel,
    /// The part of the server that says it.
    pub target: String,
    /// The message, without line breaks.
    pub text: String,
}

/// The lines that were logged since a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLines {
    /// In the order logged.
    pub lines: Vec<LogLine>,
    /// Where they end.
    pub position: u64,
    /// How many are not told because they are not kept any more.
    pub lost: u64,
}

/// The log, as components see it. The WIT interface is the specification.
pub trait Log: Send + Sync {
    /// The lines of `level` and of what matters more that were logged after a position; of `None` there are none, and it begins now.
    /// `None` where no lines are kept.
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines>;
}

/// Keeps no lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl Log for NoLog {
    fn follow(&self, _: Option<u64>, _: LogLevel) -> Option<LogLines> {
        None
    }
}

pub(super) fn bind(linker: &mut Linker<InstanceState>, log: &Arc<dyn Log>) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(log);
    instance.func_wrap(
        "follow",
        move |_, (after, level): (Option<u64>, wit::Level)| {
            let found = bound.follow(after, level.into());
            Ok((found.map(wit::Lines::from),))
        },
    )
}

impl From<wit::Level> for LogLevel {
    fn from(level: wit::Level) -> Self {
        match level {
            wit::Level::Error => Self::Error,
            wit::Level::Warn => Self::Warn,
            wit::Level::Info => Self::Info,
            wit::Level::Debug => Self::Debug,
            wit::Level::Trace => Self::Trace,
        }
    }
}

impl From<LogLevel> for wit::Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::Error,
            LogLevel::Warn => Self::Warn,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

impl From<LogLines> for wit::Lines {
    fn from(found: LogLines) -> Self {
        let lines = found.lines.into_iter().map(|line| wit::Line {
            time: line.time,
            level: line.level.into(),
            target: line.target,
            text: line.text,
        });
        Self {
            lines: lines.collect(),
            position: found.position,
            lost: found.lost,
        }
    }
}
