//! Indexes that stores of earlier releases lack. Each is made from the entries that are there, a bounded part in each commit; a store that
//! is new has it from the beginning, and every commit that adds or removes an entry changes the index as well.

use gatehouse_ports::{Clock, Item, Random, Store};
use serde::{Deserialize, Serialize};

use crate::{Attempt, Record, Records, StorageError, Transaction, commit_with_retries};

/// Parts made in one call.
const PARTS: u32 = 32;

/// An index that is made from the entries below a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index<'a> {
    /// Where the store keeps how far the index has come.
    pub key: &'a str,
    /// The prefix of the keys of the entries.
    pub prefix: &'a str,
    /// Entries read and held at a time.
    pub at_once: u32,
    /// Entries of one commit: at least one, and together with what each is given in the index as many as a commit can hold.
    pub part: u32,
}

/// How far an index has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct IndexRecord {
    /// The last key that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    /// True once the index holds all there is.
    complete: bool,
}

impl Record for IndexRecord {
    const SCHEMA: u16 = 1;
}

impl Index<'_> {
    /// Stages in the commit that makes the first entry, or the store, that the index is complete.
    ///
    /// # Errors
    ///
    /// When the record does not serialize.
    pub fn stage_complete(&self, transaction: &mut Transaction) -> Result<(), StorageError> {
        let record = IndexRecord {
            position: None,
            complete: true,
        };
        transaction.put(self.key, &record)?;
        Ok(())
    }

    /// As [`Self::stage_complete`], if the index was not begun and has no entries to be made from. Writers that make the first entry at the
    /// same time conflict, so no entry is left out.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub fn stage_complete_if_new<S: Store>(
        &self,
        records: &Records<S>,
        transaction: &mut Transaction,
    ) -> Result<(), StorageError> {
        let store = records.store();
        let [record] = records.entries([self.key])?;
        if record.is_none() && store.scan(self.prefix, None, 1)?.items.is_empty() {
            transaction.require_absent(self.key);
            self.stage_complete(transaction)?;
        }
        Ok(())
    }

    /// Does a bounded part of the work on the index, where there is any left, and returns true if the index is complete. `stage` adds the
    /// records that one entry has in the index, and requires that the entry is still the one that was read.
    ///
    /// # Errors
    ///
    /// When the store does not answer, `stage` fails, or other writers interfere in every attempt.
    pub fn advance<S: Store, E: From<StorageError>>(
        &self,
        records: &Records<S>,
        clock: &impl Clock,
        random: &impl Random,
        stage: impl Fn(&mut Transaction, &Item) -> Result<(), E>,
    ) -> Result<bool, E> {
        for _ in 0..PARTS {
            let complete = commit_with_retries(clock, random, || self.make_part(records, &stage))?;
            if complete {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn make_part<S: Store, E: From<StorageError>>(
        &self,
        records: &Records<S>,
        stage: &impl Fn(&mut Transaction, &Item) -> Result<(), E>,
    ) -> Result<Attempt<bool>, E> {
        let found = records.get::<IndexRecord>(self.key)?;
        let version = found.as_ref().map(|found| found.version);
        let mut index = found.map(|found| found.record).unwrap_or_default();
        if index.complete {
            return Ok(Attempt::Done(true));
        }
        let mut transaction = Transaction::new();
        let mut left = self.part;
        while left > 0 && !index.complete {
            let at_once = left.min(self.at_once);
            let page = records
                .store()
                .scan(self.prefix, index.position.as_deref(), at_once)
                .map_err(StorageError::from)?;
            for item in &page.items {
                stage(&mut transaction, item)?;
            }
            index.complete = !page.more;
            if let Some(item) = page.items.last() {
                index.position = Some(item.key.clone());
            }
            left -= at_once;
        }
        if index.position.is_none() && index.complete {
            // Where no entries exist, a read must not change the store.
            return Ok(Attempt::Done(true));
        }
        transaction
            .require_unchanged(self.key, version)
            .put(self.key, &index)?;
        let outcome = records.commit(transaction);
        Ok(Attempt::from_commit(outcome, index.complete)?)
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::CommitError;
    use gatehouse_ports::doubles::{ManualClock, MemoryStore, SeededRandom};

    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Entry {}

    impl Record for Entry {
        const SCHEMA: u16 = 1;
    }

    const NAMES: Index<'static> = Index {
        key: "names",
        prefix: "entry/",
        at_once: 2,
        part: 3,
    };

    struct Indexed {
        clock: ManualClock,
        records: Records<MemoryStore<ManualClock>>,
    }

    impl Indexed {
        /// A store of an earlier release with so many entries.
        fn with_entries(count: u32) -> Self {
            let records = Records::new(MemoryStore::new(ManualClock::at_seconds(0)));
            let mut transaction = Transaction::new();
            for number in 0..count {
                let key = format!("entry/{number:03}");
                transaction.put(key, &Entry {}).unwrap();
            }
            records.commit(transaction).unwrap();
            let clock = ManualClock::at_seconds(0);
            Self { clock, records }
        }

        fn advance(&self) -> Result<bool, StorageError> {
            let random = SeededRandom::new(1);
            NAMES.advance(&self.records, &self.clock, &random, stage_name)
        }

        fn names(&self) -> usize {
            let keys = self.records.store().keys();
            keys.iter().filter(|key| key.starts_with("name/")).count()
        }

        fn fail_next_commit(&self, error: CommitError) {
            self.records.store().fail_next_commit(error);
        }
    }

    fn stage_name(transaction: &mut Transaction, item: &Item) -> Result<(), StorageError> {
        let name = item.key.replace("entry/", "name/");
        transaction
            .require(item.key.as_str(), item.entry.version)
            .put(name, &Entry {})?;
        Ok(())
    }

    #[test]
    fn an_index_is_made_once_of_all_that_is_there() {
        let indexed = Indexed::with_entries(7);
        assert_eq!(indexed.advance(), Ok(true));
        assert_eq!(indexed.names(), 7);
        // The entries themselves, and three parts.
        assert_eq!(indexed.records.store().commits(), 4);
        assert_eq!(indexed.advance(), Ok(true));
        assert_eq!(indexed.records.store().commits(), 4);
    }

    #[test]
    fn one_call_does_a_bounded_part_and_the_next_one_goes_on() {
        let indexed = Indexed::with_entries(PARTS * NAMES.part + 1);
        assert_eq!(indexed.advance(), Ok(false));
        assert_eq!(indexed.names(), (PARTS * NAMES.part) as usize);
        assert_eq!(indexed.advance(), Ok(true));
        assert_eq!(indexed.names(), (PARTS * NAMES.part + 1) as usize);
    }

    #[test]
    fn an_index_of_nothing_changes_nothing() {
        let indexed = Indexed::with_entries(0);
        let before = indexed.records.store().commits();
        assert_eq!(indexed.advance(), Ok(true));
        assert_eq!(indexed.records.store().commits(), before);
    }

    #[test]
    fn a_part_that_fails_leaves_no_half_of_it() {
        let indexed = Indexed::with_entries(7);
        let failure = gatehouse_ports::StoreError::Unavailable("disk full".to_owned());
        indexed.fail_next_commit(failure.clone().into());
        assert_eq!(indexed.advance(), Err(failure.into()));
        assert_eq!(indexed.names(), 0);
        indexed.fail_next_commit(CommitError::Conflict("entry/001".to_owned()));
        assert_eq!(indexed.advance(), Ok(true));
        assert_eq!(indexed.names(), 7);
    }

    #[test]
    fn only_a_store_without_entries_begins_with_a_complete_index() {
        for (entries, complete) in [(0, true), (1, false)] {
            let indexed = Indexed::with_entries(entries);
            let mut transaction = Transaction::new();
            NAMES
                .stage_complete_if_new(&indexed.records, &mut transaction)
                .unwrap();
            assert_eq!(transaction.has_change(NAMES.key), complete);
        }
    }
}
