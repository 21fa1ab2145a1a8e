//! The store of one capability: the Rust face of the WIT interface `gatehouse:storage/key-value`, which is its specification.
//!
//! The types have the fields and cases of that interface, so that they cross it as they are: in components by what `wit_bindgen` generates for
//! them, and in a host of components (feature `host`) by what wasmtime derives.

#[cfg(feature = "host")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Longest key, in bytes.
pub const MAXIMUM_KEY_BYTES: usize = 512;
/// Longest value, in bytes.
pub const MAXIMUM_VALUE_BYTES: usize = 1024 * 1024;
/// Most keys, checks or changes in one call.
pub const MAXIMUM_KEYS_PER_CALL: usize = 1024;
/// Most items in one page of a scan.
pub const MAXIMUM_SCAN_LIMIT: u32 = 1000;

/// Marks one state of one entry; compares for equality only.
pub type Version = u64;

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(record))]
pub struct Entry {
    /// The bytes of the last put.
    pub value: Vec<u8>,
    /// To be given back in a check.
    pub version: Version,
}

/// A key, and which state of its entry the reader still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lift), component(record))]
pub struct HeldKey {
    /// The whole key.
    pub key: String,
    /// The version that the reader holds; `None` where it holds none.
    pub version: Option<Version>,
}

impl HeldKey {
    /// A key of which nothing is held.
    #[must_use]
    pub fn unknown(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            version: None,
        }
    }
}

/// How an entry differs from what its reader holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(variant))]
pub enum Difference {
    /// There is no entry, or it has expired.
    #[cfg_attr(feature = "host", component(name = "absent"))]
    Absent,
    /// The entry is still at the version that the reader holds.
    #[cfg_attr(feature = "host", component(name = "unchanged"))]
    Unchanged,
    /// The entry as it is now.
    #[cfg_attr(feature = "host", component(name = "changed"))]
    Changed(Entry),
}

impl Difference {
    /// The difference that `entry` makes to a reader that holds `version` of it.
    #[must_use]
    pub fn between(version: Option<Version>, entry: Option<Entry>) -> Self {
        match entry {
            None => Self::Absent,
            Some(entry) if version == Some(entry.version) => Self::Unchanged,
            Some(entry) => Self::Changed(entry),
        }
    }
}

/// One hit of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(record))]
pub struct Item {
    /// The whole key.
    pub key: String,
    /// The value under it.
    pub entry: Entry,
}

/// A part of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(record))]
pub struct Page {
    /// In ascending byte order of their keys.
    pub items: Vec<Item>,
    /// True if more entries match than this page holds.
    pub more: bool,
}

/// The condition of a commit on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lift), component(variant))]
pub enum Requirement {
    /// No entry, or one that has expired.
    #[cfg_attr(feature = "host", component(name = "absent"))]
    Absent,
    /// An entry that is still at this version.
    #[cfg_attr(feature = "host", component(name = "at-version"))]
    AtVersion(Version),
}

/// A key and what is required of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lift), component(record))]
pub struct Check {
    /// It need not be among the keys that the commit changes.
    pub key: String,
    /// The condition that must hold when the commit applies.
    pub requirement: Requirement,
}

/// A new value for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lift), component(record))]
pub struct Put {
    /// Where to store it.
    pub key: String,
    /// Replaces whatever was there.
    pub value: Vec<u8>,
    /// Milliseconds since 1970 from which on the entry reads as absent; `None` for never.
    #[cfg_attr(feature = "host", component(name = "expires-at"))]
    pub expires_at: Option<u64>,
}

/// One effect of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(ComponentType, Lift), component(variant))]
pub enum Change {
    /// Stores a value.
    #[cfg_attr(feature = "host", component(name = "put"))]
    Put(Put),
    /// Removes the entry of this key, if there is one.
    #[cfg_attr(feature = "host", component(name = "delete"))]
    Delete(String),
}

impl Change {
    /// The key that this changes.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Put(Put { key, .. }) | Self::Delete(key) => key,
        }
    }
}

/// Why the store did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(variant))]
pub enum StoreError {
    /// The store has not been unlocked yet.
    #[error("the store is sealed")]
    #[cfg_attr(feature = "host", component(name = "sealed"))]
    Sealed,
    /// It cannot be reached, is full, or failed. The text holds neither keys nor values.
    #[error("the store is unavailable: {0}")]
    #[cfg_attr(feature = "host", component(name = "unavailable"))]
    Unavailable(String),
    /// An entry exists and cannot be trusted; holds the key.
    #[error("a stored record is damaged")]
    #[cfg_attr(feature = "host", component(name = "corrupt"))]
    Corrupt(String),
    /// The question itself is wrong.
    #[error("the store was asked wrongly: {0}")]
    #[cfg_attr(feature = "host", component(name = "invalid"))]
    Invalid(String),
}

/// Why a commit did not apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "host", derive(ComponentType, Lower), component(variant))]
pub enum CommitError {
    /// A check did not hold; holds the key of the first that failed.
    #[error("a record changed in the meantime")]
    #[cfg_attr(feature = "host", component(name = "conflict"))]
    Conflict(String),
    /// Not about the checks.
    #[error(transparent)]
    #[cfg_attr(feature = "host", component(name = "failed"))]
    Failed(#[from] StoreError),
}

/// A private, ordered, durable map with a conditional, atomic commit.
pub trait Store {
    /// Reads the entries of `keys`, at one point in time, in their order.
    ///
    /// # Errors
    ///
    /// When the store does not answer or an entry cannot be trusted.
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError>;

    /// Reads the entries of `keys` like [`Self::get`], without those that are still at the version that the reader holds.
    ///
    /// # Errors
    ///
    /// When the store does not answer or an entry cannot be trusted.
    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        let plain: Vec<&str> = keys.iter().map(|held| held.key.as_str()).collect();
        let entries = self.get(&plain)?;
        if entries.len() != keys.len() {
            let why = "the store gave not one entry for each key";
            return Err(StoreError::Unavailable(why.to_owned()));
        }
        let difference = |(held, entry): (&HeldKey, _)| Difference::between(held.version, entry);
        Ok(keys.iter().zip(entries).map(difference).collect())
    }

    /// Reads entries whose key starts with `prefix` and is greater than `after`, in byte order, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// When the store does not answer, an entry cannot be trusted, or `limit` is not within 1 to [`MAXIMUM_SCAN_LIMIT`].
    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError>;

    /// Applies all `changes` durably if every check holds, and otherwise nothing.
    ///
    /// # Errors
    ///
    /// When a check did not hold or the store failed; nothing was changed then.
    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError>;
}

impl<S: Store + ?Sized> Store for &S {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        (**self).get(keys)
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        (**self).get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        (**self).scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        (**self).commit(checks, changes)
    }
}
