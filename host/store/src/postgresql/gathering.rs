//! Reads that are asked for at one time, and share a statement.
//!
//! The round trip and the session cost the database more than a key does. So while a few statements are under way, further reads wait, and
//! the next statement takes all that wait. Each read is asked of the database after its caller asked for it, so it sees everything that
//! was acknowledged before, and no caller waits for company: a lone one is asked at once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gatehouse_ports::{Difference, HeldKey, StoreError};
use tokio::sync::oneshot;

use super::values::{number, to_database};
use crate::Namespace;

/// Most statements of gathered reads that are under way at one time, where there are as many connections.
const STATEMENTS: usize = 4;
/// Most keys of a statement that more than one read shares: their values are in memory at one time.
const KEYS: usize = 128;

/// How many reads share a statement, and how many statements there are for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathering {
    /// Most statements of gathered reads that are under way at one time, where there are as many connections.
    pub statements: usize,
    /// Most keys of a statement that more than one read shares; with 0, each read has one of its own.
    pub keys: usize,
}

impl Default for Gathering {
    fn default() -> Self {
        Self {
            statements: STATEMENTS,
            keys: KEYS,
        }
    }
}

/// The keys of a read, as the statement takes them.
#[derive(Debug, Default)]
pub struct Wanted {
    pub(super) namespaces: Vec<i16>,
    pub(super) keys: Vec<String>,
    pub(super) versions: Vec<Option<i64>>,
}

impl Wanted {
    /// The keys of `namespace`, with the versions that are held.
    pub fn new(namespace: Namespace, keys: &[HeldKey]) -> Self {
        let version = |held: &HeldKey| held.version.map(to_database);
        Self {
            namespaces: vec![number(namespace); keys.len()],
            keys: keys.iter().map(|held| held.key.clone()).collect(),
            versions: keys.iter().map(version).collect(),
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.namespaces.append(&mut other.namespaces);
        self.keys.append(&mut other.keys);
        self.versions.append(&mut other.versions);
    }
}

pub(super) type Found = Result<Vec<Difference>, StoreError>;

/// A read that waits.
pub(super) struct Waiting {
    pub(super) wanted: Wanted,
    pub(super) answer: oneshot::Sender<Found>,
}

/// The reads that wait for a statement.
pub struct Gathered {
    bounds: Gathering,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    under_way: usize,
}

impl Gathered {
    /// None yet, for a pool of so many connections.
    pub fn new(gathering: Gathering, connections: usize) -> Self {
        Self {
            bounds: Gathering {
                statements: connections.min(gathering.statements),
                ..gathering
            },
            state: Mutex::default(),
        }
    }

    /// Adds a read. True if the caller has to have those that wait read: as many statements as are allowed are not under way.
    pub(super) fn add(&self, read: Waiting) -> bool {
        let mut state = self.lock();
        state.waiting.push_back(read);
        let begins = state.under_way < self.bounds.statements;
        state.under_way += usize::from(begins);
        begins
    }

    /// The reads of the next statement, one at least. Without any, the caller has nothing more to do.
    pub(super) fn next(&self) -> Option<Vec<Waiting>> {
        let mut state = self.lock();
        let mut keys = 0;
        let mut together = Vec::new();
        while let Some(read) = state.waiting.front() {
            keys += read.wanted.keys.len();
            if !together.is_empty() && keys > self.bounds.keys {
                break;
            }
            together.extend(state.waiting.pop_front());
        }
        if together.is_empty() {
            state.under_way -= 1;
            return None;
        }
        Some(together)
    }

    // The state is whole even after a panic elsewhere: nothing in here panics between two of its steps.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: usize) -> (Waiting, oneshot::Receiver<Found>) {
        let names = (0..keys).map(|key| key.to_string());
        let held: Vec<HeldKey> = names.map(HeldKey::unknown).collect();
        let (answer, found) = oneshot::channel();
        let wanted = Wanted::new(Namespace::Access, &held);
        (Waiting { wanted, answer }, found)
    }

    fn sizes(reads: Option<Vec<Waiting>>) -> Vec<usize> {
        let reads = reads.unwrap_or_default();
        reads.iter().map(|read| read.wanted.keys.len()).collect()
    }

    #[test]
    fn a_lone_read_begins_a_statement_and_those_beyond_the_statements_wait_for_one() {
        let gathered = Gathered::new(Gathering::default(), 16);
        for _ in 0..STATEMENTS {
            assert!(gathered.add(read(2).0));
            assert_eq!(sizes(gathered.next()), [2]);
        }
        for _ in 0..3 {
            assert!(!gathered.add(read(3).0));
        }
        assert_eq!(sizes(gathered.next()), [3, 3, 3]);
        for _ in 0..STATEMENTS {
            assert!(gathered.next().is_none());
        }
        assert!(gathered.add(read(1).0));
    }

    #[test]
    fn a_statement_that_reads_share_has_so_many_keys_and_a_larger_read_one_of_its_own() {
        let gathered = Gathered::new(Gathering::default(), 16);
        assert!(gathered.add(read(KEYS - 1).0));
        for keys in [1, 1, KEYS + 1, 1] {
            gathered.add(read(keys).0);
        }
        assert_eq!(sizes(gathered.next()), [KEYS - 1, 1]);
        assert_eq!(sizes(gathered.next()), [1]);
        assert_eq!(sizes(gathered.next()), [KEYS + 1]);
        assert_eq!(sizes(gathered.next()), [1]);
    }

    #[test]
    fn reads_that_may_share_no_keys_have_a_statement_each() {
        let alone = Gathering {
            statements: 1,
            keys: 0,
        };
        let gathered = Gathered::new(alone, 16);
        assert!(gathered.add(read(4).0));
        for _ in 0..2 {
            assert!(!gathered.add(read(4).0));
        }
        for _ in 0..3 {
            assert_eq!(sizes(gathered.next()), [4]);
        }
        assert!(gathered.next().is_none());
    }
}
