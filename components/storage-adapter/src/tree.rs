//! One tree: reads, and commits that are retried where other commits come first.

use std::sync::Mutex;
use std::time::Duration;

use gatehouse_ports::rules::pause;
use gatehouse_ports::{Change, Check, Clock, CommitError, Random, StoreError};

use crate::bucket::Host;
use crate::commit::{Attempt, Commit};
use crate::error::{PageError, ReadError};
use crate::memory::{Memory, View};
use crate::names::Grove;
use crate::reader::Reader;
use crate::surroundings::Surroundings;
use crate::visit::{MAXIMUM_ATTEMPTS, Visit, lock};

/// The unit of the pause between two attempts: the longest time that an attempt took, within these bounds. Concurrent commits succeed only
/// if they wait for longer than all their attempts take together.
const SHORTEST_ATTEMPT: Duration = Duration::from_millis(1);
const LONGEST_ATTEMPT: Duration = Duration::from_millis(32);

/// One tree in a bucket, as one instance knows it.
pub struct Tree {
    grove: Grove,
    memory: Mutex<Memory>,
    /// Held by the one commit of this instance that is under way: concurrent commits of one instance would only conflict with each other.
    turn: Mutex<()>,
}

impl Tree {
    pub fn new(grove: Grove) -> Self {
        Self {
            grove,
            memory: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// Runs `read`, which asks for `key` first, on the state that counts now. It runs again if that state is deleted before it is done.
    pub fn read<H: Host, C: Clock, R: Random, T>(
        &self,
        around: &Surroundings<H, C, R>,
        key: &str,
        read: impl Fn(&Reader<'_, H::Bucket>, &View) -> Result<T, ReadError>,
    ) -> Result<T, StoreError> {
        let visit = self.visit(around)?;
        // The clock is read before the head: an entry that had expired by then was absent while that head counted. Later, another instance
        // may have prolonged it.
        let mut now = around.clock.now_milliseconds();
        let mut head = visit.head()?;
        for _ in 0..MAXIMUM_ATTEMPTS {
            let view = visit.view(head);
            let view = view.map_err(|fault| fault.on_the_way_to(key));
            let failure = match view.and_then(|view| read(&visit.reader(&view, now), &view)) {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.fault == PageError::Missing => failure,
                Err(failure) => return Err(failure.into_error()),
            };
            let before = head;
            now = around.clock.now_milliseconds();
            head = visit.head()?;
            if head == before {
                return Err(failure.into_error());
            }
        }
        Err(contended())
    }

    /// Applies all `changes` if every check holds, and otherwise nothing.
    pub fn commit<H: Host, C: Clock, R: Random>(
        &self,
        around: &Surroundings<H, C, R>,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<(), CommitError> {
        let _turn = lock(&self.turn);
        let visit = self.visit(around)?;
        let mut longest = SHORTEST_ATTEMPT;
        for attempt in 0..MAXIMUM_ATTEMPTS {
            if attempt > 0 {
                around.clock.sleep(pause(longest, attempt, &around.random));
            }
            let began = around.clock.now_milliseconds();
            let commit = Commit { checks, changes };
            match visit.attempt(&commit)? {
                Attempt::Done => return Ok(()),
                Attempt::Outrun => {}
            }
            let took = around.clock.now_milliseconds().saturating_sub(began);
            longest = Duration::from_millis(took).clamp(longest, LONGEST_ATTEMPT);
        }
        Err(contended().into())
    }

    fn visit<'a, H: Host, C, R>(
        &'a self,
        around: &'a Surroundings<H, C, R>,
    ) -> Result<Visit<'a, H, C, R>, StoreError> {
        Ok(Visit {
            grove: self.grove,
            remembered: &self.memory,
            around,
            bucket: around.bucket()?,
        })
    }
}

fn contended() -> StoreError {
    StoreError::Unavailable(format!(
        "the store is contended: other commits came first {MAXIMUM_ATTEMPTS} times in a row"
    ))
}
