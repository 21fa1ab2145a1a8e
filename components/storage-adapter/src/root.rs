//! The root of a tree: what one commit leaves behind, whole.

use std::sync::Arc;

use gatehouse_barrier::{Address, Barrier, Keyring, KeyringError, OpenError, RootKey, SealError};
use gatehouse_ports::{Random, StoreError};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::PageError;
use crate::names::{PageId, RootId};
use crate::node::{self, DecodeError, Node, WrittenNode};

/// Records that are written or deleted together. Those that a commit has replaced are kept for some commits, for readers that still use
/// them.
#[derive(Clone, Serialize, Deserialize)]
pub struct Generation {
    /// A root; `None` for what was before the first one.
    pub root: Option<RootId>,
    /// The pages that only this root has, or that the next one does not need any more.
    pub pages: Vec<PageId>,
}

impl Generation {
    /// The approximate number of bytes that it takes when it is written.
    pub fn size(&self) -> usize {
        (self.pages.len() + 2) * PageId::BYTES
    }
}

/// How many of the roots before it a root names. If a commit lost its answer, its outcome can be found until this many commits have
/// followed it.
const LINEAGE_ROOTS: usize = 128;

/// One state of a tree.
pub struct Root {
    /// The number of the commit that made it, one above that of the commit before: the version of the entries that it put.
    pub sequence: u64,
    /// The roots before it, the oldest first and without a gap.
    pub lineage: Vec<RootId>,
    /// The pages that the last commits have replaced, the oldest first.
    pub retired: Vec<Generation>,
    /// The top node, which has no page of its own: so a small tree is read at once.
    pub top: Arc<Node>,
}

impl Root {
    /// The state before the first commit.
    pub fn empty() -> Self {
        Self {
            sequence: 0,
            lineage: Vec::new(),
            retired: Vec::new(),
            top: Arc::new(Node::Leaf(Vec::new())),
        }
    }

    /// The lineage of the root that follows this one, whose number is `id`.
    pub fn next_lineage(&self, id: Option<RootId>) -> Vec<RootId> {
        let over = (self.lineage.len() + 1).saturating_sub(LINEAGE_ROOTS);
        self.lineage.iter().skip(over).copied().chain(id).collect()
    }

    /// True if root `id` of that sequence number counted before this one; `None` if it may have, too long ago to be named.
    pub fn follows(&self, id: RootId, sequence: u64) -> Option<bool> {
        if self.lineage.contains(&id) {
            return Some(true);
        }
        let oldest = self.sequence.saturating_sub(self.lineage.len() as u64);
        let is_whole = self.lineage.len() < LINEAGE_ROOTS;
        (is_whole || sequence >= oldest).then_some(false)
    }

    /// The root as bytes.
    pub fn encode(&self) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
        let retired: usize = self.retired.iter().map(Generation::size).sum();
        let lineage = self.lineage.len() * PageId::BYTES;
        let written = WrittenRoot {
            sequence: self.sequence,
            lineage: self.lineage.clone(),
            retired: self.retired.clone(),
            top: self.top.written(),
        };
        node::encode(&written, self.top.size() + retired + lineage)
    }

    /// The root in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let written: WrittenRoot<'_> = node::decode(bytes)?;
        Ok(Self {
            sequence: written.sequence,
            lineage: written.lineage,
            retired: written.retired,
            top: Arc::new(written.top.into()),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenRoot<'a> {
    sequence: u64,
    lineage: Vec<RootId>,
    retired: Vec<Generation>,
    #[serde(borrow)]
    top: WrittenNode<'a>,
}

/// The record of a root: the keyring, which the root key seals, and the root, which the keyring seals.
///
/// Each root carries the keyring on. So neither is ever stored without the other, and of several first commits the one that counts decides
/// about both.
#[derive(Serialize, Deserialize)]
struct WrittenRecord<'a> {
    keyring: &'a [u8],
    sealed: &'a [u8],
}

/// The keys of one tree.
#[derive(Clone)]
pub struct Seal {
    label: Arc<str>,
    sealed_keyring: Arc<[u8]>,
    barrier: Arc<Barrier>,
}

impl Seal {
    /// New keys.
    pub fn generate(
        label: &str,
        root_key: &RootKey,
        random: &impl Random,
    ) -> Result<Self, PageError> {
        let keyring = Keyring::generate(random).map_err(|error| keyring_error(label, error))?;
        let sealed = keyring.seal(root_key, random);
        let sealed = sealed.map_err(|error| keyring_error(label, error))?;
        Ok(Self::new(label, &keyring, &sealed))
    }

    fn new(label: &str, keyring: &Keyring, sealed: &[u8]) -> Self {
        Self {
            label: label.into(),
            sealed_keyring: sealed.into(),
            barrier: Arc::new(Barrier::new(keyring)),
        }
    }

    /// Seals the bytes that are to be stored under `name`.
    pub fn seal(
        &self,
        name: &str,
        bytes: &[u8],
        random: &impl Random,
    ) -> Result<Vec<u8>, PageError> {
        let sealed = self.barrier.seal(self.address(name), bytes, None, random);
        sealed.map_err(|error| match error {
            SealError::Random(error) => error.into(),
            SealError::TooLarge => PageError::unavailable("a page is too large to be sealed"),
        })
    }

    /// Opens the bytes that were found under `name`.
    pub fn open(&self, name: &str, sealed: Vec<u8>) -> Result<Zeroizing<Vec<u8>>, PageError> {
        match self.barrier.open(self.address(name), sealed) {
            Ok(record) => Ok(Zeroizing::new(record.value)),
            Err(OpenError::Forged | OpenError::UnknownTerm(_)) => Err(PageError::Damaged),
            Err(OpenError::UnknownFormat { found }) => Err(DecodeError::Newer { found }.into()),
        }
    }

    /// The record of `root` under `name`.
    pub fn write(
        &self,
        name: &str,
        root: &Root,
        random: &impl Random,
    ) -> Result<Vec<u8>, PageError> {
        let sealed = self.seal(name, &root.encode()?, random)?;
        let record = WrittenRecord {
            keyring: &self.sealed_keyring,
            sealed: &sealed,
        };
        let bytes = node::encode(&record, self.sealed_keyring.len() + sealed.len())?;
        Ok(bytes.to_vec())
    }

    /// The root in the record that was found under `name`, and the keys that it needs: those `known`, or those that `root_key` opens.
    pub fn read(
        label: &str,
        name: &str,
        record: &[u8],
        known: Option<Self>,
        root_key: impl FnOnce() -> Result<RootKey, StoreError>,
    ) -> Result<(Self, Root), PageError> {
        let record: WrittenRecord<'_> = node::decode(record)?;
        let seal = match known.filter(|seal| *seal.sealed_keyring == *record.keyring) {
            Some(seal) => seal,
            None => {
                let keyring = Keyring::open(&root_key()?, record.keyring);
                let keyring = keyring.map_err(|error| keyring_error(label, error))?;
                Self::new(label, &keyring, record.keyring)
            }
        };
        let opened = seal.open(name, record.sealed.to_vec())?;
        Ok((seal, Root::decode(&opened)?))
    }

    fn address<'a>(&'a self, name: &'a str) -> Address<'a> {
        Address {
            store: &self.label,
            key: name,
        }
    }
}

pub fn keyring_error(label: &str, error: KeyringError) -> PageError {
    match error {
        KeyringError::WrongRootKey => PageError::unavailable(&format!(
            "seal_key is not the key that the store {label} was made with, or its keyring was altered: set the variable to the key \
             of the first start"
        )),
        KeyringError::UnknownFormat { found } => DecodeError::Newer { found }.into(),
        KeyringError::Malformed => PageError::Damaged,
        KeyringError::NoTermLeft | KeyringError::TooManyTerms | KeyringError::Random(_) => {
            PageError::unavailable(&error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> RootId {
        RootId::from_head(number.to_le_bytes()).unwrap()
    }

    /// Root number `commits` of a store whose first one has the sequence number 1000.
    fn after(commits: u64) -> Root {
        let mut root = Root::empty();
        for number in 1..=commits {
            let before = (number > 1).then(|| id(number - 1));
            root = Root {
                sequence: 999 + number,
                lineage: root.next_lineage(before),
                ..Root::empty()
            };
        }
        root
    }

    #[test]
    fn s9_a_root_knows_which_came_before_it_as_far_as_it_names_them() {
        let named = LINEAGE_ROOTS as u64;
        for commits in [1, 2, named, named + 1, named + 40] {
            let root = after(commits);
            for number in 1..commits {
                let is_named = commits - number <= named;
                let told = is_named.then_some(true);
                assert_eq!(root.follows(id(number), 999 + number), told, "{number}");
                // Another one that was outrun by it.
                let told = is_named.then_some(false);
                let other = root.follows(id(number + 1_000_000), 999 + number);
                assert!(other == told || commits <= named, "{number}");
            }
            assert_eq!(root.follows(id(1_000_000), 1000 + commits), Some(false));
        }
        // A first commit that was outrun by another first one has any sequence number.
        assert_eq!(after(3).follows(id(1_000_000), 7), Some(false));
    }
}
