//! The lines that the server logs.

pub use super::bindings::gatehouse::host::log::{
    Level as LogLevel, Line as LogLine, Lines as LogLines,
};

/// The lines that the server logs. The WIT interface is the specification.
pub trait Log {
    /// The lines of `level` and more severe ones that were logged after a position. Without a position there are no lines, and the position is that
    /// of now.
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines>;
}

/// A host that keeps no lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl Log for NoLog {
    fn follow(&self, _: Option<u64>, _: LogLevel) -> Option<LogLines> {
        None
    }
}
