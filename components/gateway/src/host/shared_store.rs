//! The servers that share the store, and the reachability of the store.

pub use super::bindings::gatehouse::host::shared_store::{Node, NodeList};

/// The store, as far as several servers share it. The WIT interface is the specification.
pub trait SharedStore {
    /// The servers that share the store, as far as this one knows; `None` where the store belongs to this server alone.
    fn nodes(&self) -> Option<NodeList>;

    /// True if the store could not be reached when it was last used, a moment ago.
    fn is_away(&self) -> bool;
}

/// A store of one server, which is always reachable.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnStore;

impl SharedStore for OwnStore {
    fn nodes(&self) -> Option<NodeList> {
        None
    }

    fn is_away(&self) -> bool {
        false
    }
}
