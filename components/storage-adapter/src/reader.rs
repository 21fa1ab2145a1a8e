//! Reading one state of a tree.

use std::sync::{Arc, Mutex, PoisonError};

use gatehouse_ports::Entry;
use gatehouse_ports::rules::has_expired;

use crate::bucket::Bucket;
use crate::error::PageError;
use crate::memory::Memory;
use crate::names::PageId;
use crate::node::{Item, Node, Value, branch_of};
use crate::root::Seal;

/// Where a walk begins.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// At this key or the first one behind it.
    At(&'a str),
    /// Behind this key.
    After(&'a str),
}

impl<'a> Start<'a> {
    const fn key(self) -> &'a str {
        match self {
            Self::At(key) | Self::After(key) => key,
        }
    }

    fn admits(self, key: &str) -> bool {
        match self {
            Self::At(start) => key >= start,
            Self::After(start) => key > start,
        }
    }
}

/// The next step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// To the next entry.
    On,
    /// No further.
    Enough,
}

/// Fetches and opens pages, and remembers them.
pub struct Reader<'a, B> {
    pub bucket: &'a B,
    pub label: &'a str,
    pub memory: &'a Mutex<Memory>,
    /// `None` where there are no pages yet.
    pub seal: Option<Seal>,
    /// Entries that had expired by then read as absent.
    pub now: u64,
}

impl<B: Bucket> Reader<'_, B> {
    /// The node of `page`.
    pub fn node(&self, page: PageId) -> Result<Arc<Node>, PageError> {
        let lock = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = lock().node(page) {
            return Ok(node);
        }
        let node = Arc::new(Node::decode(&self.open(page)?)?);
        lock().keep_node(page, node.clone());
        Ok(node)
    }

    /// True if the time of `item` is not over.
    pub fn is_live(&self, item: &Item) -> bool {
        !has_expired(item.expires_at, self.now)
    }

    /// The entry of `key` below `top`, expired or not.
    pub fn find(&self, top: &Arc<Node>, key: &str) -> Result<Option<Arc<Item>>, PageError> {
        let mut node = top.clone();
        loop {
            node = match &*node {
                Node::Leaf(items) => {
                    let found = items.binary_search_by(|item| item.key.as_str().cmp(key));
                    return Ok(found.ok().and_then(|place| items.get(place)).cloned());
                }
                Node::Inner(branches) => {
                    let branch = branches.get(branch_of(branches, key));
                    self.node(branch.ok_or(PageError::Damaged)?.page)?
                }
            }
        }
    }

    /// Shows `visit` the entries below `node` in order, expired ones among them, until it has enough.
    pub fn walk(
        &self,
        node: &Node,
        start: Start<'_>,
        visit: &mut impl FnMut(&Item) -> Result<Walk, PageError>,
    ) -> Result<Walk, PageError> {
        match node {
            Node::Leaf(items) => {
                for item in items.iter().filter(|item| start.admits(&item.key)) {
                    if visit(item)? == Walk::Enough {
                        return Ok(Walk::Enough);
                    }
                }
            }
            Node::Inner(branches) => {
                for branch in branches.iter().skip(branch_of(branches, start.key())) {
                    if self.walk(&*self.node(branch.page)?, start, visit)? == Walk::Enough {
                        return Ok(Walk::Enough);
                    }
                }
            }
        }
        Ok(Walk::On)
    }

    /// The entry, as its reader gets it.
    pub fn entry(&self, item: &Item) -> Result<Entry, PageError> {
        let value = match &item.value {
            Value::Here(bytes) => bytes.to_vec(),
            Value::Apart { parts, .. } => {
                let mut value = Vec::with_capacity(item.value_bytes());
                for part in parts {
                    value.extend_from_slice(&self.open(*part)?);
                }
                value
            }
        };
        if value.len() != item.value_bytes() {
            return Err(PageError::Damaged);
        }
        Ok(Entry {
            value,
            version: item.version,
        })
    }

    fn open(&self, page: PageId) -> Result<zeroize::Zeroizing<Vec<u8>>, PageError> {
        let seal = self.seal.as_ref().ok_or(PageError::Damaged)?;
        let name = page.name(self.label);
        let sealed = self.bucket.get(&name);
        let sealed = sealed.map_err(|error| error.at(self.label))?;
        seal.open(&name, sealed.ok_or(PageError::Missing)?)
    }
}
