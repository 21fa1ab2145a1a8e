//! The import `gatehouse:host/log`: the lines that the server logs.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::bindings::gatehouse::host::log as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/log@0.1.0";

pub use wit::{Level as LogLevel, Line as LogLine, Lines as LogLines};

/// The log, as components see it. The WIT interface is the specification.
pub trait Log: Send + Sync {
    /// The lines of `level` and of what matters more that were logged after a position; of `None` there are none, and it begins now.
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
        move |_, (after, level): (Option<u64>, LogLevel)| Ok((bound.follow(after, level),)),
    )
}
