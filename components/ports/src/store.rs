//! The store of one capability: the Rust face of the WIT interface `gatehouse:storage/key-value`, which is its specification.

/// Longest key, in bytes.
pub const MAXIMUM_KEY_BYTES: usize = 512;
/// Longest value, in bytes.
pub const MAXIMUM_VALUE_BYTES: usize = 1024 * 1024;
/// Most keys, checks or changes in one call.
pub const MAXIMUM_KEYS_PER_CALL: usize = 1024;
/// Most items in one page of a scan.
pub const MAXIMUM_SCAN_LIMIT: u32 = 1000;

/// Marks one state of one entry; compares for equality only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version(pub u64);

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The bytes of the last put.
    pub value: Vec<u8>,
    /// To be given back in a check.
    pub version: Version,
}

/// A key, and which state of its entry the reader still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldKey<'a> {
    /// The whole key.
    pub key: &'a str,
    /// The version that the reader holds; `None` where it holds none.
    pub version: Option<Version>,
}

impl<'a> HeldKey<'a> {
    /// A key of which nothing is held.
    #[must_use]
    pub const fn unknown(key: &'a str) -> Self {
        Self { key, version: None }
    }
}

/// How an entry differs from what its reader holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// There is no entry, or it has expired.
    Absent,
    /// The entry is still at the version that the reader holds.
    Unchanged,
    /// The entry as it is now.
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
pub struct Item {
    /// The whole key.
    pub key: String,
    /// The value under it.
    pub entry: Entry,
}

/// A part of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// In ascending byte order of their keys.
    pub items: Vec<Item>,
    /// True if more entries match than this page holds.
    pub more: bool,
}

/// The condition of a commit on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// No entry, or one that has expired.
    Absent,
    /// An entry that is still at this version.
    AtVersion(Version),
}

/// A key and what is required of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// It need not be among the keys that the commit changes.
    pub key: String,
    /// The condition that must hold when the commit applies.
    pub requirement: Requirement,
}

/// One effect of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Stores a value, replacing whatever was there.
    Put {
        /// Where to store it.
        key: String,
        /// The new value.
        value: Vec<u8>,
        /// Milliseconds since 1970 from which on the entry reads as absent; `None` for never.
        expires_at: Option<u64>,
    },
    /// Removes the entry of a key, if there is one.
    Delete {
        /// The key.
        key: String,
    },
}

impl Change {
    /// The key that this changes.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}

/// Why the store did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store has not been unlocked yet.
    #[error("the store is sealed")]
    Sealed,
    /// It cannot be reached, is full, or failed. The text holds neither keys nor values.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// An entry exists and cannot be trusted; holds the key.
    #[error("a stored record is damaged")]
    Corrupt(String),
    /// The question itself is wrong.
    #[error("the store was asked wrongly: {0}")]
    Invalid(String),
}

/// Why a commit did not apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A check did not hold; holds the key of the first that failed.
    #[error("a record changed in the meantime")]
    Conflict(String),
    /// Not about the checks.
    #[error(transparent)]
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
    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        let plain: Vec<&str> = keys.iter().map(|held| held.key).collect();
        let entries = self.get(&plain)?;
        if entries.len() != keys.len() {
            let why = "the store gave not one entry for each key";
            return Err(StoreError::Unavailable(why.to_owned()));
        }
        let difference =
            |(held, entry): (&HeldKey<'_>, _)| Difference::between(held.version, entry);
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

    fn get_changed(&self, keys: &[HeldKey<'_>]) -> Result<Vec<Difference>, StoreError> {
        (**self).get_changed(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        (**self).scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        (**self).commit(checks, changes)
    }
}
