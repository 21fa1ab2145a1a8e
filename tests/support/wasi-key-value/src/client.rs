//! One client of the stores: the stores that it may open, the calls that it made, and the faults that it meets.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::records::Records;
use crate::{Bucket, Error};

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `bucket.get`
    Get,
    /// `bucket.set`
    Set,
    /// `bucket.delete`
    Delete,
    /// `bucket.exists`
    Exists,
    /// `bucket.list-keys`
    ListKeys,
    /// `atomics.increment`
    Increment,
    /// `cas.current`
    Current,
    /// `atomics.swap`
    Swap,
    /// One key of `batch.get-many`
    GetMany,
    /// One pair of `batch.set-many`
    SetMany,
    /// One key of `batch.delete-many`
    DeleteMany,
}

impl Operation {
    const fn writes(self) -> bool {
        matches!(
            self,
            Self::Set
                | Self::Delete
                | Self::Increment
                | Self::Swap
                | Self::SetMany
                | Self::DeleteMany
        )
    }
}

/// A call that is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// The kind of the call.
    pub operation: Operation,
    /// The key that it is about; empty for `list-keys`.
    pub key: &'a str,
    /// The value that it would write.
    pub value: Option<&'a [u8]>,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It happens.
    Proceed,
    /// It fails, and nothing happens.
    Fail(Error),
    /// It happens, and its caller is told that it failed.
    ProceedAndFail(Error),
    /// A swap happens, and its caller is told that the record had changed: as by a host that lost the answer and has repeated the swap. For
    /// any other call it means [`Self::Proceed`].
    ProceedAndRefuse,
    /// A `get` or `current` returns this instead of what is stored. For any other call it means [`Self::Proceed`].
    Answer(Option<Vec<u8>>),
}

/// A call that a client must not make to be right on every host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misuse {
    /// An increment of a record that has not eight bytes: Spin panics.
    IncrementOfNoCounter,
    /// A swap that compared nothing and overwrote a record that was there.
    BlindSwap,
}

/// The number of a client's calls of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uses {
    /// Calls of `open`.
    pub opens: u64,
    /// Calls of `get`.
    pub gets: u64,
    /// Calls of `set`.
    pub sets: u64,
    /// Calls of `delete`.
    pub deletes: u64,
    /// Calls of `increment`.
    pub increments: u64,
    /// Calls of `current`.
    pub currents: u64,
    /// Calls of `swap`.
    pub swaps: u64,
    /// Calls of `set-many`, of whatever number of pairs.
    pub set_manys: u64,
    /// All other calls.
    pub others: u64,
}

/// A false answer that a caller is given.
pub(crate) enum Lie {
    /// This is stored.
    Stored(Option<Vec<u8>>),
    /// The record has changed.
    Changed,
}

type Interceptor = dyn Fn(&Call<'_>) -> Verdict + Send + Sync;

/// The stores of one component, as one client sees them. Clones are the same client.
#[derive(Clone)]
pub struct KeyValue {
    records: Arc<Mutex<Records>>,
    declared: Arc<BTreeSet<String>>,
    missing: Arc<BTreeSet<String>>,
    condition: Arc<Mutex<Condition>>,
}

#[derive(Default)]
struct Condition {
    writes_left: Option<u64>,
    stopped: bool,
    interceptor: Option<Arc<Interceptor>>,
    uses: Uses,
    misuses: Vec<Misuse>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KeyValue {
    /// Empty stores under these labels, in memory.
    #[must_use]
    pub fn new(labels: &[&str]) -> Self {
        Self::over(Records::default(), labels)
    }

    /// The stores under these labels whose records are kept in the file at `path`, which is made if need be.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or made.
    pub fn in_file(path: &Path, labels: &[&str]) -> io::Result<Self> {
        Ok(Self::over(Records::in_file(path)?, labels))
    }

    fn over(records: Records, labels: &[&str]) -> Self {
        Self {
            records: Arc::new(Mutex::new(records)),
            declared: Arc::new(labels.iter().map(|label| (*label).to_owned()).collect()),
            missing: Arc::default(),
            condition: Arc::default(),
        }
    }

    /// A client of the same records that nothing has gone wrong for.
    #[must_use]
    pub fn another_client(&self) -> Self {
        Self {
            condition: Arc::default(),
            ..self.clone()
        }
    }

    /// A client of the same records for which nothing but these labels is declared.
    #[must_use]
    pub fn client_with(&self, labels: &[&str]) -> Self {
        Self {
            declared: Arc::new(labels.iter().map(|label| (*label).to_owned()).collect()),
            ..self.another_client()
        }
    }

    /// A client for which the label is declared and no store stands behind it.
    #[must_use]
    pub fn client_without_store(&self, label: &str) -> Self {
        Self {
            missing: Arc::new(BTreeSet::from([label.to_owned()])),
            ..self.another_client()
        }
    }

    /// Opens the store behind `label`.
    ///
    /// # Errors
    ///
    /// When the label is not declared, no store stands behind it, or the client was stopped.
    pub fn open(&self, label: &str) -> Result<Bucket, Error> {
        let mut condition = lock(&self.condition);
        condition.uses.opens += 1;
        if condition.stopped {
            return Err(stopped());
        }
        if !self.declared.contains(label) {
            return Err(Error::AccessDenied);
        }
        if self.missing.contains(label) {
            return Err(Error::NoSuchStore);
        }
        Ok(Bucket::new(self.clone(), label))
    }

    /// Lets `writes` more single writes happen. Every call after them fails and does nothing: the client has been cut off.
    pub fn stop_after_writes(&self, writes: u64) {
        lock(&self.condition).writes_left = Some(writes);
    }

    /// True if a call came after the last write that was to happen.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        lock(&self.condition).stopped
    }

    /// Asks `interceptor` about every call from now on. It may sleep, and it may use other clients.
    pub fn intercept(&self, interceptor: impl Fn(&Call<'_>) -> Verdict + Send + Sync + 'static) {
        lock(&self.condition).interceptor = Some(Arc::new(interceptor));
    }

    /// Lets every call happen again.
    pub fn intercept_nothing(&self) {
        lock(&self.condition).interceptor = None;
    }

    /// The number of this client's calls by kind since the last time that this was asked.
    pub fn take_uses(&self) -> Uses {
        std::mem::take(&mut lock(&self.condition).uses)
    }

    /// The calls that this client should never have made.
    #[must_use]
    pub fn misuses(&self) -> Vec<Misuse> {
        lock(&self.condition).misuses.clone()
    }

    /// The keys of the store behind `label`, in order, whichever client asks.
    #[must_use]
    pub fn stored_keys(&self, label: &str) -> Vec<String> {
        lock(&self.records).keys(label)
    }

    /// The value that is stored for `key`, whichever client asks.
    #[must_use]
    pub fn stored(&self, label: &str, key: &str) -> Option<Vec<u8>> {
        lock(&self.records).get(label, key).cloned()
    }

    /// Stores a value without a call that any client notices.
    pub fn store(&self, label: &str, key: &str, value: &[u8]) {
        lock(&self.records).put(label, key, value.to_vec());
    }

    /// Removes a key without a call that any client notices.
    pub fn remove(&self, label: &str, key: &str) {
        lock(&self.records).remove(label, key);
    }

    pub(crate) fn note(&self, misuse: Misuse) {
        lock(&self.condition).misuses.push(misuse);
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut Uses)) {
        count(&mut lock(&self.condition).uses);
    }

    /// Makes one call, as far as the interceptor and the end of the client let it happen. `as_told` is the answer to a caller that is lied to,
    /// where such a call can be.
    pub(crate) fn call<T>(
        &self,
        call: &Call<'_>,
        as_told: impl FnOnce(Lie) -> Option<T>,
        proceed: impl FnOnce(&mut Records) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if lock(&self.condition).stopped {
            return Err(stopped());
        }
        let interceptor = lock(&self.condition).interceptor.clone();
        let verdict = interceptor.map_or(Verdict::Proceed, |intercept| intercept(call));
        let told = match verdict {
            Verdict::Proceed => None,
            Verdict::Fail(error) => return Err(error),
            Verdict::ProceedAndFail(error) => Some(Err(error)),
            Verdict::ProceedAndRefuse => as_told(Lie::Changed).map(Ok),
            Verdict::Answer(answer) => match as_told(Lie::Stored(answer)) {
                Some(answer) => return Ok(answer),
                None => None,
            },
        };
        let mut records = lock(&self.records);
        self.take_one_write(call.operation)?;
        let outcome = proceed(&mut records);
        told.unwrap_or(outcome)
    }

    fn take_one_write(&self, operation: Operation) -> Result<(), Error> {
        if !operation.writes() {
            return Ok(());
        }
        let mut condition = lock(&self.condition);
        match &mut condition.writes_left {
            None => Ok(()),
            Some(0) => {
                condition.stopped = true;
                Err(stopped())
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

fn stopped() -> Error {
    Error::other("this client was cut off")
}
