//! The names of records of a bucket.
//!
//! ASCII, under 80 bytes, without `/ \ ? #`: what every provider takes. Nothing in a name comes from a key or a value.

use std::num::NonZeroU64;

use gatehouse_ports::{Random, RandomError};
use serde::{Deserialize, Serialize};

/// One of the trees that a bucket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grove {
    /// Records that capabilities store.
    Records,
    /// Values that their instances share and can lose.
    Cache,
}

impl Grove {
    const fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Cache => "cache",
        }
    }

    /// The record of eight bytes that says which root counts. Zero says that none does yet.
    pub fn head(self, label: &str) -> String {
        format!("gatehouse.{label}.{}.head", self.name())
    }

    /// Where attempts to commit leave their notes.
    pub fn note(self, label: &str, place: u8) -> String {
        format!("gatehouse.{label}.{}.attempt.{place}", self.name())
    }

    /// Where the root of this number is.
    pub fn root(self, label: &str, id: RootId) -> String {
        format!("gatehouse.{label}.{}.root.{:016x}", self.name(), id.0)
    }
}

/// The number of one root: random, never zero, and never given to another. A head has room for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootId(NonZeroU64);

impl RootId {
    /// A number that no other one has.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn fresh(random: &impl Random) -> Result<Self, RandomError> {
        loop {
            let mut bytes = [0; 8];
            random.fill(&mut bytes)?;
            if let Some(id) = Self::from_head(bytes) {
                return Ok(id);
            }
        }
    }

    /// The root that a head names; `None` before the first commit.
    pub fn from_head(head: [u8; 8]) -> Option<Self> {
        NonZeroU64::new(u64::from_le_bytes(head)).map(Self)
    }

    /// The head that names this root.
    pub const fn to_head(self) -> [u8; 8] {
        self.0.get().to_le_bytes()
    }
}

/// The number of one page or of one part of a large value: random, and never given to another. What is stored under it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageId([u8; 16]);

impl PageId {
    /// Bytes of a number.
    pub const BYTES: usize = 16;

    /// A number that no other one has.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn fresh(random: &impl Random) -> Result<Self, RandomError> {
        let mut bytes = [0; Self::BYTES];
        random.fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Where the page of this number is.
    pub fn name(self, label: &str) -> String {
        format!("gatehouse.{label}.page.{:x}", base16ct::HexDisplay(&self.0))
    }
}
