//! The nodes of a tree, and how they are written.
//!
//! A leaf holds entries in ascending order of their keys. An inner node holds branches in the same order: a key belongs to the last
//! branch that begins at or before it, and to the first branch if none of the others does. Where the first branch says that it begins
//! means nothing: it comes to hold smaller keys when the one before it is emptied.

use std::sync::Arc;

use gatehouse_ports::Version;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::names::PageId;

/// The layout written by this version.
const FORMAT: u8 = 1;

/// The most bytes of an entry or a branch beside its texts.
const OVERHEAD_BYTES: usize = 32;

/// Why bytes that opened are no node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// A newer version of this software wrote them.
    Newer {
        /// The number in their first byte.
        found: u8,
    },
    /// They are something else.
    Malformed,
}

/// Where the bytes of a value are. They may be secret: in memory they are wiped when they are dropped.
#[derive(Clone)]
pub enum Value {
    /// In the leaf itself.
    Here(Zeroizing<Vec<u8>>),
    /// In pages of their own, in this order.
    Apart {
        /// Bytes of all parts together.
        length: u32,
        /// Where the parts are.
        parts: Vec<PageId>,
    },
}

/// The value of a key.
#[derive(Clone)]
pub struct Item {
    /// The whole key.
    pub key: String,
    /// The number of the commit that stored it.
    pub version: Version,
    /// Milliseconds since 1970 from which on it reads as absent.
    pub expires_at: Option<u64>,
    /// The value.
    pub value: Value,
}

impl Item {
    /// Bytes of its value.
    pub fn value_bytes(&self) -> usize {
        match &self.value {
            Value::Here(bytes) => bytes.len(),
            Value::Apart { length, .. } => usize::try_from(*length).unwrap_or(usize::MAX),
        }
    }

    /// The pages that are its own.
    pub fn parts(&self) -> &[PageId] {
        match &self.value {
            Value::Here(_) => &[],
            Value::Apart { parts, .. } => parts,
        }
    }

    /// Bytes that it takes in a leaf, about.
    pub fn size(&self) -> usize {
        let value = match &self.value {
            Value::Here(bytes) => bytes.len(),
            Value::Apart { parts, .. } => parts.len() * PageId::BYTES,
        };
        OVERHEAD_BYTES + self.key.len() + value
    }
}

/// A node below an inner one.
#[derive(Clone)]
pub struct Branch {
    /// Where its keys begin, if another branch lies before it.
    pub from: String,
    /// Where it is.
    pub page: PageId,
    /// When the first of its entries expires, if any does.
    pub first_expiry: Option<u64>,
}

impl Branch {
    /// Bytes that it takes in an inner node, about.
    pub fn size(&self) -> usize {
        OVERHEAD_BYTES + self.from.len()
    }
}

/// A node of a tree.
#[derive(Clone)]
pub enum Node {
    /// Entries.
    Leaf(Vec<Arc<Item>>),
    /// Nodes below.
    Inner(Vec<Branch>),
}

impl Node {
    /// Bytes that it takes when it is written, about.
    pub fn size(&self) -> usize {
        match self {
            Self::Leaf(items) => items.iter().map(|item| item.size()).sum(),
            Self::Inner(branches) => branches.iter().map(Branch::size).sum(),
        }
    }

    /// When the first of its entries expires, if any does.
    pub fn first_expiry(&self) -> Option<u64> {
        match self {
            Self::Leaf(items) => items.iter().filter_map(|item| item.expires_at).min(),
            Self::Inner(branches) => branches.iter().filter_map(|it| it.first_expiry).min(),
        }
    }

    /// The node as bytes.
    pub fn encode(&self) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
        encode(&self.written(), self.size())
    }

    /// The node in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(decode::<WrittenNode<'_>>(bytes)?.into())
    }

    pub(crate) fn written(&self) -> WrittenNode<'_> {
        match self {
            Self::Leaf(items) => {
                WrittenNode::Leaf(items.iter().map(|it| written_item(it)).collect())
            }
            Self::Inner(branches) => {
                WrittenNode::Inner(branches.iter().map(written_branch).collect())
            }
        }
    }
}

/// The position in `branches` of the one that a key belongs to.
pub fn branch_of(branches: &[Branch], key: &str) -> usize {
    // The first branch takes all that lies before the others, and may say that it begins behind them.
    let others = branches.get(1..).unwrap_or_default();
    others.partition_point(|branch| branch.from.as_str() <= key)
}

/// Writes a format byte and `what`, which takes about `size` bytes.
pub fn encode(what: &impl Serialize, size: usize) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
    // Room for all at once: a vector that grows would leave copies of values behind.
    let mut bytes = Vec::with_capacity(size.saturating_add(OVERHEAD_BYTES));
    bytes.push(FORMAT);
    let bytes = postcard::to_extend(what, bytes).map_err(|_| DecodeError::Malformed)?;
    Ok(Zeroizing::new(bytes))
}

/// Reads what [`encode`] wrote.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let (format, body) = bytes.split_first().ok_or(DecodeError::Malformed)?;
    if *format != FORMAT {
        return Err(DecodeError::Newer { found: *format });
    }
    match postcard::take_from_bytes(body) {
        Ok((what, [])) => Ok(what),
        Ok(_) | Err(_) => Err(DecodeError::Malformed),
    }
}

/// A node as it is written.
#[derive(Serialize, Deserialize)]
pub enum WrittenNode<'a> {
    #[serde(borrow)]
    Leaf(Vec<WrittenItem<'a>>),
    #[serde(borrow)]
    Inner(Vec<WrittenBranch<'a>>),
}

#[derive(Serialize, Deserialize)]
pub struct WrittenItem<'a> {
    key: &'a str,
    version: u64,
    expires_at: Option<u64>,
    #[serde(borrow)]
    value: WrittenValue<'a>,
}

#[derive(Serialize, Deserialize)]
enum WrittenValue<'a> {
    Here(&'a [u8]),
    Apart(u32, Vec<PageId>),
}

#[derive(Serialize, Deserialize)]
pub struct WrittenBranch<'a> {
    from: &'a str,
    page: PageId,
    first_expiry: Option<u64>,
}

fn written_item(item: &Item) -> WrittenItem<'_> {
    WrittenItem {
        key: &item.key,
        version: item.version,
        expires_at: item.expires_at,
        value: match &item.value {
            Value::Here(bytes) => WrittenValue::Here(bytes),
            Value::Apart { length, parts } => WrittenValue::Apart(*length, parts.clone()),
        },
    }
}

fn written_branch(branch: &Branch) -> WrittenBranch<'_> {
    WrittenBranch {
        from: &branch.from,
        page: branch.page,
        first_expiry: branch.first_expiry,
    }
}

impl From<WrittenNode<'_>> for Node {
    fn from(written: WrittenNode<'_>) -> Self {
        match written {
            WrittenNode::Leaf(items) => {
                Self::Leaf(items.into_iter().map(|it| Arc::new(it.into())).collect())
            }
            WrittenNode::Inner(branches) => {
                Self::Inner(branches.into_iter().map(Branch::from).collect())
            }
        }
    }
}

impl From<WrittenItem<'_>> for Item {
    fn from(written: WrittenItem<'_>) -> Self {
        Self {
            key: written.key.to_owned(),
            version: written.version,
            expires_at: written.expires_at,
            value: match written.value {
                WrittenValue::Here(bytes) => Value::Here(Zeroizing::new(bytes.to_vec())),
                WrittenValue::Apart(length, parts) => Value::Apart { length, parts },
            },
        }
    }
}

impl From<WrittenBranch<'_>> for Branch {
    fn from(written: WrittenBranch<'_>) -> Self {
        Self {
            from: written.from.to_owned(),
            page: written.page,
            first_expiry: written.first_expiry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::SeededRandom;

    fn page() -> PageId {
        PageId::fresh(&SeededRandom::new(1)).unwrap()
    }

    fn leaf() -> Node {
        let item = |key: &str, value| Item {
            key: key.to_owned(),
            version: u64::MAX,
            expires_at: Some(u64::MAX),
            value,
        };
        let here = Value::Here(Zeroizing::new(b"here".to_vec()));
        let apart = Value::Apart {
            length: u32::MAX,
            parts: vec![page(), page()],
        };
        Node::Leaf(vec![Arc::new(item("a", here)), Arc::new(item("b", apart))])
    }

    fn branches<const N: usize>(begins: [&str; N]) -> Vec<Branch> {
        let branch = |from: &str| Branch {
            from: from.to_owned(),
            page: page(),
            first_expiry: Some(7),
        };
        begins.map(branch).to_vec()
    }

    fn inner() -> Node {
        Node::Inner(branches(["", "c", "e"]))
    }

    #[test]
    fn a_node_is_read_as_it_was_written_and_takes_no_more_room_than_thought() {
        for node in [leaf(), inner(), Node::Leaf(Vec::new())] {
            let bytes = node.encode().unwrap();
            assert!(bytes.len() <= node.size() + OVERHEAD_BYTES);
            let read = Node::decode(&bytes).ok().unwrap();
            assert_eq!(read.encode().unwrap(), bytes);
            assert_eq!(read.first_expiry(), node.first_expiry());
        }
    }

    #[test]
    fn storage_rule_6_a_node_of_a_newer_version_is_refused() {
        let mut bytes = leaf().encode().unwrap().to_vec();
        bytes[0] = FORMAT + 1;
        let newer = DecodeError::Newer { found: FORMAT + 1 };
        assert_eq!(Node::decode(&bytes).err(), Some(newer));
    }

    #[test]
    fn cut_extended_and_foreign_bytes_are_no_node() {
        let mut bytes = leaf().encode().unwrap().to_vec();
        for end in 1..bytes.len() {
            let cut = Node::decode(&bytes[..end]).err();
            assert_eq!(cut, Some(DecodeError::Malformed), "cut to {end} bytes");
        }
        bytes.push(0);
        assert_eq!(Node::decode(&bytes).err(), Some(DecodeError::Malformed));
        assert_eq!(Node::decode(&[]).err(), Some(DecodeError::Malformed));
    }

    #[test]
    fn a_key_belongs_to_the_last_branch_that_begins_at_or_before_it() {
        let branches = branches(["", "c", "e"]);
        for (key, expected) in [("a", 0), ("c", 1), ("d", 1), ("e", 2), ("z", 2)] {
            assert_eq!(branch_of(&branches, key), expected, "{key}");
        }
        assert_eq!(branch_of(&branches[1..], "a"), 0);
        assert_eq!(branch_of(&[], "a"), 0);
    }

    #[test]
    fn the_first_branch_takes_what_lies_before_the_others_wherever_it_says_that_it_begins() {
        let three = branches(["m", "c", "t"]);
        for (key, expected) in [("a", 0), ("c", 1), ("d", 1), ("n", 1), ("t", 2), ("z", 2)] {
            assert_eq!(branch_of(&three, key), expected, "{key}");
        }
        assert_eq!(branch_of(&branches(["m", "c"]), "d"), 1);
        assert_eq!(branch_of(&branches(["m"]), "z"), 0);
    }
}
