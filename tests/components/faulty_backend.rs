//! A store that answers as it should until it is told not to, or for a number of calls.

use std::sync::{Arc, Mutex};

use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Item, Page, StoreError,
};
use gatehouse_store::{Answer, Backend, MemoryBackend, Namespace};

/// The fault of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It says that it cannot be reached.
    Unavailable,
    /// It says that it is sealed.
    Sealed,
    /// It says that records are damaged.
    Corrupt,
    /// It does not understand what it is asked.
    Invalid,
    /// It answers for one key less than it was asked for.
    EntryTooFew,
    /// It answers for one key more than it was asked for.
    EntryTooMany,
    /// It reports every entry as unchanged, even to a caller that holds none.
    Unchanged,
    /// Its values are bytes that were never written.
    Undecodable,
    /// Its values are records, of something else.
    OfAnotherKind,
    /// Its versions are others at every read.
    ChangingVersions,
    /// Its pages hold what was not asked for.
    OutsideThePrefix,
    /// Its pages go backwards.
    OutOfOrder,
    /// Its pages never end, and hold nothing.
    EmptyPages,
    /// Its pages never end: each is the first one.
    SamePages,
    /// It reads, and fails to write.
    CommitFails,
    /// It reads, and finds at every write that another writer was faster.
    CommitConflicts,
    /// It does not answer.
    Silent,
}

impl Fault {
    /// The faults that a reader meets, whatever it reads.
    pub const OF_READING: [Self; 9] = [
        Self::Unavailable,
        Self::Sealed,
        Self::Corrupt,
        Self::Invalid,
        Self::EntryTooFew,
        Self::EntryTooMany,
        Self::Unchanged,
        Self::Undecodable,
        Self::OfAnotherKind,
    ];
    /// The faults that a reader of pages meets.
    pub const OF_SCANNING: [Self; 4] = [
        Self::OutsideThePrefix,
        Self::OutOfOrder,
        Self::EmptyPages,
        Self::SamePages,
    ];
    /// The faults that a writer meets.
    pub const OF_WRITING: [Self; 3] = [
        Self::ChangingVersions,
        Self::CommitFails,
        Self::CommitConflicts,
    ];

    fn error(self) -> Option<StoreError> {
        match self {
            Self::Unavailable => Some(StoreError::Unavailable("as told".to_owned())),
            Self::Sealed => Some(StoreError::Sealed),
            Self::Corrupt => Some(StoreError::Corrupt("a/key".to_owned())),
            Self::Invalid => Some(StoreError::Invalid("as told".to_owned())),
            _ => None,
        }
    }
}

/// A memory backend with a fault that can be switched on and off.
pub struct FaultyBackend {
    inner: MemoryBackend,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    calls_before: u64,
    was_met: bool,
    reads: u64,
}

impl FaultyBackend {
    pub fn new(inner: MemoryBackend) -> Arc<Self> {
        Arc::new(Self {
            inner,
            state: Mutex::default(),
        })
    }

    /// From now on the store has this fault; none for `None`.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.state.lock().unwrap();
        state.fault = fault;
        state.calls_before = 0;
        state.was_met = false;
    }

    /// After this many more calls the store has this fault.
    pub fn set_fault_after(&self, calls: u64, fault: Fault) {
        self.set_fault(Some(fault));
        self.state.lock().unwrap().calls_before = calls;
    }

    /// True if a call has come while there was a fault, since the last time that one was set or taken away.
    pub fn was_met(&self) -> bool {
        self.state.lock().unwrap().was_met
    }

    fn fault(&self) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        state.reads += 1;
        if state.calls_before > 0 {
            state.calls_before -= 1;
            return None;
        }
        state.was_met = state.fault.is_some();
        state.fault
    }

    /// An entry as it is read while there is `fault`.
    fn disfigured(&self, fault: Fault, entry: Entry) -> Entry {
        let reads = self.state.lock().unwrap().reads;
        match fault {
            Fault::Undecodable => Entry {
                value: vec![0xff; 16],
                ..entry
            },
            Fault::OfAnotherKind => Entry {
                value: b"\x00\x01{\"of\":[\"another\",{\"kind\":null}]}".to_vec(),
                ..entry
            },
            Fault::ChangingVersions => Entry {
                version: u64::MAX - reads,
                ..entry
            },
            _ => entry,
        }
    }
}

impl Backend for FaultyBackend {
    fn get_changed<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [HeldKey],
    ) -> Answer<'a, Result<Vec<Difference>, StoreError>> {
        Box::pin(async move {
            let Some(fault) = self.fault() else {
                return self.inner.get_changed(namespace, keys).await;
            };
            if let Some(error) = fault.error() {
                return Err(error);
            }
            let keys: Vec<HeldKey> = match fault {
                Fault::Silent => std::future::pending().await,
                // The inner store gets no versions, so that no cache hides the fault.
                _ => keys
                    .iter()
                    .map(|held| HeldKey::unknown(&held.key))
                    .collect(),
            };
            let mut found = self.inner.get_changed(namespace, &keys).await?;
            match fault {
                Fault::EntryTooFew => drop(found.pop()),
                Fault::EntryTooMany => found.push(Difference::Absent),
                Fault::Unchanged => found.fill(Difference::Unchanged),
                _ => {}
            }
            let difference = |difference| match difference {
                Difference::Changed(entry) => Difference::Changed(self.disfigured(fault, entry)),
                other => other,
            };
            Ok(found.into_iter().map(difference).collect())
        })
    }

    fn get<'a>(
        &'a self,
        namespace: Namespace,
        keys: &'a [&'a str],
    ) -> Answer<'a, Result<Vec<Option<Entry>>, StoreError>> {
        Box::pin(async move {
            let keys: Vec<HeldKey> = keys.iter().map(|key| HeldKey::unknown(*key)).collect();
            let entry = |difference| match difference {
                Difference::Changed(entry) => Some(entry),
                Difference::Absent | Difference::Unchanged => None,
            };
            let found = self.get_changed(namespace, &keys).await?;
            Ok(found.into_iter().map(entry).collect())
        })
    }

    fn scan<'a>(
        &'a self,
        namespace: Namespace,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            let Some(fault) = self.fault() else {
                return self.inner.scan(namespace, prefix, after, limit).await;
            };
            if let Some(error) = fault.error() {
                return Err(error);
            }
            let entry = || Entry {
                value: b"\x00\x01{}".to_vec(),
                version: 1,
            };
            let item = |key: String| Item {
                key,
                entry: entry(),
            };
            let page = |items, more| Ok(Page { items, more });
            match fault {
                Fault::Silent => std::future::pending().await,
                Fault::OutsideThePrefix => page(vec![item(format!("!{prefix}a"))], false),
                Fault::OutOfOrder => page(
                    ["b", "a"].map(|it| item(format!("{prefix}{it}"))).into(),
                    false,
                ),
                Fault::EmptyPages => page(Vec::new(), true),
                Fault::SamePages => page(vec![item(format!("{prefix}a"))], true),
                fault => {
                    let mut page = self.inner.scan(namespace, prefix, after, limit).await?;
                    for item in &mut page.items {
                        item.entry = self.disfigured(fault, item.entry.clone());
                    }
                    Ok(page)
                }
            }
        })
    }

    fn commit(
        &self,
        namespace: Namespace,
        checks: Vec<Check>,
        changes: Vec<Change>,
    ) -> Answer<'_, Result<(), CommitError>> {
        Box::pin(async move {
            let Some(fault) = self.fault() else {
                return self.inner.commit(namespace, checks, changes).await;
            };
            if let Some(error) = fault.error() {
                return Err(error.into());
            }
            match fault {
                Fault::Silent => std::future::pending().await,
                Fault::CommitFails => Err(StoreError::Unavailable("as told".to_owned()).into()),
                Fault::CommitConflicts => Err(CommitError::Conflict("a/key".to_owned())),
                _ => self.inner.commit(namespace, checks, changes).await,
            }
        })
    }
}
