//! The memory of one instance of a tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::names::{PageId, RootId};
use crate::node::Node;
use crate::root::{Root, Seal};

/// Bytes of nodes that are remembered.
const MAXIMUM_BYTES: usize = 4 * 1024 * 1024;

/// One state of the tree, and the keys to read it.
#[derive(Clone)]
pub struct View {
    /// Its number by the head; `None` before the first commit.
    pub id: Option<RootId>,
    /// Its content.
    pub root: Arc<Root>,
    /// The keys; `None` before the first commit, or the first after damage.
    pub seal: Option<Seal>,
}

impl View {
    /// A state without entries, whose keys are made by the commit that follows it.
    pub fn empty(id: Option<RootId>) -> Self {
        Self {
            id,
            root: Arc::new(Root::empty()),
            seal: None,
        }
    }
}

/// The last state that was seen, and opened nodes. A page never changes, so none of them can be out of date; which state counts is asked
/// before every use. Values are wiped when they are forgotten.
#[derive(Default)]
pub struct Memory {
    last: Option<View>,
    nodes: BTreeMap<PageId, Arc<Node>>,
    bytes: usize,
}

impl Memory {
    /// The last state that was seen.
    pub const fn last(&self) -> Option<&View> {
        self.last.as_ref()
    }

    /// Remembers the state that counts now.
    pub fn keep_view(&mut self, view: View) {
        self.last = Some(view);
    }

    /// The node of a page, if it is remembered.
    pub fn node(&self, page: PageId) -> Option<Arc<Node>> {
        self.nodes.get(&page).cloned()
    }

    /// Remembers the node of a page. When there are too many, it begins anew.
    pub fn keep_node(&mut self, page: PageId, node: Arc<Node>) {
        let bytes = node.size();
        if self.bytes.saturating_add(bytes) > MAXIMUM_BYTES {
            self.nodes.clear();
            self.bytes = 0;
        }
        if self.nodes.insert(page, node).is_none() {
            self.bytes += bytes;
        }
    }

    /// Forgets pages that are gone.
    pub fn forget(&mut self, pages: &[PageId]) {
        for page in pages {
            if let Some(node) = self.nodes.remove(page) {
                self.bytes = self.bytes.saturating_sub(node.size());
            }
        }
    }
}
