//! The root of a tree: what one commit leaves behind, whole.

use std::sync::Arc;

use gatehouse_barrier::{Address, Barrier, Keyring, KeyringError, OpenError, RootKey, SealError};
use gatehouse_ports::{Random, StoreError};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::names::{PageId, RootId};
use crate::node::{self, DecodeError, Node, WrittenNode};

/// What a commit has replaced. It is kept for some commits, for those who still read there.
#[derive(Clone, Serialize, Deserialize)]
pub struct Generation {
    /// The root that was replaced; `None` before the first one.
    pub root: Option<RootId>,
    /// The pages that the next root does not need any more.
    pub pages: Vec<PageId>,
}

/// One state of a tree.
pub struct Root {
    /// The number of the commit that made it, one above that of the commit before: the version of what it put.
    pub sequence: u64,
    /// What the last commits have replaced, the oldest first.
    pub retired: Vec<Generation>,
    /// The top node, which has no page of its own: so a small tree is read at once.
    pub top: Arc<Node>,
}

impl Root {
    /// The state before the first commit.
    pub fn empty() -> Self {
        Self {
            sequence: 0,
            retired: Vec::new(),
            top: Arc::new(Node::Leaf(Vec::new())),
        }
    }

    fn encode(&self) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
        let generation = |it: &Generation| (it.pages.len() + 2) * PageId::BYTES;
        let retired: usize = self.retired.iter().map(generation).sum();
        let written = WrittenRoot {
            sequence: self.sequence,
            retired: self.retired.clone(),
            top: self.top.written(),
        };
        node::encode(&written, self.top.size() + retired)
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let written: WrittenRoot<'_> = node::decode(bytes)?;
        Ok(Self {
            sequence: written.sequence,
            retired: written.retired,
            top: Arc::new(written.top.into()),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenRoot<'a> {
    sequence: u64,
    retired: Vec<Generation>,
    #[serde(borrow)]
    top: WrittenNode<'a>,
}

/// The record of a root: the keyring, which the root key seals, and the root, which the keyring seals.
///
/// The keyring goes from root to root. So there is no moment at which one is stored without the other, and of several first commits
/// the one that counts decides about both.
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
    pub fn generate(label: &str, root_key: &RootKey, random: &impl Random) -> Result<Self, Fault> {
        let keyring = Keyring::generate(random).map_err(|error| keyring_fault(label, error))?;
        let sealed = keyring.seal(root_key, random);
        let sealed = sealed.map_err(|error| keyring_fault(label, error))?;
        Ok(Self::of(label, &keyring, &sealed))
    }

    fn of(label: &str, keyring: &Keyring, sealed: &[u8]) -> Self {
        Self {
            label: label.into(),
            sealed_keyring: sealed.into(),
            barrier: Arc::new(Barrier::new(keyring)),
        }
    }

    /// Seals what goes under `name`.
    pub fn seal(&self, name: &str, bytes: &[u8], random: &impl Random) -> Result<Vec<u8>, Fault> {
        let sealed = self.barrier.seal(self.address(name), bytes, None, random);
        sealed.map_err(|error| match error {
            SealError::Random(error) => error.into(),
            SealError::TooLarge => Fault::unavailable("a page is too large to be sealed"),
        })
    }

    /// Opens what was found under `name`.
    pub fn open(&self, name: &str, sealed: Vec<u8>) -> Result<Zeroizing<Vec<u8>>, Fault> {
        match self.barrier.open(self.address(name), sealed) {
            Ok(record) => Ok(Zeroizing::new(record.value)),
            Err(OpenError::Forged | OpenError::UnknownTerm(_)) => Err(Fault::Damaged),
            Err(OpenError::UnknownFormat { found }) => Err(DecodeError::Newer { found }.into()),
        }
    }

    /// The record of `root` under `name`.
    pub fn write(&self, name: &str, root: &Root, random: &impl Random) -> Result<Vec<u8>, Fault> {
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
    ) -> Result<(Self, Root), Fault> {
        let record: WrittenRecord<'_> = node::decode(record)?;
        let seal = match known.filter(|seal| *seal.sealed_keyring == *record.keyring) {
            Some(seal) => seal,
            None => {
                let keyring = Keyring::open(&root_key()?, record.keyring);
                let keyring = keyring.map_err(|error| keyring_fault(label, error))?;
                Self::of(label, &keyring, record.keyring)
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

fn keyring_fault(label: &str, error: KeyringError) -> Fault {
    match error {
        KeyringError::WrongRootKey => Fault::unavailable(&format!(
            "seal_key is not the key that the store {label} was made with, or its keyring was altered: set the variable to the key \
             of the first start"
        )),
        KeyringError::UnknownFormat { found } => DecodeError::Newer { found }.into(),
        KeyringError::Malformed => Fault::Damaged,
        KeyringError::NoTermLeft | KeyringError::Random(_) => {
            Fault::unavailable(&error.to_string())
        }
    }
}
