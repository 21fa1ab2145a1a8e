//! Indexes that stores of earlier versions lack. They are made from what is there, a bounded part in each commit, and what asks for one
//! finds it whole or is put off: a store that is new has them from the beginning.

use gatehouse_ports::{Clock, Item, Random, Store};
use gatehouse_storage::{Attempt, Record, Transaction, commit_with_retries};
use serde::{Deserialize, Serialize};

use crate::api::Failure;
use crate::service::AccessService;

/// Parts made in one call.
const PARTS: usize = 32;

/// How far an index has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexRecord {
    /// The last key that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    /// True if it holds all there is; whoever adds something keeps it so.
    complete: bool,
}

impl Record for IndexRecord {
    const SCHEMA: u16 = 1;
}

/// An index that is made from the entries below a prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index {
    /// Names its [`IndexRecord`].
    pub(crate) name: &'static str,
    /// The beginning of the keys of the entries.
    pub(crate) prefix: &'static str,
    /// Entries of one part.
    pub(crate) part: u32,
}

impl Index {
    /// The key of its [`IndexRecord`].
    pub(crate) fn key(self) -> String {
        format!("index/{}", self.name)
    }

    /// Says in the commit that makes a new store that it is complete.
    pub(crate) fn stage_complete(self, transaction: &mut Transaction) -> Result<(), Failure> {
        let record = IndexRecord {
            position: None,
            complete: true,
        };
        transaction.put(self.key(), &record)?;
        Ok(())
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Makes sure that `index` is complete; `stage` adds what one entry is to have there.
    ///
    /// # Errors
    ///
    /// When there is more left to do than one call does: the next one goes on.
    pub(crate) fn require_index(
        &self,
        index: Index,
        stage: impl Fn(&mut Transaction, &Item) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.advance_index(index, stage)? {
            return Ok(());
        }
        let why = "an index is being made, which takes a while once: try again";
        Err(Failure::Unavailable(why.to_owned()))
    }

    /// Does a bounded part of the work on `index`, and says whether it is complete.
    pub(crate) fn advance_index(
        &self,
        index: Index,
        stage: impl Fn(&mut Transaction, &Item) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        for _ in 0..PARTS {
            if self.index_part(index, &stage)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a part of `index`, and says whether it is complete.
    fn index_part(
        &self,
        index: Index,
        stage: &impl Fn(&mut Transaction, &Item) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let key = index.key();
        commit_with_retries(&self.clock, &self.random, || {
            let found = self.records.get::<IndexRecord>(&key)?;
            let (before, version) = match found {
                Some(found) if found.record.complete => return Ok(Attempt::Done(true)),
                Some(found) => (found.record, Some(found.version)),
                None => (IndexRecord::default(), None),
            };
            let store = self.records.store();
            let page = store.scan(index.prefix, before.position.as_deref(), index.part)?;
            let mut transaction = Transaction::new();
            for item in &page.items {
                stage(&mut transaction, item)?;
            }
            let after = IndexRecord {
                position: page.items.last().map(|item| item.key.clone()),
                complete: !page.more,
            };
            transaction
                .require_unchanged(key.as_str(), version)
                .put(key.as_str(), &after)?;
            let outcome = self.records.commit(transaction);
            Ok(Attempt::from_commit(outcome, after.complete)?)
        })
    }
}
