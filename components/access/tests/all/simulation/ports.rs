//! The clock and the store of a simulation: the clock is set, the store fails as its seed says, and either can hold a planted bug.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gatehouse_ports::doubles::{ManualClock, MemoryStore};
use gatehouse_ports::{
    Change, Check, CommitError, Difference, Entry, HeldKey, Page, Store, StoreError,
};

/// A fault of the platform that the simulation has to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    None,
    /// Some commits are reported and not done.
    DroppedWrite,
    /// Records that the reader holds are said to be unchanged.
    StaleRead,
    /// The clock misses some of its steps.
    StaleClock,
}

/// Numbers that follow from a seed (SplitMix64).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A place in a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// A store in memory under weather: in a storm reads fail, commits are lost, conflict, or are done without an answer.
pub struct WeatherStore<'a> {
    inner: MemoryStore<&'a ManualClock>,
    dice: Mutex<Dice>,
    bug: Bug,
    storm: AtomicBool,
    /// Commits that were done and whose answer was lost.
    unanswered: AtomicU64,
}

impl<'a> WeatherStore<'a> {
    pub fn new(clock: &'a ManualClock, seed: u64, bug: Bug) -> Self {
        Self {
            inner: MemoryStore::new(clock),
            dice: Mutex::new(Dice::new(seed)),
            bug,
            storm: AtomicBool::new(false),
            unanswered: AtomicU64::new(0),
        }
    }

    pub fn set_storm(&self, storm: bool) {
        self.storm.store(storm, Ordering::SeqCst);
    }

    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::SeqCst)
    }

    pub fn commits(&self) -> u64 {
        self.inner.commits()
    }

    /// FNV-1a over everything that is stored.
    pub fn digest(&self) -> u64 {
        let keys = self.inner.keys().into_iter().map(String::into_bytes);
        let bytes = keys.chain(self.inner.values()).flatten();
        bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    fn roll(&self) -> u64 {
        self.dice.lock().unwrap().below(100)
    }

    fn read(&self) -> Result<(), StoreError> {
        if self.storm.load(Ordering::SeqCst) && self.roll() < 4 {
            return Err(unavailable());
        }
        Ok(())
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("storm".to_owned())
}

impl Store for WeatherStore<'_> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.read()?;
        self.inner.get(keys)
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        self.read()?;
        let mut answers = self.inner.get_changed(keys)?;
        if self.bug == Bug::StaleRead {
            for (key, answer) in keys.iter().zip(&mut answers) {
                if key.version.is_some() {
                    *answer = Difference::Unchanged;
                }
            }
        }
        Ok(answers)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.read()?;
        self.inner.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        if self.bug == Bug::DroppedWrite && self.roll() < 5 {
            return Ok(());
        }
        if !self.storm.load(Ordering::SeqCst) {
            return self.inner.commit(checks, changes);
        }
        match self.roll() {
            0..12 => Err(unavailable().into()),
            12..24 => {
                self.inner.commit(checks, changes)?;
                self.unanswered.fetch_add(1, Ordering::SeqCst);
                Err(unavailable().into())
            }
            24..40 => {
                let key = checks.first().map(|check| check.key.clone());
                match key {
                    Some(key) => Err(CommitError::Conflict(key)),
                    None => self.inner.commit(checks, changes),
                }
            }
            _ => self.inner.commit(checks, changes),
        }
    }
}
