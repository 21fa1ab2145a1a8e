//! The tables of a database, and the statements that the adapter needs of every kind of database.

use std::sync::Arc;

use gatehouse_barrier::Barrier;
use gatehouse_ports::{Check, Clock, HeldKey, Random, StoreError, Version};

/// Rows that a purge drops at most: more than the commits can have added to which there is one.
pub(crate) const PURGED_ROWS: i64 = 256;

/// A table of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Records that capabilities store.
    Entry,
    /// Values that their instances share and can lose.
    Cache,
}

/// A row that was found: what the database says, not opened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The place of its key among those that were asked for.
    pub index: usize,
    /// The version of the entry.
    pub version: Version,
    /// The sealed value; `None` where the caller holds it.
    pub sealed: Option<Vec<u8>>,
}

/// A row of a page, not opened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The key of the entry.
    pub key: String,
    /// The version of the entry.
    pub version: Version,
    /// The sealed value.
    pub sealed: Vec<u8>,
}

/// The keys of a page: from one on, but not `except`, up to an end that is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range<'a> {
    /// The first key that may be among them.
    pub from: &'a str,
    /// A key that is none of them.
    pub except: &'a str,
    /// Above all of them.
    pub end: &'a str,
}

impl<'a> Range<'a> {
    /// The keys behind `after`, or from `first` on where there is none, up to `end`.
    #[must_use]
    pub fn after(after: Option<&'a str>, first: &'a str, end: &'a str) -> Self {
        Self {
            from: after.unwrap_or(first),
            except: after.unwrap_or_default(),
            end,
        }
    }
}

/// A change of an entry, with its value sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedChange<'a> {
    /// The key of the entry.
    pub key: &'a str,
    /// The sealed value and its end, in milliseconds since 1970; `None` for a removal.
    pub put: Option<(Vec<u8>, Option<u64>)>,
}

/// The outcome of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// All is written.
    Applied,
    /// Nothing is: a check did not hold. Its place, where the statement tells it.
    Refused(Option<usize>),
}

/// The tables of one capability in one database. Each call is one statement, which is a transaction by itself; times are in milliseconds
/// since 1970, and entries whose end is not after `now` are absent.
pub trait Tables {
    /// The time by which entries expire.
    type Clock: Clock;
    /// Where versions and keys come from.
    type Random: Random;

    /// The time by which entries expire.
    fn clock(&self) -> &Self::Clock;

    /// Where versions and keys come from.
    fn random(&self) -> &Self::Random;

    /// The name of the store, to which its values are sealed.
    fn label(&self) -> &str;

    /// The keys that seal the values. Makes the tables ready, which are made where there are none.
    ///
    /// # Errors
    ///
    /// When the database cannot be used, or was made with another key.
    fn barrier(&self) -> Result<Arc<Barrier>, StoreError>;

    /// Reads at most 96 entries as they are at one point in time, in any order, without the values that are held.
    ///
    /// # Errors
    ///
    /// When the database fails.
    fn find(&self, table: Table, keys: &[HeldKey], now: u64) -> Result<Vec<Found>, StoreError>;

    /// Reads the versions of any number of entries as they are at one point in time, each with the place of its key, in any order.
    ///
    /// # Errors
    ///
    /// When the database fails.
    fn find_versions(
        &self,
        table: Table,
        keys: &[&str],
        now: u64,
    ) -> Result<Vec<(usize, Version)>, StoreError>;

    /// Reads a page, in the order of its keys: at least one row more than `limit`, where there are so many, and up to the one that passes
    /// `bytes`.
    ///
    /// # Errors
    ///
    /// When the database fails.
    fn scan(
        &self,
        table: Table,
        range: &Range<'_>,
        now: u64,
        limit: u32,
        bytes: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Writes all of `changes` at `version` if every check holds, and otherwise nothing.
    ///
    /// # Errors
    ///
    /// When the database fails. Where it cannot be told whether it had written, the text says so.
    fn commit(
        &self,
        table: Table,
        checks: &[Check],
        changes: &[SealedChange<'_>],
        version: Version,
        now: u64,
    ) -> Result<Committed, StoreError>;

    /// The place of the first of `checks` that does not hold.
    ///
    /// # Errors
    ///
    /// When the database fails.
    fn first_failed(
        &self,
        table: Table,
        checks: &[Check],
        now: u64,
    ) -> Result<Option<usize>, StoreError>;

    /// Drops some rows whose time has come by `until`, a few more than commits can have added since. Nothing is lost where that fails.
    fn purge(&self, table: Table, until: u64);

    /// The error of an answer that is none to its statement.
    fn nonsense(&self) -> StoreError;
}

/// A version as a number of the database. One that no entry can have is one that none has.
pub(crate) fn version_number(version: Version) -> i64 {
    i64::try_from(version).unwrap_or(-1)
}

/// A time as a number of the database; what is later than the last one stands for it.
pub(crate) fn time_number(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
