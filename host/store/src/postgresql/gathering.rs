//! Reads that are asked for at one time, and share a statement.
//!
//! The round trip and the session cost the database more than a key does. So while a few statements are under way, further reads wait, and
//! the next statement takes all that wait. Each read is asked of the database after its caller asked for it, so it sees everything that
//! was acknowledged before, and no caller waits for company: a lone one is asked at once.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatehouse_ports::{Difference, Entry, HeldKey, StoreError};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::Failure;
use super::session::Parameters;
use super::statements::GET_CHANGED;
use super::{CALL_TIME, Shared, from_database, number, to_database, unavailable, unreadable};
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
    namespaces: Vec<i16>,
    keys: Vec<String>,
    versions: Vec<Option<i64>>,
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

    fn append(&mut self, mut other: Self) {
        self.namespaces.append(&mut other.namespaces);
        self.keys.append(&mut other.keys);
        self.versions.append(&mut other.versions);
    }
}

type Found = Result<Vec<Difference>, StoreError>;

/// A read that waits.
struct Waiting {
    wanted: Wanted,
    answer: oneshot::Sender<Found>,
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
    fn add(&self, read: Waiting) -> bool {
        let mut state = self.lock();
        state.waiting.push_back(read);
        let begins = state.under_way < self.bounds.statements;
        state.under_way += usize::from(begins);
        begins
    }

    /// The reads of the next statement, one at least. Without any, the caller has nothing more to do.
    fn next(&self) -> Option<Vec<Waiting>> {
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

impl Shared {
    /// Reads entries together with others that are asked for at this time.
    pub(super) async fn get_changed(self: Arc<Self>, wanted: Wanted) -> Found {
        if wanted.keys.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, found) = oneshot::channel();
        if self.gathered.add(Waiting { wanted, answer }) {
            tokio::spawn(Arc::clone(&self).read_gathered());
        }
        match timeout(CALL_TIME, found).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) => Err(unavailable("the server is stopping")),
            Err(_) => Err(self.failed(Failure::Unknown("no answer in time".to_owned()))),
        }
    }

    /// Reads what waits, until nothing does.
    async fn read_gathered(self: Arc<Self>) {
        while let Some(mut reads) = self.gathered.next() {
            let lengths: Vec<usize> = reads.iter().map(|read| read.wanted.keys.len()).collect();
            let mut wanted = Wanted::default();
            for read in &mut reads {
                wanted.append(take(&mut read.wanted));
            }
            let found = self.read_all(&wanted).await;
            let mut found = found.map(Vec::into_iter);
            for (read, length) in reads.into_iter().zip(lengths) {
                let part = found.as_mut().map(|found| found.take(length).collect());
                // A caller that has gone needs no answer.
                let _ = read.answer.send(part.map_err(|error| error.clone()));
            }
        }
    }

    async fn read_all(&self, wanted: &Wanted) -> Found {
        let mut found: Vec<Difference> = wanted.keys.iter().map(|_| Difference::Absent).collect();
        let now = self.now();
        let parameters: Parameters<'_> =
            &[&wanted.namespaces, &wanted.keys, &wanted.versions, &now];
        for row in self.read(GET_CHANGED, parameters).await? {
            let index: i64 = row.try_get(0).map_err(unreadable)?;
            let version = from_database(row.try_get(1).map_err(unreadable)?);
            let value: Option<Vec<u8>> = row.try_get(2).map_err(unreadable)?;
            let index = usize::try_from(index)
                .ok()
                .and_then(|index| index.checked_sub(1));
            let place = index.and_then(|index| found.get_mut(index));
            let place = place.ok_or_else(|| unavailable("an answer that was not asked for"))?;
            *place = match value {
                Some(value) => Difference::Changed(Entry { value, version }),
                None => Difference::Unchanged,
            };
        }
        Ok(found)
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
