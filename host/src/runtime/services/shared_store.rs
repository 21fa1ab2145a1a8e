//! The import `gatehouse:host/shared-store`: the servers that share the store.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::bindings::gatehouse::host::shared_store as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/shared-store@0.1.0";

pub use wit::{Node as SharingNode, NodeList as SharingNodes};

/// The store as far as several servers share it, as components see it. The WIT interface is the specification.
pub trait SharedStore: Send + Sync {
    /// The servers that share it, as far as this one knows; `None` where the store is this server's own.
    fn nodes(&self) -> Option<SharingNodes>;

    /// True if the store could not be reached when it was last needed, which was a moment ago.
    fn is_away(&self) -> bool;
}

/// A store of one server, which is never away.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnStore;

impl SharedStore for OwnStore {
    fn nodes(&self) -> Option<SharingNodes> {
        None
    }

    fn is_away(&self) -> bool {
        false
    }
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    store: &Arc<dyn SharedStore>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(store);
    instance.func_wrap("nodes", move |_, ()| Ok((bound.nodes(),)))?;
    let bound = Arc::clone(store);
    instance.func_wrap("is-away", move |_, ()| Ok((bound.is_away(),)))
}
