//! The import `gatehouse:storage/key-value`, bound to one store under the name that a component uses for it.

use std::sync::Arc;

use gatehouse_ports::{Change, Check, HeldKey};
use gatehouse_store::PrivateStore;
use tracing::{Instrument as _, Span};
use wasmtime::component::Linker;

use super::state::InstanceState;
use crate::traces;

/// The name under which a component that stands alone imports its store.
pub const INTERFACE: &str = "gatehouse:storage/key-value@0.1.0";

/// Gives `store` to the import called `name`: [`INTERFACE`] for a component alone, `access-storage` and the like in a composition.
///
/// Calls wait without holding the thread: the guest's stack is set aside until the store has answered.
///
/// # Errors
///
/// When the name is taken.
pub fn bind(
    linker: &mut Linker<InstanceState>,
    name: &str,
    store: PrivateStore,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    let bound = Bound {
        name: name.into(),
        store,
    };
    let store = bound.clone();
    instance.func_wrap_async("get", move |_, (keys,): (Vec<String>,)| {
        let bound = store.clone();
        Box::new(async move {
            let span = bound.span("get", keys.len());
            Ok((traced(span, bound.store.get(&keys)).await,))
        })
    })?;
    let store = bound.clone();
    instance.func_wrap_async("get-changed", move |_, (keys,): (Vec<HeldKey>,)| {
        let bound = store.clone();
        Box::new(async move {
            let span = bound.span("get-changed", keys.len());
            Ok((traced(span, bound.store.get_changed(&keys)).await,))
        })
    })?;
    let store = bound.clone();
    instance.func_wrap_async(
        "scan",
        move |_, (prefix, after, limit): (String, Option<String>, u32)| {
            let bound = store.clone();
            Box::new(async move {
                let span = bound.span("scan", usize::try_from(limit).unwrap_or(usize::MAX));
                let scan = bound.store.scan(&prefix, after.as_deref(), limit);
                Ok((traced(span, scan).await,))
            })
        },
    )?;
    instance.func_wrap_async(
        "commit",
        move |_, (checks, changes): (Vec<Check>, Vec<Change>)| {
            let bound = bound.clone();
            Box::new(async move {
                let span = bound.span("commit", changes.len());
                Ok((traced(span, bound.store.commit(checks, changes)).await,))
            })
        },
    )?;
    Ok(())
}

/// A store, and the name by which a component calls it.
#[derive(Clone)]
struct Bound {
    name: Arc<str>,
    store: PrivateStore,
}

impl Bound {
    /// The span of a call with as many keys or changes.
    fn span(&self, operation: &str, count: usize) -> Span {
        traces::store_call(&self.name, operation, count)
    }
}

/// Does `call` in `span`, which tells whether it failed.
async fn traced<T, E>(span: Span, call: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let outcome = call.instrument(span.clone()).await;
    if outcome.is_err() {
        traces::failed(&span);
    }
    outcome
}
