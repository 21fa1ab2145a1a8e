//! Trying again when other writers interfere.

use std::time::Duration;

use gatehouse_ports::rules::pause;
use gatehouse_ports::{Clock, Random};

use crate::{StorageError, TransactionError};

/// How often a change is tried before it is reported as contended (SEC-S6).
pub const MAXIMUM_ATTEMPTS: u32 = 16;

/// The unit of a pause between two attempts.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// How one attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt<T> {
    /// Done, with this result.
    Done(T),
    /// A check did not hold: another writer was faster.
    Conflicted,
}

impl<T> Attempt<T> {
    /// The outcome of an attempt that would yield `value`, by the answer to its commit.
    ///
    /// # Errors
    ///
    /// When the commit failed for another reason than a conflict.
    pub fn from_commit(
        outcome: Result<(), TransactionError>,
        value: T,
    ) -> Result<Self, StorageError> {
        match outcome {
            Ok(()) => Ok(Self::Done(value)),
            Err(TransactionError::Conflict(_)) => Ok(Self::Conflicted),
            Err(TransactionError::Storage(error)) => Err(error),
        }
    }
}

/// Runs `attempt`, which reads, decides and commits, until it is done; between two attempts lies a pause with full jitter that
/// doubles its bound from 1 ms to 64 ms.
///
/// # Errors
///
/// The error of an attempt, or [`StorageError::Contended`] after [`MAXIMUM_ATTEMPTS`] conflicts.
pub fn commit_with_retries<T, E: From<StorageError>>(
    clock: &impl Clock,
    random: &impl Random,
    mut attempt: impl FnMut() -> Result<Attempt<T>, E>,
) -> Result<T, E> {
    for round in 0..MAXIMUM_ATTEMPTS {
        match attempt()? {
            Attempt::Done(value) => return Ok(value),
            Attempt::Conflicted if round == 0 => {}
            Attempt::Conflicted => clock.sleep(pause(SHORTEST_PAUSE, round, random)),
        }
    }
    Err(StorageError::Contended(MAXIMUM_ATTEMPTS).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_ports::doubles::{ManualClock, SeededRandom};

    #[test]
    fn a_change_that_conflicts_once_succeeds_at_the_second_attempt() {
        let clock = ManualClock::at_seconds(0);
        let mut rounds = 0;
        let result: Result<u32, StorageError> =
            commit_with_retries(&clock, &SeededRandom::new(1), || {
                rounds += 1;
                Ok(if rounds < 2 {
                    Attempt::Conflicted
                } else {
                    Attempt::Done(rounds)
                })
            });
        assert_eq!(result, Ok(2));
    }

    #[test]
    fn s6_retries_are_bounded_and_reported_as_such() {
        let clock = ManualClock::at_seconds(0);
        let mut rounds = 0;
        let result: Result<(), StorageError> =
            commit_with_retries(&clock, &SeededRandom::new(1), || {
                rounds += 1;
                Ok(Attempt::Conflicted)
            });
        assert_eq!(result, Err(StorageError::Contended(MAXIMUM_ATTEMPTS)));
        assert_eq!(rounds, MAXIMUM_ATTEMPTS);
    }
}
