//! A seal with shares and the store below it, as a host has them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use gatehouse_gateway::host::{InitializeSealError, Seal, SealError, SealProgress, UnsealError};
use gatehouse_ports::doubles::{ManualClock, MemoryStore};
use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};
use zeroize::Zeroizing;

pub type Clock = &'static ManualClock;

/// The state that the double of the seal and the store below it share.
pub struct Vault {
    pub store: MemoryStore<Clock>,
    sealed: AtomicBool,
    /// True once the other servers that share the store were told to seal.
    pub others_sealed: AtomicBool,
    pub fails: Mutex<Option<Step>>,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Status,
    Store,
    Finish,
    Unseal,
}

#[derive(Default)]
struct State {
    begun: bool,
    initialized: bool,
    shares: u32,
    threshold: u32,
    given: Vec<Vec<u8>>,
}

impl Vault {
    /// A vault that was never initialized.
    pub fn empty(clock: Clock) -> Self {
        Self {
            store: MemoryStore::new(clock),
            sealed: AtomicBool::new(true),
            others_sealed: AtomicBool::default(),
            fails: Mutex::default(),
            state: Mutex::default(),
        }
    }

    fn fails(&self, step: Step) -> bool {
        *self.fails.lock().unwrap() == Some(step)
    }

    fn failure(&self, step: Step) -> Result<(), SealError> {
        match self.fails(step) {
            true => Err(SealError::Unavailable("the disk is gone".to_owned())),
            false => Ok(()),
        }
    }

    fn require_open(&self) -> Result<(), StoreError> {
        if self.sealed.load(Ordering::SeqCst) {
            return Err(StoreError::Sealed);
        }
        match self.fails(Step::Store) {
            true => Err(StoreError::Unavailable("the disk is gone".to_owned())),
            false => Ok(()),
        }
    }

    fn progress(&self, state: &State) -> SealProgress {
        SealProgress {
            initialized: state.initialized,
            sealed: self.sealed.load(Ordering::SeqCst),
            shares: state.shares,
            threshold: state.threshold,
            given: state.given.len() as u32,
            nonce: if state.given.is_empty() { "" } else { "nonce" }.to_owned(),
        }
    }
}

pub struct GatedStore(pub &'static Vault);

impl Store for GatedStore {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.0.require_open()?;
        self.0.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.0.require_open()?;
        self.0.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.0.require_open()?;
        self.0.store.commit(checks, changes)
    }
}

/// Share number n is 33 bytes of n.
pub struct ScriptedSeal(pub &'static Vault);

pub fn share(number: u8) -> Vec<u8> {
    vec![number; 33]
}

impl Seal for ScriptedSeal {
    fn status(&self) -> Result<Option<SealProgress>, SealError> {
        self.0.failure(Step::Status)?;
        Ok(Some(self.0.progress(&self.0.state.lock().unwrap())))
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError> {
        let mut state = self.0.state.lock().unwrap();
        if state.begun || state.initialized {
            return Err(InitializeSealError::AlreadyInitialized);
        }
        state.begun = true;
        (state.shares, state.threshold) = (shares, threshold);
        self.0.sealed.store(false, Ordering::SeqCst);
        Ok((1..=shares as u8).map(|n| share(n).into()).collect())
    }

    fn finish_initialization(&self) -> Result<(), SealError> {
        self.0.failure(Step::Finish)?;
        let mut state = self.0.state.lock().unwrap();
        (state.begun, state.initialized) = (false, true);
        self.0.sealed.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn abandon_initialization(&self) -> Result<(), SealError> {
        let mut state = self.0.state.lock().unwrap();
        *state = State::default();
        self.0.sealed.store(true, Ordering::SeqCst);
        let page = self.0.store.scan("", None, 1000).unwrap();
        let keys = page.items.into_iter().map(|item| item.key);
        let deletions = keys.map(Change::Delete).collect();
        self.0.store.commit(vec![], deletions).unwrap();
        Ok(())
    }

    fn unseal(&self, share: &[u8]) -> Result<SealProgress, UnsealError> {
        self.0.failure(Step::Unseal)?;
        let mut state = self.0.state.lock().unwrap();
        if !state.initialized {
            return Err(UnsealError::NotInitialized);
        }
        if share.len() != 33 {
            return Err(UnsealError::Malformed);
        }
        if self.0.sealed.load(Ordering::SeqCst) && !state.given.contains(&share.to_vec()) {
            state.given.push(share.to_vec());
            if state.given.len() as u32 == state.threshold {
                let given = std::mem::take(&mut state.given);
                let right = |share: &Vec<u8>| (1..=state.shares as u8).contains(&share[0]);
                if !given.iter().all(right) {
                    return Err(UnsealError::WrongShares);
                }
                self.0.sealed.store(false, Ordering::SeqCst);
            }
        }
        Ok(self.0.progress(&state))
    }

    fn reset_unseal(&self) -> Result<SealProgress, SealError> {
        let mut state = self.0.state.lock().unwrap();
        state.given.clear();
        Ok(self.0.progress(&state))
    }

    fn seal(&self) -> Result<(), SealError> {
        self.0.sealed.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn seal_all(&self) -> Result<(), SealError> {
        self.0.others_sealed.store(true, Ordering::SeqCst);
        self.seal()
    }
}
