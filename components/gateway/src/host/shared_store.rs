//! The servers that share the store, and if it can be reached.

pub use super::bindings::gatehouse::host::shared_store::{Node, NodeList};

/// The store as far as it is one that several servers share. The WIT interface is the specification.
pub trait SharedStore {
    /// The servers that share it, as far as this one knows; `None` where the store is this server's own.
    fn nodes(&self) -> Option<NodeList>;

    /// True if the store could not be reached when it was last needed, which was a moment ago.
    fn is_away(&self) -> bool;
}

/// A store of one server, which is never away.
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
