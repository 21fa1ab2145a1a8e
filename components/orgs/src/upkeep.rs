//! Upkeep: separate tasks, each of which does a bounded part at a time and continues from there.
//!
//! All work that is left has marks below a prefix. Before a task works on a mark, it stores the name of the mark: so a mark that cannot be
//! finished, for any reason, has its next turn after all others. A task begins behind it even if the last one was cut off in the middle.
//!
//! - `upkeep/<prefix>`: the name of the mark that had its turn last.

use crate::{Orgs, ServiceError};
use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Attempt, Record, Transaction, commit_with_retries};
use serde::{Deserialize, Serialize};

/// The number of marks that one round of upkeep works on.
const MARKS_AT_ONCE: u32 = 20;

/// The mark that had its turn last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TurnRecord {
    name: String,
}

impl Record for TurnRecord {
    const SCHEMA: u16 = 1;
}

fn turn_key(prefix: &str) -> String {
    format!("upkeep/{prefix}")
}

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    /// Does `work` for the name of each mark below `prefix`, until [`MARKS_AT_ONCE`] or all had their turn. Damage behind one mark does not
    /// stop the others: the first such failure is returned when they are done.
    pub(crate) fn for_each_marked(
        &self,
        prefix: &str,
        work: impl Fn(&str) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        let store = self.records.store();
        let turn = self.records.get::<TurnRecord>(&turn_key(prefix))?;
        let begin = turn.map(|turn| format!("{prefix}{}", turn.record.name));
        let mut has_begun_again = begin.is_none();
        let mut after = begin.clone();
        let mut outcome = Ok(());
        for _ in 0..MARKS_AT_ONCE {
            let mut next = store.scan(prefix, after.as_deref(), 1)?.items.pop();
            if next.is_none() && !has_begun_again {
                has_begun_again = true;
                next = store.scan(prefix, None, 1)?.items.pop();
            }
            // All marks behind the place where this round began had their turn before it began again at the front.
            let had_its_turn = |item: &Item| {
                let begin = begin.as_ref().filter(|_| has_begun_again);
                begin.is_some_and(|begin| item.key > *begin)
            };
            let Some(item) = next.filter(|item| !had_its_turn(item)) else {
                break;
            };
            let name = item.key.strip_prefix(prefix).unwrap_or_default();
            self.note_turn(prefix, name)?;
            match work(name) {
                Ok(()) => {}
                Err(failure @ ServiceError::Damaged(_)) => outcome = outcome.and(Err(failure)),
                Err(failure) => return Err(failure),
            }
            after = Some(item.key);
        }
        if (begin.is_some() || after.is_some()) && store.scan(prefix, None, 1)?.items.is_empty() {
            let mut transaction = Transaction::new();
            transaction.delete(turn_key(prefix));
            self.commit_unconditionally(transaction)?;
        }
        outcome
    }

    /// Takes `step` after `step`, each in a commit of its own, until one answers that nothing is left, and at most `most` of them.
    pub(crate) fn in_commits(
        &self,
        most: u32,
        step: impl Fn() -> Result<Attempt<bool>, ServiceError>,
    ) -> Result<(), ServiceError> {
        for _ in 0..most {
            if commit_with_retries(&self.clock, &self.random, &step)? {
                break;
            }
        }
        Ok(())
    }

    fn note_turn(&self, prefix: &str, name: &str) -> Result<(), ServiceError> {
        let name = name.to_owned();
        let mut transaction = Transaction::new();
        transaction.put(turn_key(prefix), &TurnRecord { name })?;
        self.commit_unconditionally(transaction)
    }
}
