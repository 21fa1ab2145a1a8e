//! One tree during one call: which state of it counts, and what that state says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_ports::StoreError;

use crate::bucket::{Bucket, Host};
use crate::error::PageError;
use crate::memory::{Memory, View};
use crate::names::{Grove, RootId};
use crate::reader::Reader;
use crate::root::Seal;
use crate::surroundings::Surroundings;

/// How often a commit is tried while others come first, and a read while what it reads is cleared away.
///
/// Twice the sixteen attempts of SEC-S6: those are for two who change the same record, and here each commit is in the way of every
/// other.
pub const MAXIMUM_ATTEMPTS: u32 = 32;

/// A compare-and-swap under way in a bucket of `H`.
pub type Swap<H> = <<H as Host>::Bucket as Bucket>::Swap;

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One tree during one call.
pub struct Visit<'a, H: Host, C, R> {
    pub grove: Grove,
    pub remembered: &'a Mutex<Memory>,
    pub around: &'a Surroundings<H, C, R>,
    pub bucket: Arc<H::Bucket>,
}

impl<H: Host, C, R> Visit<'_, H, C, R> {
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(self.remembered)
    }

    /// The root that counts now.
    pub fn head(&self) -> Result<Option<RootId>, StoreError> {
        let (_, found) = self.record_of_head()?;
        found.map_or(Ok(None), head_of)
    }

    /// The root that counts now, and a swap that is possible as long as that stays so.
    ///
    /// The head has a record then. A host may overwrite unasked what came into being after it was asked: so a swap needs a record that is
    /// there.
    pub fn head_to_swap(&self) -> Result<(Swap<H>, Option<RootId>), StoreError> {
        if let (swap, Some(found)) = self.record_of_head()? {
            return Ok((swap, head_of(found)?));
        }
        let name = self.grove.head(&self.around.label);
        let made = self.bucket.increment(&name, 0);
        made.map_err(|error| self.around.failed(error))?;
        let (swap, found) = self.record_of_head()?;
        let why = "the host's key-value store does not keep the counter that was just made; use the SQLite provider";
        let found = found.ok_or_else(|| StoreError::Unavailable(why.to_owned()))?;
        Ok((swap, head_of(found)?))
    }

    fn record_of_head(&self) -> Result<(Swap<H>, Option<Vec<u8>>), StoreError> {
        let name = self.grove.head(&self.around.label);
        let current = self.bucket.current(&name);
        current.map_err(|error| self.around.failed(error))
    }

    /// The state that `head` names.
    pub fn view(&self, head: Option<RootId>) -> Result<View, PageError> {
        let around = self.around;
        let Some(id) = head else {
            // Nothing to open, and yet no instance reads or writes here without the key.
            around.root_key()?;
            return Ok(View::empty(None));
        };
        let last = self.memory().last().cloned();
        if let Some(last) = &last
            && last.id == head
        {
            return Ok(last.clone());
        }
        let name = self.grove.root(&around.label, id);
        let record = self.bucket.get(&name);
        let record = record.map_err(|error| around.failed(error))?;
        let record = record.ok_or(PageError::Missing)?;
        let known = last.and_then(|view| view.seal);
        let root_key = || around.root_key();
        let (seal, root) = Seal::read(&around.label, &name, &record, known, root_key)?;
        let view = View {
            id: head,
            root: Arc::new(root),
            seal: Some(seal),
        };
        self.memory().keep_view(view.clone());
        Ok(view)
    }

    /// A reader of `view`, for whom everything is absent that had expired at `now`.
    pub fn reader(&self, view: &View, now: u64) -> Reader<'_, H::Bucket> {
        Reader {
            bucket: &self.bucket,
            label: &self.around.label,
            memory: self.remembered,
            seal: view.seal.clone(),
            now,
        }
    }
}

fn head_of(found: Vec<u8>) -> Result<Option<RootId>, StoreError> {
    let head = <[u8; 8]>::try_from(found).map_err(|found| {
        StoreError::Unavailable(format!(
            "the head of the store has {} bytes instead of 8: it was altered, or the provider behind the key-value store keeps \
             numbers in a way of its own; use the SQLite provider",
            found.len()
        ))
    })?;
    Ok(RootId::from_head(head))
}
