//! Typed, versioned records and bounded commit retries above the key-value port.
//!
//! - [`Record`] gives a type its schema number; [`encode`] and [`decode`] are the only way from records to bytes and back.
//! - [`Records`] reads records together with the version that a later check needs.
//! - [`RecordCache`] keeps decoded records, and asks the store before every use whether they still count.
//! - [`Transaction`] collects the checks and changes of one commit.
//! - [`commit_with_retries`] repeats read, decide and commit while other writers interfere, a bounded number of times.
//! - [`Index`] makes an index that a store of an earlier release lacks, a bounded part in each commit.
//! - [`key_segment`] makes any text safe to stand between two slashes of a key.
//! - [`fails_with_the_store`] and [`wraps_failure`] make the errors of a capability from those of the store.

#[cfg(any(test, target_family = "wasm"))]
mod answers;
mod failure;
mod index;
mod key;
mod record;
mod record_cache;
mod records;
mod retry;
mod transaction;
#[cfg(target_family = "wasm")]
pub mod wasm;

pub use index::Index;
pub use key::{key_position, key_segment};
pub use record::{Loaded, Record, decode, encode};
pub use record_cache::{Cacheable, CachedReads, ReadAhead, RecordCache};
pub use records::Records;
pub use retry::{Attempt, MAXIMUM_ATTEMPTS, commit_with_retries};
pub use transaction::Transaction;

/// For the macros.
#[doc(hidden)]
pub use gatehouse_ports as ports;
use gatehouse_ports::{CommitError, StoreError};

/// Why a record could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The store itself refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The record was written by a newer version of this software; it is left untouched.
    #[error("a record has schema {found}, and this version knows schemas up to {known}")]
    NewerSchema {
        /// The number in the record.
        found: u16,
        /// The highest number that this version reads.
        known: u16,
    },
    /// The bytes are not a record of the expected kind.
    #[error("a stored record is malformed")]
    Malformed,
    /// Other writers changed the same records in every attempt.
    #[error("other writers changed the same records {0} times in a row")]
    Contended(u32),
}

/// Why a transaction was not committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionError {
    /// A check did not hold; holds the key. Read again and decide again.
    #[error("a record changed in the meantime")]
    Conflict(String),
    /// Trying again at once does not help.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<CommitError> for TransactionError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Conflict(key) => Self::Conflict(key),
            CommitError::Failed(error) => Self::Storage(error.into()),
        }
    }
}
