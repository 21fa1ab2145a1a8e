//! The layout of entries in the file.
//!
//! | table | key | value |
//! | --- | --- | --- |
//! | `entries` | label of the namespace, a zero byte, key | version and end of life, 8 bytes each, little-endian, then the value |
//! | `expiries` | end of life, 8 bytes big-endian, then the key of the entry | |
//! | `store` | `schema`, `versions-reserved`, `damaged` | a number |
//!
//! Labels and keys hold no zero byte, so no key of one namespace begins like one of another, and entries lie in the byte order
//! of their keys. `expiries` has one row for each entry that ends.

use gatehouse_ports::{Requirement, Version};
use redb::TableDefinition;

use crate::Namespace;

/// All entries of all namespaces.
pub const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");
/// The entries that end, in the order in which they do.
pub const EXPIRIES: TableDefinition<'_, &[u8], ()> = TableDefinition::new("expiries");
/// Facts about the store as a whole.
pub const STORE: TableDefinition<'_, &str, u64> = TableDefinition::new("store");

/// The row of `store` with the schema version of this layout (SEC-S12).
pub const SCHEMA: &str = "schema";
/// The schema version that this code reads and writes.
pub const KNOWN_SCHEMA: u64 = 1;
/// The row of `store` with a number that no version in the file exceeds.
pub const VERSIONS_RESERVED: &str = "versions-reserved";
/// The row of `store` that is there once damage was found: what was left may lack the last commits.
pub const DAMAGED: &str = "damaged";

const SEPARATOR: u8 = 0;
const NUMBER_BYTES: usize = size_of::<u64>();
const NEVER: u64 = u64::MAX;

/// The key of a row of `entries`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryKey(Vec<u8>);

impl EntryKey {
    /// Where the entry of `key` lies; for an empty key, where the namespace begins.
    pub fn new(namespace: Namespace, key: &str) -> Self {
        let label = namespace.label().as_bytes();
        Self([label, &[SEPARATOR], key.as_bytes()].concat())
    }

    /// The bytes that order it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key of the entry.
    pub fn key(&self) -> String {
        key_of(&self.0)
    }
}

/// The key of the entry that lies at `place`.
pub fn key_of(place: &[u8]) -> String {
    let key = place.splitn(2, |byte| *byte == SEPARATOR).nth(1);
    String::from_utf8_lossy(key.unwrap_or_default()).into_owned()
}

/// The header that stands before the value of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The version that its commit gave it.
    pub version: Version,
    /// Milliseconds since 1970 from which on it reads as absent; `None` for never.
    pub expires_at: Option<u64>,
}

impl Header {
    /// Splits the bytes of an entry; `None` when they are too few to be one.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (version, rest) = bytes.split_first_chunk::<NUMBER_BYTES>()?;
        let (end, value) = rest.split_first_chunk::<NUMBER_BYTES>()?;
        let header = Self {
            version: u64::from_le_bytes(*version),
            expires_at: Some(u64::from_le_bytes(*end)).filter(|end| *end != NEVER),
        };
        Some((header, value))
    }
}

/// An entry that waits for its version.
pub struct PendingEntry {
    bytes: Vec<u8>,
    /// When it ends.
    pub expires_at: Option<u64>,
}

impl PendingEntry {
    /// An entry with `value` that ends at `expires_at`.
    pub fn new(value: &[u8], expires_at: Option<u64>) -> Self {
        let mut bytes = Vec::with_capacity(2 * NUMBER_BYTES + value.len());
        bytes.extend_from_slice(&[0; NUMBER_BYTES]);
        bytes.extend_from_slice(&expires_at.unwrap_or(NEVER).to_le_bytes());
        bytes.extend_from_slice(value);
        let expires_at = expires_at.filter(|end| *end != NEVER);
        Self { bytes, expires_at }
    }

    /// Its bytes, at `version`.
    pub fn at_version(&mut self, version: Version) -> &[u8] {
        let number = version.to_le_bytes();
        for (to, from) in self.bytes.iter_mut().zip(number) {
            *to = from;
        }
        &self.bytes
    }
}

/// The row of `expiries` for the entry at `place`.
pub fn expiry_row(end: u64, place: &[u8]) -> Vec<u8> {
    [&end.to_be_bytes(), place].concat()
}

/// The first row of `expiries` that is not due at `now`.
pub fn first_row_not_due(now: u64) -> [u8; NUMBER_BYTES] {
    now.saturating_add(1).to_be_bytes()
}

/// The place of the entry that a row of `expiries` is about.
pub fn place_of_expiry_row(row: &[u8]) -> &[u8] {
    row.get(NUMBER_BYTES..).unwrap_or_default()
}

/// A check, with its place worked out.
pub struct PlacedCheck {
    /// Where the entry lies.
    pub place: EntryKey,
    /// The condition that must hold there.
    pub requirement: Requirement,
}

/// A change, with its place worked out.
pub struct PlacedChange {
    /// Where the entry lies.
    pub place: EntryKey,
    /// The entry that is put there; `None` deletes.
    pub entry: Option<PendingEntry>,
}
