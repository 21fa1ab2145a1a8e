//! The index of parts: it finds organizations by what occurs in their names and addresses, without going through all of them.
//!
//! It says the same as the leaves: a commit that moves pending changes into these enters them here too. It is made from the
//! leaves where it is missing, as in an older store, in steps that writers and upkeep continue; until it is complete, and
//! for texts of one or two bytes and those that very many organizations contain, a search goes through the leaves.
//!
//! It only ever names candidates: their texts are looked at, and what they say counts.

mod postings;
mod record;
mod upkeep;

use std::collections::BTreeMap;
use std::sync::Arc;

use gatehouse_ports::{Store, StoreError};
use gatehouse_storage::{Cacheable, Loaded, MAXIMUM_ATTEMPTS, StorageError, Transaction};
use memchr::memmem::Finder;

use self::postings::{IN_EMAIL, IN_NAME, Occurrence, Postings, RowRecord, grams_within};
pub use self::record::{PARTS_KEY, PARTS_PREFIX, PartsRecord, PartsShape};
use self::record::{Run, block_key};
use super::Directory;
use super::record::{Columns, Entry};
use crate::ServiceError;
use crate::search::{Matcher, Search};

/// How many grams of a text are looked up at once, and how often that is done where they tell too little.
const GRAMS_AT_ONCE: usize = 4;
const ROUNDS: usize = 4;

/// So few candidates of one run that looking at them is less than looking up more grams.
const FEW: usize = 16;

/// Grams that an organization must have to be found.
struct Need {
    grams: Vec<u32>,
    /// Where each of them may be, all in the same place.
    places: u8,
}

/// The grams that `matcher` needs; none where it looks for nothing that is long enough.
fn needs_of(matcher: &Matcher) -> Vec<Need> {
    let need = |wanted: &Option<Finder<'static>>, places| {
        let grams = grams_within(wanted.as_ref()?.needle());
        (!grams.is_empty()).then_some(Need { grams, places })
    };
    let needs = [
        need(&matcher.name_or_email, IN_NAME | IN_EMAIL),
        need(&matcher.name, IN_NAME),
        need(&matcher.email, IN_EMAIL),
    ];
    needs.into_iter().flatten().collect()
}

/// The documents to be looked at.
enum Candidates {
    /// These, in ascending order.
    Are(Vec<u32>),
    TooMany,
}

/// The candidates of one run, as far as they are known.
struct InRun {
    run: Run,
    first: u32,
    rows: u32,
    /// Documents within the run; `None` where nothing told of them yet.
    left: Option<Vec<u32>>,
}

impl InRun {
    fn is_settled(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.len() <= FEW)
    }

    fn keep_only(&mut self, found: &[Occurrence]) {
        let found = found.iter().map(|(document, _)| *document);
        self.left = Some(match self.left.take() {
            None => found.collect(),
            Some(left) => {
                let mut found = found.peekable();
                let is_found = |document: &u32| {
                    while found.next_if(|found| found < document).is_some() {}
                    found.peek() == Some(document)
                };
                left.into_iter().filter(is_found).collect()
            }
        });
    }
}

/// The occurrences of two grams in the same places, as far as these are `wanted`.
fn both(a: &[Occurrence], b: &[Occurrence], wanted: u8) -> Vec<Occurrence> {
    let mut b = b.iter().peekable();
    let both = a.iter().filter_map(|(document, places)| {
        while b.next_if(|(other, _)| other < document).is_some() {}
        let (_, others) = b.peek().filter(|(other, _)| other == document)?;
        Some((*document, places & others))
    });
    both.filter(|(_, places)| places & wanted != 0).collect()
}

type Parts = Loaded<Arc<PartsRecord>>;

impl<S: Store> Directory<'_, S> {
    /// The folded names of the organizations that are searched for, in order; `None` where the index cannot tell.
    pub fn find(&self, search: &Search) -> Result<Option<Vec<String>>, ServiceError> {
        let needs = needs_of(&search.matcher);
        if needs.is_empty() {
            return Ok(None);
        }
        for _ in 0..MAXIMUM_ATTEMPTS {
            let Some(pending) = self.pending()? else {
                continue;
            };
            let Some(parts) = self.parts()?.filter(|parts| parts.record.is_whole()) else {
                return Ok(None);
            };
            let candidates = match self.candidates(&parts, &needs)? {
                None => continue,
                Some(Candidates::TooMany) => return Ok(None),
                Some(Candidates::Are(candidates)) => candidates,
            };
            let is_found = |entry: &Entry<'_>| {
                search.matcher.accepts(entry.name, entry.email)
                    && search.covers(entry.name, || entry.barred)
            };
            let mut names = Vec::new();
            let is_done = self.for_each_document(&parts, &candidates, |_, entry| {
                if is_found(&entry) && !pending.contains_key(entry.name) {
                    names.push(entry.name.to_owned());
                }
            })?;
            if !is_done {
                continue;
            }
            let changed = pending
                .iter()
                .filter_map(|(name, change)| change.entry(name));
            names.extend(changed.filter(is_found).map(|entry| entry.name.to_owned()));
            names.sort_unstable();
            names.dedup();
            return Ok(Some(names));
        }
        Ok(None)
    }

    /// The state of the index; `None` where there is none, or no longer, for it was damaged.
    fn parts(&self) -> Result<Option<Parts>, ServiceError> {
        let read = self
            .cache
            .read(self.records.store(), [PARTS_KEY.to_owned()]);
        let parts = read.and_then(|mut read| read.next_record::<PartsRecord>());
        Ok(self.unless_parts_damaged(parts)?.flatten())
    }

    /// The documents that can have all that `needs` says, and the youngest, of which no run tells yet; `None` where the index has
    /// changed meanwhile.
    fn candidates(
        &self,
        parts: &Parts,
        needs: &[Need],
    ) -> Result<Option<Candidates>, ServiceError> {
        let shape = &self.shape.parts;
        let (runs, told) = parts.record.runs(shape);
        let in_run = |(run, first): (Run, u32)| InRun {
            run,
            first,
            rows: shape.rows(run.level).unwrap_or(u32::MAX),
            left: None,
        };
        let mut runs: Vec<InRun> = runs.into_iter().map(in_run).collect();
        for round in 0..ROUNDS {
            if !self.look_up(parts, needs, round, &mut runs)? {
                return Ok(None);
            }
        }
        let mut candidates = Vec::new();
        for run in runs {
            let Some(left) = run.left else {
                return Ok(Some(Candidates::TooMany));
            };
            candidates.extend(left.into_iter().map(|document| run.first + document));
        }
        if candidates.len() > shape.candidates {
            return Ok(Some(Candidates::TooMany));
        }
        candidates.extend(told..parts.record.documents);
        Ok(Some(Candidates::Are(candidates)))
    }

    /// Looks up some grams of each need in the runs that are not settled; false where the index has changed meanwhile.
    fn look_up(
        &self,
        parts: &Parts,
        needs: &[Need],
        round: usize,
        runs: &mut [InRun],
    ) -> Result<bool, ServiceError> {
        // Grams that stand apart tell more than neighbours.
        let grams_of = |need: &Need| {
            let apart = need.grams.len().div_ceil(GRAMS_AT_ONCE);
            let first = if round < apart {
                round
            } else {
                need.grams.len()
            };
            let grams = need.grams.iter().skip(first).step_by(apart.max(1));
            grams.copied().collect::<Vec<u32>>()
        };
        let grams: Vec<(u8, Vec<u32>)> = needs
            .iter()
            .map(|need| (need.places, grams_of(need)))
            .collect();
        let mut runs: Vec<&mut InRun> = runs.iter_mut().filter(|run| !run.is_settled()).collect();
        let keys: Vec<String> = runs
            .iter()
            .flat_map(|run| {
                let grams = grams.iter().flat_map(|(_, grams)| grams);
                grams.map(|gram| run.run.key(Run::row_of(*gram, run.rows)))
            })
            .collect();
        let Some(rows) = self.read_parts::<RowRecord>(parts, keys)? else {
            return Ok(false);
        };
        let mut rows = rows.into_iter();
        for run in &mut runs {
            for (places, grams) in &grams {
                let mut found: Option<Vec<Occurrence>> = None;
                for gram in grams {
                    let row = rows.next().ok_or(StorageError::Malformed);
                    let postings = row.and_then(|row| row.get(*gram));
                    let Some(postings) = self.unless_parts_damaged(postings)? else {
                        return Ok(false);
                    };
                    let Postings::In(occurrences) = postings else {
                        continue;
                    };
                    found = Some(match found {
                        None => both(&occurrences, &occurrences, *places),
                        Some(found) => both(&found, &occurrences, *places),
                    });
                }
                if let Some(found) = found {
                    run.keep_only(&found);
                }
            }
        }
        Ok(true)
    }

    /// Does `work` for each of these documents, which are in ascending order, as far as something is left of it; false where the index
    /// has changed meanwhile.
    fn for_each_document(
        &self,
        parts: &Parts,
        documents: &[u32],
        mut work: impl FnMut(u32, Entry<'_>),
    ) -> Result<bool, ServiceError> {
        let shape = &self.shape.parts;
        let mut by_block: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for document in documents {
            let block = by_block.entry(document / shape.block).or_default();
            block.push(*document);
        }
        let by_block: Vec<(u32, Vec<u32>)> = by_block.into_iter().collect();
        for by_block in by_block.chunks(self.shape.leaves_per_read) {
            let keys = by_block
                .iter()
                .map(|(block, _)| block_key(*block))
                .collect();
            let Some(blocks) = self.read_parts::<Columns>(parts, keys)? else {
                return Ok(false);
            };
            for ((number, documents), block) in by_block.iter().zip(blocks) {
                let rows = parts.record.in_block(*number, shape) as usize;
                let whole = (block.rows() == Some(rows)).then_some(block);
                let whole = whole.ok_or(StorageError::Malformed);
                let Some(block) = self.unless_parts_damaged(whole)? else {
                    return Ok(false);
                };
                for document in documents {
                    let entry = block.entry((document % shape.block) as usize);
                    if let Some(entry) = entry.filter(|entry| !entry.name.is_empty()) {
                        work(*document, entry);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The records of these keys, at the moment of `parts`; `None` where that is over, or one of them was damaged.
    fn read_parts<T: Cacheable>(
        &self,
        parts: &Parts,
        keys: Vec<String>,
    ) -> Result<Option<Vec<Arc<T>>>, ServiceError> {
        let mut records = Vec::with_capacity(keys.len());
        for keys in keys.chunks(self.shape.leaves_per_read) {
            let with_parts = std::iter::once(PARTS_KEY).chain(keys.iter().map(String::as_str));
            let with_parts = with_parts.map(str::to_owned);
            let read = self.cache.read(self.records.store(), with_parts);
            let Some(mut read) = self.unless_parts_damaged(read)? else {
                return Ok(None);
            };
            let now = self.unless_parts_damaged(read.next_record::<PartsRecord>())?;
            if now.flatten().is_none_or(|now| now.version != parts.version) {
                return Ok(None);
            }
            for _ in keys {
                let record = read.next_record::<T>();
                let record = record.and_then(|record| record.ok_or(StorageError::Malformed));
                let Some(record) = self.unless_parts_damaged(record)? else {
                    return Ok(None);
                };
                records.push(record.record);
            }
        }
        Ok(Some(records))
    }

    /// The part that was read; `None` where it is damaged. Then the index is given up, and will be made again.
    fn unless_parts_damaged<T>(
        &self,
        read: Result<T, StorageError>,
    ) -> Result<Option<T>, ServiceError> {
        let mut transaction = Transaction::new();
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(StorageError::Store(StoreError::Corrupt(key))) => {
                transaction.delete(key);
            }
            Err(StorageError::Malformed) => {}
            Err(error) => return Err(error.into()),
        }
        transaction.delete(PARTS_KEY);
        self.commit_unless_late(transaction)?;
        Ok(None)
    }
}
