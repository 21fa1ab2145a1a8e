//! The import `gatehouse:host/audit`: the audit log.

use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::Linker;

use super::audit_log::{AuditEntry, AuditLog};
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/audit@0.1.0";

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    log: &Arc<dyn AuditLog>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(log);
    instance.func_wrap("is-on", move |_, ()| Ok((bound.is_on(),)))?;
    let bound = Arc::clone(log);
    instance.func_wrap_async(
        "write",
        move |mut store: StoreContextMut<'_, InstanceState>, (entry,): (AuditEntry,)| {
            let log = Arc::clone(&bound);
            Box::new(async move {
                // Before the record is written: it may be in a sink even where this is cut off while it waits.
                let open = &mut store.data_mut().open_exchange;
                open.note(&log, &entry);
                Ok((log.write(entry).await,))
            })
        },
    )?;
    let bound = Arc::clone(log);
    instance.func_wrap("sinks", move |_, ()| Ok((bound.sinks(),)))?;
    let bound = Arc::clone(log);
    instance.func_wrap("hash", move |_, (sink, text): (String, String)| {
        Ok((bound.hash(&sink, &text),))
    })
}
