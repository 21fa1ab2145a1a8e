//! Entering organizations into the index of parts, merging its runs, and making it where there is none.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::Store;
use gatehouse_storage::{Record, StorageError, Transaction, decode};

use super::postings::{
    IN_NAME, RowRecord, RowsOfRun, for_each_gram, gram_of_whole, merged, rows_of,
};
use super::record::{FAN, Level, Run, block_key};
use super::{Candidates, Need, PARTS_KEY, PARTS_PREFIX, Parts, PartsRecord};
use crate::ServiceError;
use crate::directory::Directory;
use crate::directory::record::{Columns, Entry, ROOT_KEY};
use crate::directory::snapshot::Pending;

/// Most entries that are removed in one step of clearing an index away.
const CLEARED_AT_ONCE: u32 = 500;

impl<S: Store> Directory<'_, S> {
    /// Adds to `transaction`, which moves `pending` into the leaves, that it is entered into the index as well. `is_stored` says which
    /// names the leaves have. False where the index has changed meanwhile.
    pub(in crate::directory) fn enter_parts(
        &self,
        transaction: &mut Transaction,
        pending: &Pending,
        is_stored: impl Fn(&str) -> bool,
    ) -> Result<bool, ServiceError> {
        let Some(parts) = self.parts()? else {
            transaction.require_absent(PARTS_KEY);
            return Ok(true);
        };
        transaction.require(PARTS_KEY, parts.version);
        let changes = pending.iter().filter(|(name, _)| parts.record.covers(name));
        let mut gone = BTreeSet::new();
        for (name, change) in changes.clone() {
            let was_there = change.email.is_none() || is_stored(name);
            if was_there && !self.find_whole(&parts, name, &mut gone)? {
                return Ok(false);
            }
        }
        let added: Vec<Entry<'_>> = changes
            .filter_map(|(name, change)| change.entry(name))
            .collect();
        if gone.is_empty() && added.is_empty() {
            return Ok(true);
        }
        let mut next = (*parts.record).clone();
        let is_done = self.change_documents(transaction, &parts, &mut next, &gone, &added)?;
        transaction.put(PARTS_KEY, &next)?;
        Ok(is_done)
    }

    /// Adds the documents of just this name, of which there is one at most, to `found`; false where the index has changed meanwhile.
    fn find_whole(
        &self,
        parts: &Parts,
        name: &str,
        found: &mut BTreeSet<u32>,
    ) -> Result<bool, ServiceError> {
        let need = Need {
            grams: vec![gram_of_whole(name)],
            places: IN_NAME,
        };
        match self.candidates(parts, &[need])? {
            None => Ok(false),
            Some(Candidates::TooMany) => {
                // No chance brings so many names together: the index is not what it should be.
                self.unless_parts_damaged::<()>(Err(StorageError::Malformed))?;
                Ok(false)
            }
            Some(Candidates::Are(candidates)) => {
                self.for_each_document(parts, &candidates, |document, entry| {
                    if entry.name == name {
                        found.insert(document);
                    }
                })
            }
        }
    }

    /// Adds to `transaction` that nothing is left of the documents `gone`, and that `added` have numbers; false where the index has
    /// changed meanwhile.
    fn change_documents(
        &self,
        transaction: &mut Transaction,
        parts: &Parts,
        next: &mut PartsRecord,
        gone: &BTreeSet<u32>,
        added: &[Entry<'_>],
    ) -> Result<bool, ServiceError> {
        let size = self.shape.parts.block;
        let mut numbers: BTreeSet<u32> = gone.iter().map(|document| document / size).collect();
        if !next.documents.is_multiple_of(size) && !added.is_empty() {
            numbers.insert(next.documents / size);
        }
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let keys = numbers.iter().map(|number| block_key(*number)).collect();
        let Some(stored) = self.read_rows::<Columns>(parts, keys)? else {
            return Ok(false);
        };
        let mut blocks: BTreeMap<u32, Vec<Entry<'_>>> = BTreeMap::new();
        for (number, stored) in numbers.into_iter().zip(&stored) {
            blocks.insert(number, stored.entries().collect());
        }
        for document in gone {
            let block = blocks.get_mut(&(document / size));
            let entry = block.and_then(|block| block.get_mut((document % size) as usize));
            if let Some(entry) = entry {
                *entry = Entry::nothing();
                next.gone += 1;
            }
        }
        for entry in added {
            let block = blocks.entry(next.documents / size).or_default();
            block.push(*entry);
            next.documents += 1;
        }
        for (number, entries) in blocks {
            transaction.put(block_key(number), &Columns::from_entries(&entries))?;
        }
        Ok(true)
    }

    /// Does up to so many steps of what is to be done for the index. Another may be doing the same: then this does nothing.
    pub(in crate::directory) fn advance_parts(&self, steps: usize) -> Result<(), ServiceError> {
        for _ in 0..steps {
            let mut transaction = Transaction::new();
            match self.parts()? {
                None => self.begin_parts(&mut transaction)?,
                Some(parts) if parts.record.is_worn(&self.shape.parts) => {
                    transaction.require(PARTS_KEY, parts.version);
                    transaction.delete(PARTS_KEY);
                }
                Some(parts) => {
                    let mut next = (*parts.record).clone();
                    transaction.require(PARTS_KEY, parts.version);
                    let mut is_done = self.advance_runs(&mut transaction, &parts, &mut next)?;
                    if is_done && next == *parts.record && !next.is_whole() {
                        is_done = self.make_on(&mut transaction, &parts, &mut next)?;
                    }
                    if !is_done || next == *parts.record {
                        return Ok(());
                    }
                    transaction.put(PARTS_KEY, &next)?;
                }
            }
            self.commit_unless_late(transaction)?;
        }
        Ok(())
    }

    /// Begins an index, once nothing is left of an earlier one.
    fn begin_parts(&self, transaction: &mut Transaction) -> Result<(), ServiceError> {
        let store = self.records.store();
        let left = store.scan(PARTS_PREFIX, None, CLEARED_AT_ONCE);
        let left = self.unless_parts_damaged(left.map_err(StorageError::from))?;
        transaction.require_absent(PARTS_KEY);
        let Some(left) = left else {
            return Ok(());
        };
        if left.items.is_empty() {
            transaction.put(PARTS_KEY, &PartsRecord::unmade())?;
        }
        for item in left.items {
            transaction.delete(item.key);
        }
        Ok(())
    }

    /// Enters what some further leaves say; false where the index or the leaves have changed meanwhile, or there are no leaves yet.
    fn make_on(
        &self,
        transaction: &mut Transaction,
        parts: &Parts,
        next: &mut PartsRecord,
    ) -> Result<bool, ServiceError> {
        let Some(root) = self.root()?.filter(|root| root.record.is_whole()) else {
            return Ok(false);
        };
        let from = next.made_to.take().unwrap_or_default();
        let first = root.record.place_of(&from);
        let places: Vec<usize> = (first..root.record.leaves.len())
            .take(self.shape.leaves_per_step(root.record.leaves.len()))
            .collect();
        let Some(leaves) = self.leaves(&root, &places)? else {
            return Ok(false);
        };
        transaction.require(ROOT_KEY, root.version);
        let entries = leaves.values().flat_map(|leaf| leaf.entries());
        let entries: Vec<Entry<'_>> = entries
            .filter(|entry| entry.name >= from.as_str())
            .collect();
        let last = places.last().copied().unwrap_or_default();
        next.made_to = root.record.end_of(last).map(str::to_owned);
        self.change_documents(transaction, parts, next, &BTreeSet::new(), &entries)
    }

    /// Makes the lowest runs of blocks and merges others, some rows of each level, of what `parts` says is there; false where the index
    /// has changed meanwhile.
    fn advance_runs(
        &self,
        transaction: &mut Transaction,
        parts: &Parts,
        next: &mut PartsRecord,
    ) -> Result<bool, ServiceError> {
        let now = &parts.record;
        let shape = self.shape.parts;
        let mut budget = shape.step;
        for level in 0.. {
            let (Some(documents), Some(rows)) = (shape.documents(level), shape.rows(level)) else {
                break;
            };
            let state = now.level(level);
            let mut becomes = state;
            if level == 0 {
                let is_due = |runs: u32| (runs + 1).saturating_mul(documents) <= now.documents;
                while budget > 0 && is_due(becomes.runs) {
                    if !self.make_run(transaction, parts, becomes.runs)? {
                        return Ok(false);
                    }
                    becomes.runs += 1;
                    budget = budget.saturating_sub(rows);
                }
            } else {
                let below = now.level(level - 1).runs;
                let rows_below = rows / FAN;
                if state.runs.saturating_add(1).saturating_mul(FAN) <= below && budget >= FAN {
                    let most = (budget / FAN).min(rows_below - state.merged);
                    if !self.merge_rows(transaction, parts, level, most)? {
                        return Ok(false);
                    }
                    budget -= most * FAN;
                    becomes.merged += most;
                    if becomes.merged == rows_below {
                        becomes.runs += 1;
                        becomes.merged = 0;
                    }
                }
                let told_twice = u64::from(state.runs) * u64::from(rows);
                while budget > 0 && becomes.cleared < told_twice {
                    let run = u32::try_from(becomes.cleared / u64::from(rows_below));
                    let row = u32::try_from(becomes.cleared % u64::from(rows_below));
                    let below = Run {
                        level: level - 1,
                        number: run.unwrap_or(u32::MAX),
                    };
                    transaction.delete(below.key(row.unwrap_or(u32::MAX)));
                    becomes.cleared += 1;
                    budget -= 1;
                }
                if below == 0 {
                    break;
                }
            }
            if becomes != state {
                if next.levels.len() <= level {
                    next.levels.resize(level + 1, Level::default());
                }
                if let Some(level) = next.levels.get_mut(level) {
                    *level = becomes;
                }
            }
        }
        Ok(true)
    }

    /// Makes the run of that number of the lowest level from the blocks; false where the index has changed meanwhile.
    fn make_run(
        &self,
        transaction: &mut Transaction,
        parts: &Parts,
        number: u32,
    ) -> Result<bool, ServiceError> {
        let shape = self.shape.parts;
        let blocks = number * FAN..(number + 1) * FAN;
        let keys = blocks.map(block_key).collect();
        let Some(blocks) = self.read_rows::<Columns>(parts, keys)? else {
            return Ok(false);
        };
        let mut occurrences = Vec::new();
        let entries = blocks.iter().flat_map(Columns::entries);
        for (document, entry) in (0..).zip(entries) {
            if !entry.name.is_empty() {
                for_each_gram(entry.name, entry.email, |gram, place| {
                    occurrences.push((gram, (document, place)));
                });
            }
        }
        let run = Run { level: 0, number };
        let wanted = RowsOfRun {
            rows: 0..shape.rows,
            in_all: shape.rows,
            told: shape.told,
        };
        for (row, record) in wanted.rows.clone().zip(rows_of(occurrences, &wanted)) {
            transaction.put(run.key(row), &record)?;
        }
        Ok(true)
    }

    /// Merges the next `most` rows of the level below into the run of `level` that is being made; false where the index has changed
    /// meanwhile.
    fn merge_rows(
        &self,
        transaction: &mut Transaction,
        parts: &Parts,
        level: usize,
        most: u32,
    ) -> Result<bool, ServiceError> {
        let state = parts.record.level(level);
        let shape = self.shape.parts;
        let documents_below = shape.documents(level - 1).unwrap_or(u32::MAX);
        let rows_below = shape.rows(level - 1).unwrap_or(u32::MAX);
        let below = |part: u32| Run {
            level: level - 1,
            number: state.runs * FAN + part,
        };
        let places = state.merged..state.merged + most;
        let keys = places.clone();
        let keys = keys.flat_map(|row| (0..FAN).map(move |part| below(part).key(row)));
        let Some(rows) = self.read_rows::<RowRecord>(parts, keys.collect())? else {
            return Ok(false);
        };
        let run = Run {
            level,
            number: state.runs,
        };
        for (place, rows) in places.zip(rows.chunks(FAN as usize)) {
            let wanted = RowsOfRun {
                rows: place * FAN..(place + 1) * FAN,
                in_all: rows_below * FAN,
                told: shape.told,
            };
            let merged = merged(rows, documents_below, &wanted);
            let Some(merged) = self.unless_parts_damaged(merged)? else {
                return Ok(false);
            };
            for (row, record) in wanted.rows.clone().zip(merged) {
                transaction.put(run.key(row), &record)?;
            }
        }
        Ok(true)
    }

    /// The records of these keys, read to be changed and not kept; `None` where the index has changed meanwhile, or is damaged.
    fn read_rows<T: Record>(
        &self,
        parts: &Parts,
        keys: Vec<String>,
    ) -> Result<Option<Vec<T>>, ServiceError> {
        let keys: Vec<&str> = std::iter::once(PARTS_KEY)
            .chain(keys.iter().map(String::as_str))
            .collect();
        let read = self.records.store().get(&keys).map_err(StorageError::from);
        let Some(read) = self.unless_parts_damaged(read)? else {
            return Ok(None);
        };
        let mut read = read.into_iter();
        let now = read.next().flatten();
        if now.is_none_or(|now| now.version != parts.version) {
            return Ok(None);
        }
        let decoded = read.map(|entry| decode(&entry.ok_or(StorageError::Malformed)?.value));
        self.unless_parts_damaged(decoded.collect())
    }
}
