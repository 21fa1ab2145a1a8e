//! The import `gatehouse:storage/key-value`, bound to one store under the name that a component uses for it.

use std::sync::Arc;

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Requirement, StoreError, Version,
};
use gatehouse_store::PrivateStore;
use tracing::{Instrument as _, Span};
use wasmtime::component::Linker;

use super::state::InstanceState;
use crate::traces;
use bindings::gatehouse::storage::key_value as wit;

/// The name under which a component that stands alone imports its store.
pub const INTERFACE: &str = "gatehouse:storage/key-value@0.1.0";

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/storage",
        world: "gatehouse:storage/client",
        imports: { default: async },
    });
}

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
            let found = traced(span, bound.store.get(&keys)).await;
            let entries = |found: Vec<Option<Entry>>| -> Vec<Option<wit::Entry>> {
                found.into_iter().map(|found| found.map(entry)).collect()
            };
            Ok((found.map(entries).map_err(error),))
        })
    })?;
    let store = bound.clone();
    instance.func_wrap_async("get-changed", move |_, (keys,): (Vec<wit::HeldKey>,)| {
        let bound = store.clone();
        Box::new(async move {
            let keys: Vec<HeldKey<'_>> = keys.iter().map(held_key).collect();
            let span = bound.span("get-changed", keys.len());
            let found = traced(span, bound.store.get_changed(&keys)).await;
            let differences = |found: Vec<Difference>| -> Vec<wit::Difference> {
                found.into_iter().map(difference).collect()
            };
            Ok((found.map(differences).map_err(error),))
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
                let found = traced(span, scan).await;
                Ok((found.map(page).map_err(error),))
            })
        },
    )?;
    instance.func_wrap_async(
        "commit",
        move |_, (checks, changes): (Vec<wit::Check>, Vec<wit::Change>)| {
            let bound = bound.clone();
            Box::new(async move {
                let span = bound.span("commit", changes.len());
                let checks = checks.into_iter().map(check).collect();
                let changes = changes.into_iter().map(change).collect();
                let outcome = traced(span, bound.store.commit(checks, changes)).await;
                Ok((outcome.map_err(commit_error),))
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

fn entry(from: Entry) -> wit::Entry {
    wit::Entry {
        value: from.value,
        version: from.version.0,
    }
}

fn held_key(from: &wit::HeldKey) -> HeldKey<'_> {
    HeldKey {
        key: &from.key,
        version: from.version.map(Version),
    }
}

fn difference(from: Difference) -> wit::Difference {
    match from {
        Difference::Absent => wit::Difference::Absent,
        Difference::Unchanged => wit::Difference::Unchanged,
        Difference::Changed(changed) => wit::Difference::Changed(entry(changed)),
    }
}

fn page(from: Page) -> wit::Page {
    let item = |item: gatehouse_ports::Item| wit::Item {
        key: item.key,
        entry: entry(item.entry),
    };
    wit::Page {
        items: from.items.into_iter().map(item).collect(),
        more: from.more,
    }
}

fn check(from: wit::Check) -> Check {
    let requirement = match from.requirement {
        wit::Requirement::Absent => Requirement::Absent,
        wit::Requirement::AtVersion(version) => Requirement::AtVersion(Version(version)),
    };
    Check {
        key: from.key,
        requirement,
    }
}

fn change(from: wit::Change) -> Change {
    match from {
        wit::Change::Put(put) => Change::Put {
            key: put.key,
            value: put.value,
            expires_at: put.expires_at,
        },
        wit::Change::Delete(key) => Change::Delete { key },
    }
}

fn error(from: StoreError) -> wit::Error {
    match from {
        StoreError::Sealed => wit::Error::Sealed,
        StoreError::Unavailable(why) => wit::Error::Unavailable(why),
        StoreError::Corrupt(key) => wit::Error::Corrupt(key),
        StoreError::Invalid(why) => wit::Error::Invalid(why),
    }
}

fn commit_error(from: CommitError) -> wit::CommitError {
    match from {
        CommitError::Conflict(key) => wit::CommitError::Conflict(key),
        CommitError::Failed(why) => wit::CommitError::Failed(error(why)),
    }
}
