//! The audit log.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::Answer;
use super::bindings::gatehouse::host::audit as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/audit@0.1.0";

pub use wit::{Entry as AuditEntry, Failure as AuditFailure, Side, Sink as AuditSink};

/// An audit log. The WIT interface is the specification.
pub trait AuditLog: Send + Sync {
    /// Whether there is any sink.
    fn is_on(&self) -> bool;

    /// Writes a record, durably in at least one sink.
    fn write(&self, entry: AuditEntry) -> Answer<'_, Result<(), AuditFailure>>;

    /// All sinks, sorted by name.
    fn sinks(&self) -> Vec<AuditSink>;

    /// What the records of a sink show in place of `text`; `None` where there is no such sink.
    fn hash(&self, sink: &str, text: &str) -> Option<String>;
}

/// No audit log at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAudit;

impl AuditLog for NoAudit {
    fn is_on(&self) -> bool {
        false
    }

    fn write(&self, _: AuditEntry) -> Answer<'_, Result<(), AuditFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn sinks(&self) -> Vec<AuditSink> {
        Vec::new()
    }

    fn hash(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    log: &Arc<dyn AuditLog>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(log);
    instance.func_wrap("is-on", move |_, ()| Ok((bound.is_on(),)))?;
    let bound = Arc::clone(log);
    instance.func_wrap_async("write", move |_, (entry,): (AuditEntry,)| {
        let log = Arc::clone(&bound);
        Box::new(async move { Ok((log.write(entry).await,)) })
    })?;
    let bound = Arc::clone(log);
    instance.func_wrap("sinks", move |_, ()| Ok((bound.sinks(),)))?;
    let bound = Arc::clone(log);
    instance.func_wrap("hash", move |_, (sink, text): (String, String)| {
        Ok((bound.hash(&sink, &text),))
    })
}
