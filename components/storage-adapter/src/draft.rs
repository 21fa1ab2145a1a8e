//! The next state that a commit would make of one state: new nodes beside the old ones, which stay as they are.

use std::sync::Arc;

use gatehouse_ports::rules::has_expired;
use gatehouse_ports::{Change, Put, Random, Version};
use zeroize::Zeroizing;

use crate::bucket::Bucket;
use crate::error::{PageError, ReadError};
use crate::names::PageId;
use crate::node::{Branch, Item, Node, Value, branch_of};
use crate::reader::Reader;

/// Bytes that a node grows to. Opening costs time by the byte, and fetching by the page.
const NODE_BYTES: usize = 4096;

/// Bytes below which a node is joined with a neighbour that has room.
const SMALL_NODE_BYTES: usize = 1024;

/// Bytes of the largest value that stands in its leaf.
const INLINE_BYTES: usize = 1536;

/// Bytes of a part of a value. Providers take 400 KB and more in one record.
const PART_BYTES: usize = 256 * 1024;

/// How many leaves a commit frees of expired entries, beside those that it changes anyway: what expires goes as fast as it came.
const PURGED_LEAVES: u32 = 2;

/// One change, as the leaves see it.
pub struct Planned {
    key: String,
    item: Option<Arc<Item>>,
}

/// A node that came through a change of its parent, or out of it.
enum Piece {
    Kept(Branch),
    Made(String, Node),
}

/// New pages of a commit, and those that it makes superfluous.
pub struct Draft<'a, B, R> {
    reader: &'a Reader<'a, B>,
    random: &'a R,
    purges_left: u32,
    nodes: Vec<(PageId, Arc<Node>)>,
    parts: Vec<(PageId, &'a [u8])>,
    retired: Vec<PageId>,
}

/// The nodes to write, and those that are not needed any more.
pub struct Drafted<'a> {
    /// The top node of the next root.
    pub top: Node,
    /// New nodes below it.
    pub nodes: Vec<(PageId, Arc<Node>)>,
    /// New parts of large values.
    pub parts: Vec<(PageId, &'a [u8])>,
    /// Pages of the last root that the next one does not have.
    pub retired: Vec<PageId>,
}

impl<'a, B: Bucket, R: Random> Draft<'a, B, R> {
    /// A draft of what follows the state that `reader` reads.
    pub fn new(reader: &'a Reader<'a, B>, random: &'a R) -> Self {
        Self {
            reader,
            random,
            purges_left: PURGED_LEAVES,
            nodes: Vec::new(),
            parts: Vec::new(),
            retired: Vec::new(),
        }
    }

    /// The tree below `top` with `changes`; `None` if they make no difference.
    pub fn apply(
        mut self,
        top: &Node,
        changes: &'a [Change],
        version: Version,
    ) -> Result<Option<Drafted<'a>>, ReadError> {
        let planned = self.plan(changes, version);
        let planned = planned.map_err(|fault| fault.on_the_way_to(""))?;
        let Some(mut level) = self.update(top, "", &planned)? else {
            return Ok(None);
        };
        while level.len() > 1 {
            let branches = self.place_all(level);
            level = inner_nodes(branches.map_err(|fault| fault.on_the_way_to(""))?);
        }
        let top = level.pop().map_or_else(empty_leaf, |(_, node)| node);
        let top = self.lowered(top);
        Ok(Some(Drafted {
            top,
            nodes: self.nodes,
            parts: self.parts,
            retired: self.retired,
        }))
    }

    fn plan(&mut self, changes: &'a [Change], version: Version) -> Result<Vec<Planned>, PageError> {
        let mut planned = Vec::with_capacity(changes.len());
        for change in changes {
            let key = change.key().to_owned();
            let item = match change {
                Change::Delete(_) => None,
                Change::Put(Put {
                    value, expires_at, ..
                }) => Some(Arc::new(Item {
                    key: key.clone(),
                    version,
                    expires_at: *expires_at,
                    value: self.value(value)?,
                })),
            };
            planned.push(Planned { key, item });
        }
        planned.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(planned)
    }

    fn value(&mut self, bytes: &'a [u8]) -> Result<Value, PageError> {
        if bytes.len() <= INLINE_BYTES {
            return Ok(Value::Here(Zeroizing::new(bytes.to_vec())));
        }
        let mut parts = Vec::new();
        for part in bytes.chunks(PART_BYTES) {
            let page = PageId::fresh(self.random)?;
            self.parts.push((page, part));
            parts.push(page);
        }
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Ok(Value::Apart { length, parts })
    }

    /// The nodes that take the place of `node`, whose keys begin at `from`; `None` if it stays as it is.
    fn update(
        &mut self,
        node: &Node,
        from: &str,
        changes: &[Planned],
    ) -> Result<Option<Vec<(String, Node)>>, ReadError> {
        match node {
            Node::Leaf(items) => Ok(self.update_leaf(items, from, changes)),
            Node::Inner(branches) => self.update_inner(branches, changes),
        }
    }

    fn update_leaf(
        &mut self,
        items: &[Arc<Item>],
        from: &str,
        changes: &[Planned],
    ) -> Option<Vec<(String, Node)>> {
        if changes.is_empty() {
            self.purges_left = self.purges_left.saturating_sub(1);
        }
        let mut differs = false;
        let mut kept: Vec<Arc<Item>> = Vec::with_capacity(items.len() + changes.len());
        let mut changes = changes.iter().peekable();
        for item in items {
            while let Some(change) = changes.next_if(|change| change.key < item.key) {
                kept.extend(change.item.clone());
            }
            let change = changes.next_if(|change| change.key == item.key);
            if change.is_none() && self.reader.is_live(item) {
                kept.push(item.clone());
                continue;
            }
            differs = true;
            self.retired.extend_from_slice(item.parts());
            kept.extend(change.and_then(|change| change.item.clone()));
        }
        kept.extend(changes.filter_map(|change| change.item.clone()));
        if !differs && kept.len() == items.len() {
            return None;
        }
        let leaves = split(kept, |item| item.size()).into_iter().enumerate();
        let leaf = |(number, items): (usize, Vec<Arc<Item>>)| {
            let first = items.first().filter(|_| number > 0);
            let from = first.map_or(from, |item| &item.key).to_owned();
            (from, Node::Leaf(items))
        };
        Some(leaves.map(leaf).collect())
    }

    fn update_inner(
        &mut self,
        branches: &[Branch],
        changes: &[Planned],
    ) -> Result<Option<Vec<(String, Node)>>, ReadError> {
        let mut differs = false;
        let mut rest = changes;
        let mut pieces = Vec::with_capacity(branches.len());
        for (number, branch) in branches.iter().enumerate() {
            let here = rest.partition_point(|it| branch_of(branches, &it.key) <= number);
            let (own, others) = rest.split_at_checked(here).unwrap_or((rest, &[]));
            rest = others;
            match self.update_branch(branch, own)? {
                None => pieces.push(Piece::Kept(branch.clone())),
                Some(nodes) => {
                    differs = true;
                    self.retired.push(branch.page);
                    pieces.extend(
                        nodes
                            .into_iter()
                            .map(|(from, node)| Piece::Made(from, node)),
                    );
                }
            }
        }
        if !differs {
            return Ok(None);
        }
        let pieces = self.join_small(pieces);
        let placed = self.place_pieces(pieces);
        let first = changes.first().map_or("", |change| &change.key);
        let branches = placed.map_err(|fault| fault.on_the_way_to(first))?;
        Ok(Some(inner_nodes(branches)))
    }

    fn update_branch(
        &mut self,
        branch: &Branch,
        changes: &[Planned],
    ) -> Result<Option<Vec<(String, Node)>>, ReadError> {
        let Some(first) = changes.first() else {
            return Ok(self.purge(branch));
        };
        let node = self.reader.node(branch.page);
        let node = node.map_err(|fault| fault.on_the_way_to(&first.key))?;
        self.update(&node, &branch.from, changes)
    }

    /// Frees a node that the commit leaves alone of what has expired. No caller asked for that: where it fails, the node stays as it is.
    fn purge(&mut self, branch: &Branch) -> Option<Vec<(String, Node)>> {
        if self.purges_left == 0 || !has_expired(branch.first_expiry, self.reader.now) {
            return None;
        }
        let (nodes, retired) = (self.nodes.len(), self.retired.len());
        let node = self.reader.node(branch.page).ok()?;
        if let Ok(purged) = self.update(&node, &branch.from, &[]) {
            return purged;
        }
        self.nodes.truncate(nodes);
        self.retired.truncate(retired);
        None
    }

    fn join_small(&mut self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match joined.pop() {
                None => joined.push(piece),
                Some(last) => match self.join(&last, &piece) {
                    Some(both) => joined.push(both),
                    None => joined.extend([last, piece]),
                },
            }
        }
        joined
    }

    /// Two neighbours as one, if one of them is new and small, and both have room in one.
    fn join(&mut self, left: &Piece, right: &Piece) -> Option<Piece> {
        let is_small =
            |piece: &Piece| matches!(piece, Piece::Made(_, node) if node.size() < SMALL_NODE_BYTES);
        if !is_small(left) && !is_small(right) {
            return None;
        }
        let [one, other] = [self.node_of(left)?, self.node_of(right)?];
        if one.size() + other.size() > NODE_BYTES {
            return None;
        }
        let both = match (&*one, &*other) {
            (Node::Leaf(one), Node::Leaf(other)) => Node::Leaf([&**one, other].concat()),
            (Node::Inner(one), Node::Inner(other)) => Node::Inner([&**one, other].concat()),
            _ => return None,
        };
        for piece in [left, right] {
            if let Piece::Kept(branch) = piece {
                self.retired.push(branch.page);
            }
        }
        let (Piece::Kept(Branch { from, .. }) | Piece::Made(from, _)) = left;
        Some(Piece::Made(from.clone(), both))
    }

    fn node_of(&self, piece: &Piece) -> Option<Arc<Node>> {
        match piece {
            Piece::Made(_, node) => Some(Arc::new(node.clone())),
            Piece::Kept(branch) => self.reader.node(branch.page).ok(),
        }
    }

    fn place_pieces(&mut self, pieces: Vec<Piece>) -> Result<Vec<Branch>, PageError> {
        let mut branches = Vec::with_capacity(pieces.len());
        for piece in pieces {
            branches.push(match piece {
                Piece::Kept(branch) => branch,
                Piece::Made(from, node) => self.place_one(from, node)?,
            });
        }
        Ok(branches)
    }

    /// Gives new nodes pages.
    fn place_all(&mut self, nodes: Vec<(String, Node)>) -> Result<Vec<Branch>, PageError> {
        let branch = |(from, node)| self.place_one(from, node);
        nodes.into_iter().map(branch).collect()
    }

    /// Gives a new node a page.
    fn place_one(&mut self, from: String, node: Node) -> Result<Branch, PageError> {
        let page = PageId::fresh(self.random)?;
        let first_expiry = node.first_expiry();
        self.nodes.push((page, Arc::new(node)));
        Ok(Branch {
            from,
            page,
            first_expiry,
        })
    }

    /// The top of the tree without inner nodes that lead to a single one.
    fn lowered(&mut self, mut top: Node) -> Node {
        while let Node::Inner(branches) = &top
            && let [only] = branches.as_slice()
        {
            let page = only.page;
            if let Some(place) = self.nodes.iter().position(|(own, _)| *own == page) {
                let (_, node) = self.nodes.swap_remove(place);
                top = Node::clone(&node);
            } else if let Ok(node) = self.reader.node(page) {
                self.retired.push(page);
                top = Node::clone(&node);
            } else {
                break;
            }
        }
        top
    }
}

fn empty_leaf() -> Node {
    Node::Leaf(Vec::new())
}

fn inner_nodes(branches: Vec<Branch>) -> Vec<(String, Node)> {
    let nodes = split(branches, Branch::size).into_iter();
    let node = |branches: Vec<Branch>| {
        let from = branches.first().map(|branch| branch.from.clone());
        (from.unwrap_or_default(), Node::Inner(branches))
    };
    nodes.map(node).collect()
}

/// Cuts `things` into pieces of about the same size, none much above that of a node.
fn split<T>(things: Vec<T>, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let total: usize = things.iter().map(&size).sum();
    let limit = total.div_ceil(total.div_ceil(NODE_BYTES).max(1));
    let mut pieces: Vec<Vec<T>> = Vec::new();
    let mut filled = limit;
    for thing in things {
        let bytes = size(&thing);
        match pieces.last_mut() {
            Some(piece) if filled < limit => piece.push(thing),
            _ => {
                pieces.push(vec![thing]);
                filled = 0;
            }
        }
        filled += bytes;
    }
    pieces
}
