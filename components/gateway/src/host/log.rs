//! The lines that the server logs.

use serde::{Deserialize, Serialize};

/// How much a line matters, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Something failed that should not.
    Error,
    /// Something that the operator should look at.
    Warn,
    /// The actions of the server.
    Info,
    /// The actions of the server in detail.
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
    /// The text of the line, without line breaks.
    pub text: String,
}

/// The lines that have been logged since a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogLines {
    /// In the order logged.
    pub lines: Vec<LogLine>,
    /// Where they end.
    pub position: u64,
    /// How many lines are not told because the host keeps a bounded number.
    pub lost: u64,
}

/// The lines that the server logs.
pub trait Log {
    /// The lines of `level` and of what matters more that were logged after a position; of `None` there are none, and it begins now. `None`
    /// where the host keeps no lines.
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
