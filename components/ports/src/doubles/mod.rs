//! Doubles of the ports that live in memory, for tests.

mod counting_store;
mod faults;

pub use counting_store::{CountingStore, StoreCounts};
pub use faults::{BrokenStore, FaultyStore, NoRandom};

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{
    Cache, Change, Check, Clock, CommitError, Difference, Entry, HeldKey, Http, HttpError,
    HttpRequest, HttpResponse, Item, MAXIMUM_KEY_BYTES, MAXIMUM_KEYS_PER_CALL, MAXIMUM_SCAN_LIMIT,
    MAXIMUM_VALUE_BYTES, Page, Put, Random, RandomError, Requirement, Store, StoreError, Version,
};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does not compile where one of the types has one of the traits: for secrets, which must not have `Debug`, `Display` and the like
/// (SEC-K6).
#[macro_export]
macro_rules! assert_lacks {
    ([$($type:ty),+ $(,)?], $traits:tt) => {
        $($crate::assert_lacks!(@one $type, $traits);)+
    };
    (@one $type:ty, [$($trait:path),+ $(,)?]) => {
        const _: fn() = || {
            trait Lacks<Which> {
                fn named() {}
            }
            // With no other implementation there is one choice for `Which`; with one more there are two, and inference fails.
            impl<T: ?Sized> Lacks<()> for T {}
            $(const _: () = {
                struct Has;
                impl<T: ?Sized + $trait> Lacks<Has> for T {}
            };)+
            let _ = <$type as Lacks<_>>::named;
        };
    };
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicU64,
    /// The time that is certain; the present one where it is 0.
    certain: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `seconds` since 1970.
    #[must_use]
    pub fn at_seconds(seconds: u64) -> Self {
        Self {
            now: AtomicU64::new(seconds.saturating_mul(1000)),
            certain: AtomicU64::new(0),
        }
    }

    /// Sets the clock, forward or back.
    pub fn set_milliseconds(&self, milliseconds: u64) {
        self.now.store(milliseconds, Ordering::SeqCst);
    }

    /// From now on the clock shows time that is not certain.
    pub fn doubt(&self) {
        self.certain
            .store(self.now_milliseconds(), Ordering::SeqCst);
    }

    /// Goes back to the time that was certain, which it shows from then on.
    pub fn go_back(&self) {
        self.set_milliseconds(self.certain_milliseconds());
        self.be_certain();
    }

    /// The time of the clock is certain again.
    pub fn be_certain(&self) {
        self.certain.store(0, Ordering::SeqCst);
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.now.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_milliseconds(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn certain_milliseconds(&self) -> u64 {
        match self.certain.load(Ordering::SeqCst) {
            0 => self.now_milliseconds(),
            certain => certain,
        }
    }

    fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now_milliseconds(&self) -> u64 {
        (**self).now_milliseconds()
    }

    fn certain_milliseconds(&self) -> u64 {
        (**self).certain_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        (**self).sleep(duration);
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now_milliseconds(&self) -> u64 {
        (**self).now_milliseconds()
    }

    fn certain_milliseconds(&self) -> u64 {
        (**self).certain_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        (**self).sleep(duration);
    }
}

/// Shows the time of the test, which several instances share, and does not move it while it waits.
#[derive(Debug, Clone)]
pub struct SharedTime(pub Arc<ManualClock>);

impl Clock for SharedTime {
    fn now_milliseconds(&self) -> u64 {
        self.0.now_milliseconds()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// The step from one state of SplitMix64 to the next.
const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output of SplitMix64 for a state.
const fn split_mix(state: u64) -> u64 {
    let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A name as clients' tests make them, in no order, and the same in every run: for measurements among many of something.
#[must_use]
pub fn name_in_no_order(number: usize) -> String {
    let state = (number as u64).wrapping_add(1).wrapping_mul(SPLIT_MIX_STEP);
    format!("tst-{:016x}-{number:012x}", split_mix(state))
}

/// Bytes that look random and are the same for the same seed (SplitMix64).
#[derive(Debug)]
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    /// A generator that repeats itself for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut state = lock(&self.0);
        for chunk in bytes.chunks_mut(8) {
            *state = state.wrapping_add(SPLIT_MIX_STEP);
            for (to, from) in chunk.iter_mut().zip(split_mix(*state).to_le_bytes()) {
                *to = from;
            }
        }
        Ok(())
    }
}

impl<R: Random + ?Sized> Random for &R {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        (**self).fill(bytes)
    }
}

#[derive(Debug, Clone)]
struct Stored {
    entry: Entry,
    expires_at: Option<u64>,
}

impl Stored {
    fn is_live(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }
}

#[derive(Debug, Default)]
struct MemoryState {
    entries: BTreeMap<String, Stored>,
    last_version: u64,
    commits: u64,
    reads: u64,
    failures: VecDeque<CommitError>,
}

/// A store in memory that follows the WIT contract and can be told to fail.
#[derive(Debug)]
pub struct MemoryStore<C> {
    clock: C,
    state: Mutex<MemoryState>,
}

impl<C: Clock> MemoryStore<C> {
    /// An empty store whose expiry follows `clock`.
    #[must_use]
    pub fn new(clock: C) -> Self {
        Self {
            clock,
            state: Mutex::default(),
        }
    }

    /// How many commits have been applied.
    #[must_use]
    pub fn commits(&self) -> u64 {
        lock(&self.state).commits
    }

    /// How often anything has been read, for tests of what is refused before anything is looked up.
    #[must_use]
    pub fn reads(&self) -> u64 {
        lock(&self.state).reads
    }

    /// The keys that are there now, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let now = self.clock.now_milliseconds();
        let state = lock(&self.state);
        state
            .entries
            .iter()
            .filter(|(_, stored)| stored.is_live(now))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Every byte of every value, for tests that look for something that must not be there.
    #[must_use]
    pub fn values(&self) -> Vec<Vec<u8>> {
        let state = lock(&self.state);
        state
            .entries
            .values()
            .map(|stored| stored.entry.value.clone())
            .collect()
    }

    /// Makes the next commit fail with `error`, before it changes anything. Several calls queue up.
    pub fn fail_next_commit(&self, error: CommitError) {
        lock(&self.state).failures.push_back(error);
    }
}

fn check_count(what: &str, count: usize) -> Result<(), StoreError> {
    if count > MAXIMUM_KEYS_PER_CALL {
        let text = format!("{count} {what} in one call");
        return Err(StoreError::Invalid(text));
    }
    Ok(())
}

impl<C: Clock> Store for MemoryStore<C> {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        check_count("keys", keys.len())?;
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        state.reads += 1;
        Ok(keys
            .iter()
            .map(|key| {
                let stored = state.entries.get(*key)?;
                stored.is_live(now).then(|| stored.entry.clone())
            })
            .collect())
    }

    fn get_changed(&self, keys: &[HeldKey]) -> Result<Vec<Difference>, StoreError> {
        check_count("keys", keys.len())?;
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        state.reads += 1;
        let difference = |held: &HeldKey| {
            let live = state.entries.get(&held.key).filter(|it| it.is_live(now));
            match live {
                None => Difference::Absent,
                Some(stored) if held.version == Some(stored.entry.version) => Difference::Unchanged,
                Some(stored) => Difference::Changed(stored.entry.clone()),
            }
        };
        Ok(keys.iter().map(difference).collect())
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        if !(1..=MAXIMUM_SCAN_LIMIT).contains(&limit) {
            return Err(StoreError::Invalid("limit out of range".to_owned()));
        }
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        state.reads += 1;
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let mut hits = state
            .entries
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter(|(_, stored)| stored.is_live(now));
        let items = hits
            .by_ref()
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(|(key, stored)| Item {
                key: key.clone(),
                entry: stored.entry.clone(),
            })
            .collect();
        let more = hits.next().is_some();
        Ok(Page { items, more })
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        check_count("checks", checks.len())?;
        check_count("changes", changes.len())?;
        let mut changed = HashSet::with_capacity(changes.len());
        if let Some(twice) = changes.iter().find(|it| !changed.insert(it.key())) {
            let text = format!("{:?} is changed twice in one commit", twice.key());
            return Err(StoreError::Invalid(text).into());
        }
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        if let Some(failure) = state.failures.pop_front() {
            return Err(failure);
        }
        for check in checks {
            let live = state
                .entries
                .get(&check.key)
                .filter(|stored| stored.is_live(now))
                .map(|stored| stored.entry.version);
            let holds = match check.requirement {
                Requirement::Absent => live.is_none(),
                Requirement::AtVersion(version) => live == Some(version),
            };
            if !holds {
                return Err(CommitError::Conflict(check.key));
            }
        }
        state.last_version += 1;
        state.commits += 1;
        let version = state.last_version;
        for change in changes {
            match change {
                Change::Put(Put {
                    key,
                    value,
                    expires_at,
                }) => {
                    let entry = Entry { value, version };
                    state.entries.insert(key, Stored { entry, expires_at });
                }
                Change::Delete(key) => {
                    state.entries.remove(&key);
                }
            }
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct CacheState {
    entries: HashMap<String, Stored>,
    last_version: u64,
    gets: u64,
    swaps: u64,
}

/// A cache in memory that follows the WIT contract, and insists that its callers do. It forgets when it is told to.
#[derive(Debug)]
pub struct MemoryCache<C> {
    clock: C,
    state: Mutex<CacheState>,
}

impl<C: Clock> MemoryCache<C> {
    /// An empty cache whose expiry follows `clock`.
    #[must_use]
    pub fn new(clock: C) -> Self {
        Self {
            clock,
            state: Mutex::default(),
        }
    }

    /// How often it was read and swapped, with and without success.
    #[must_use]
    pub fn uses(&self) -> (u64, u64) {
        let state = lock(&self.state);
        (state.gets, state.swaps)
    }

    /// The keys that have an entry now, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let now = self.clock.now_milliseconds();
        let state = lock(&self.state);
        let live = state
            .entries
            .iter()
            .filter(|(_, stored)| stored.is_live(now));
        let mut keys: Vec<String> = live.map(|(key, _)| key.clone()).collect();
        keys.sort();
        keys
    }

    /// Forgets everything.
    pub fn forget_all(&self) {
        lock(&self.state).entries.clear();
    }

    /// Puts `value` under every key that there is.
    pub fn overwrite_all(&self, value: &[u8]) {
        let mut state = lock(&self.state);
        state.last_version += 1;
        let version = state.last_version;
        for stored in state.entries.values_mut() {
            stored.entry = Entry {
                value: value.to_vec(),
                version,
            };
        }
    }
}

impl<C: Clock> Cache for MemoryCache<C> {
    fn get(&self, key: &str) -> Option<Entry> {
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        state.gets += 1;
        let stored = state.entries.get(key)?;
        stored.is_live(now).then(|| stored.entry.clone())
    }

    fn swap(&self, key: &str, expected: Option<Version>, value: &[u8], expires_at: u64) -> bool {
        assert!((1..=MAXIMUM_KEY_BYTES).contains(&key.len()), "{key}");
        assert!(key.bytes().all(|byte| byte.is_ascii_graphic()), "{key}");
        assert!(value.len() <= MAXIMUM_VALUE_BYTES, "{key}");
        let now = self.clock.now_milliseconds();
        let mut state = lock(&self.state);
        state.swaps += 1;
        let live = state.entries.get(key).filter(|stored| stored.is_live(now));
        if live.map(|stored| stored.entry.version) != expected {
            return false;
        }
        state.last_version += 1;
        let entry = Entry {
            value: value.to_vec(),
            version: state.last_version,
        };
        let expires_at = Some(expires_at);
        state
            .entries
            .insert(key.to_owned(), Stored { entry, expires_at });
        true
    }
}

type Responder = dyn Fn(&HttpRequest) -> Result<HttpResponse, HttpError> + Send + Sync;

/// Answers requests by a function and counts them.
pub struct ScriptedHttp {
    responder: Box<Responder>,
    urls: Mutex<Vec<String>>,
}

impl ScriptedHttp {
    /// Answers every request with what `responder` says.
    pub fn new(
        responder: impl Fn(&HttpRequest) -> Result<HttpResponse, HttpError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            responder: Box::new(responder),
            urls: Mutex::default(),
        }
    }

    /// The URLs asked for so far, in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        lock(&self.urls).clone()
    }
}

impl Http for ScriptedHttp {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        lock(&self.urls).push(request.url.clone());
        (self.responder)(request)
    }
}

impl<H: Http + ?Sized> Http for &H {
    fn send(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        (**self).send(request)
    }
}
