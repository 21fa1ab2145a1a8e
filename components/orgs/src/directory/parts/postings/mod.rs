//! Rows of the index of parts: for each *gram*, the documents it occurs in.
//!
//! A gram is a hash of three or five bytes that stand together in a name or an address, or of a whole name. Two that are equal by chance
//! cost a look in vain and nothing else, since each document that is found is compared with the text itself.

use std::ops::Range;

use gatehouse_storage::{Cacheable, Record, StorageError};
use serde::{Deserialize, Serialize};

use super::record::Run;
use crate::directory::derived::Derived;

/// The document has the gram in its name.
pub const IN_NAME: u8 = 1;
/// The document has the gram in its address.
pub const IN_EMAIL: u8 = 2;

/// Bytes in a gram, the longer first.
const LONG: usize = 5;
const SHORT: usize = 3;

/// Most bytes of one row. Whatever would make it longer counts as too common: only hostile names come near.
const MAXIMUM_ROW_BYTES: usize = 256 * 1024;

/// The digits of numbers in a row are printable characters that JSON does not escape, each of five bits and one that says if more follow.
const FIRST_DIGIT: u8 = b'#';
const BITS: u32 = 5;
const MORE: u64 = 1 << BITS;

/// A document within its run, and where it has the gram: [`IN_NAME`], [`IN_EMAIL`] or both.
pub type Occurrence = (u32, u8);

/// The documents of one run that have a gram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Postings {
    /// So many that they are not told.
    Common,
    /// These, in ascending order.
    In(Vec<Occurrence>),
}

/// The grams that are in `text`, those of the longer kind if it is long enough for one, in the order of their places; none in a
/// text that is too short for any.
pub fn grams_within(text: &[u8]) -> Vec<u32> {
    let size = if text.len() < LONG { SHORT } else { LONG };
    text.windows(size).map(hash).collect()
}

/// The gram that only a document of just this name has.
pub fn gram_of_whole(name: &str) -> u32 {
    let mut whole = Vec::with_capacity(name.len() + 1);
    // No text begins with this byte.
    whole.push(0xff);
    whole.extend_from_slice(name.as_bytes());
    hash(&whole)
}

/// Does `work` for every gram of a document, with the place where it is; a gram that occurs often comes often.
pub fn for_each_gram(name: &str, email: &str, mut work: impl FnMut(u32, u8)) {
    work(gram_of_whole(name), IN_NAME);
    for (text, place) in [(name, IN_NAME), (email, IN_EMAIL)] {
        for size in [SHORT, LONG] {
            for window in text.as_bytes().windows(size) {
                work(hash(window), place);
            }
        }
    }
}

/// Which rows of a run are packed.
#[derive(Debug, Clone)]
pub struct RowsOfRun {
    pub rows: Range<u32>,
    /// How many rows the run has in all.
    pub in_all: u32,
    /// The documents that are told for one gram; more are too many.
    pub told: usize,
}

/// The rows of a run in which these occurrences are, which may be given in any order.
pub fn rows_of(mut occurrences: Vec<(u32, Occurrence)>, wanted: &RowsOfRun) -> Vec<RowRecord> {
    occurrences.sort_unstable();
    occurrences.dedup_by(
        |(gram, (document, places)), (last_gram, (last, last_places))| {
            let is_same = gram == last_gram && document == last;
            if is_same {
                *last_places |= *places;
            }
            is_same
        },
    );
    let mut rows = RowsWriter::new(wanted);
    for of_gram in occurrences.chunk_by(|(gram, _), (other, _)| gram == other) {
        let Some((gram, _)) = of_gram.first() else {
            continue;
        };
        for (_, (document, places)) in of_gram {
            rows.list.push(*document, *places);
        }
        rows.end_list(*gram);
    }
    rows.finish()
}

/// The rows of a run into which one row of each of its parts is merged, which follow one another with so many documents each.
///
/// Lists are put together as they are packed: only the first number of each says something else in the whole.
///
/// # Errors
///
/// When a row is damaged.
pub fn merged(
    parts: &[RowRecord],
    documents: u32,
    wanted: &RowsOfRun,
) -> Result<Vec<RowRecord>, StorageError> {
    let mut rows = RowsWriter::new(wanted);
    let mut lists: Vec<Lists<'_>> = parts.iter().map(Lists::from_row).collect();
    let mut next = Vec::with_capacity(lists.len());
    for lists in &mut lists {
        next.push(lists.next_list()?);
    }
    while let Some(gram) = next.iter().flatten().map(|(gram, _)| *gram).min() {
        for ((part, lists), next) in (0_u32..).zip(&mut lists).zip(&mut next) {
            if let Some((_, list)) = next.take_if(|(found, _)| *found == gram) {
                let first = part.checked_mul(documents).ok_or(StorageError::Malformed)?;
                rows.list.append(list, first)?;
                *next = lists.next_list()?;
            }
        }
        rows.end_list(gram);
    }
    Ok(rows.finish())
}

/// FNV-1a of 64 bits, mixed, of which the upper half is as even as a row needs it.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// Some grams of a run, packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowRecord {
    text: String,
    #[serde(skip)]
    marks: Derived<Vec<Mark>>,
}

/// A place in a row at which reading can begin.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Where the next list begins.
    at: usize,
    /// The gram of the list before it.
    gram: u32,
}

/// One list in how many has a mark: so many are read for each gram, in place of half a row.
const LISTS_PER_MARK: usize = 16;

impl Record for RowRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for RowRecord {}

impl RowRecord {
    /// The documents that have `gram`.
    ///
    /// # Errors
    ///
    /// When the row is damaged.
    pub fn get(&self, gram: u32) -> Result<Postings, StorageError> {
        let mut lists = self.lists_before(gram)?;
        while let Some((found, list)) = lists.next_list()? {
            if found == gram {
                return postings(list);
            }
            if found > gram {
                break;
            }
        }
        Ok(Postings::In(Vec::new()))
    }

    /// The lists from a marked one on, behind which that of `gram` is.
    fn lists_before(&self, gram: u32) -> Result<Lists<'_>, StorageError> {
        let marks = self.marks.get(|| self.read_marks())?;
        let before = marks
            .partition_point(|mark| mark.gram < gram)
            .checked_sub(1);
        let mark = before.and_then(|place| marks.get(place));
        Ok(mark.map_or_else(
            || Lists::from_row(self),
            |mark| Lists {
                left: self.text.as_bytes().get(mark.at..).unwrap_or_default(),
                gram: mark.gram,
            },
        ))
    }

    fn read_marks(&self) -> Result<Vec<Mark>, StorageError> {
        let mut marks = Vec::new();
        let mut lists = Lists::from_row(self);
        let mut read = 0;
        while lists.next_list()?.is_some() {
            read += 1;
            if read % LISTS_PER_MARK == 0 {
                marks.push(Mark {
                    at: self.text.len() - lists.left.len(),
                    gram: lists.gram,
                });
            }
        }
        Ok(marks)
    }
}

impl From<String> for RowRecord {
    fn from(text: String) -> Self {
        Self {
            text,
            marks: Derived::new(),
        }
    }
}

/// A list that is being packed.
#[derive(Default)]
struct ListWriter {
    text: String,
    last: u32,
    occurrences: usize,
    is_common: bool,
}

impl ListWriter {
    /// Adds a document that comes behind those that are there.
    fn push(&mut self, document: u32, places: u8) {
        let step = u64::from(document.saturating_sub(self.last));
        push_number(&mut self.text, step << 2 | u64::from(places));
        self.last = document;
        self.occurrences += 1;
    }

    /// Adds a packed list, the documents of which are counted from `first` on.
    fn append(&mut self, list: &[u8], first: u32) -> Result<(), StorageError> {
        if list.is_empty() {
            self.is_common = true;
            return Ok(());
        }
        let mut left = list;
        let (step, places) = take_occurrence(&mut left)?;
        let document = first.checked_add(step).ok_or(StorageError::Malformed)?;
        self.push(document, places);
        let behind_first = str::from_utf8(left).map_err(|_| StorageError::Malformed)?;
        self.text.push_str(behind_first);
        while !left.is_empty() {
            let (step, _) = take_occurrence(&mut left)?;
            let last = self.last.checked_add(step);
            self.last = last.ok_or(StorageError::Malformed)?;
            self.occurrences += 1;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.last = 0;
        self.occurrences = 0;
        self.is_common = false;
    }
}

/// Rows that are being packed, one after the other.
struct RowsWriter<'a> {
    wanted: &'a RowsOfRun,
    done: Vec<RowRecord>,
    row: String,
    last: u32,
    list: ListWriter,
}

impl<'a> RowsWriter<'a> {
    fn new(wanted: &'a RowsOfRun) -> Self {
        Self {
            wanted,
            done: Vec::with_capacity(wanted.rows.len()),
            row: String::new(),
            last: 0,
            list: ListWriter::default(),
        }
    }

    /// Ends the list that was written: it is that of `gram`, which comes behind all that were ended before.
    fn end_list(&mut self, gram: u32) {
        let rows_before =
            Run::row_of(gram, self.wanted.in_all).saturating_sub(self.wanted.rows.start);
        let rows_before = (rows_before as usize).min(self.wanted.rows.len().saturating_sub(1));
        while self.done.len() < rows_before {
            self.end_row();
        }
        let is_told = !self.list.is_common
            && self.list.occurrences <= self.wanted.told
            && self.row.len() + self.list.text.len() <= MAXIMUM_ROW_BYTES;
        let list = if is_told { self.list.text.as_str() } else { "" };
        push_number(&mut self.row, u64::from(gram.saturating_sub(self.last)));
        push_number(&mut self.row, list.len() as u64);
        self.row.push_str(list);
        self.last = gram;
        self.list.clear();
    }

    fn end_row(&mut self) {
        self.done.push(std::mem::take(&mut self.row).into());
        self.last = 0;
    }

    /// All rows, also those in which there is nothing.
    fn finish(mut self) -> Vec<RowRecord> {
        while self.done.len() < self.wanted.rows.len() {
            self.end_row();
        }
        self.done
    }
}

/// The lists of a row that have not been read yet.
struct Lists<'a> {
    left: &'a [u8],
    gram: u32,
}

impl<'a> Lists<'a> {
    const fn from_row(row: &'a RowRecord) -> Self {
        Self {
            left: row.text.as_bytes(),
            gram: 0,
        }
    }

    fn next_list(&mut self) -> Result<Option<(u32, &'a [u8])>, StorageError> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let step = u32::try_from(take_number(&mut self.left)?);
        let step = step.map_err(|_| StorageError::Malformed)?;
        self.gram = self.gram.checked_add(step).ok_or(StorageError::Malformed)?;
        let length = usize::try_from(take_number(&mut self.left)?);
        let length = length.map_err(|_| StorageError::Malformed)?;
        let parts = self.left.split_at_checked(length);
        let (list, left) = parts.ok_or(StorageError::Malformed)?;
        self.left = left;
        Ok(Some((self.gram, list)))
    }
}

fn postings(mut list: &[u8]) -> Result<Postings, StorageError> {
    if list.is_empty() {
        return Ok(Postings::Common);
    }
    let mut occurrences = Vec::with_capacity(list.len() / 2);
    let mut document = 0_u32;
    while !list.is_empty() {
        let (step, places) = take_occurrence(&mut list)?;
        document = document.checked_add(step).ok_or(StorageError::Malformed)?;
        occurrences.push((document, places));
    }
    Ok(Postings::In(occurrences))
}

/// How many documents behind the one before it an occurrence is, and its places.
fn take_occurrence(list: &mut &[u8]) -> Result<(u32, u8), StorageError> {
    let number = take_number(list)?;
    let step = u32::try_from(number >> 2).map_err(|_| StorageError::Malformed)?;
    let places = if number & 1 == 0 { 0 } else { IN_NAME };
    let places = places | if number & 2 == 0 { 0 } else { IN_EMAIL };
    Ok((step, places))
}

fn push_number(text: &mut String, mut number: u64) {
    loop {
        let low = number & (MORE - 1);
        number >>= BITS;
        let value = if number == 0 { low } else { low | MORE };
        let digit = FIRST_DIGIT + u8::try_from(value).unwrap_or_default();
        // The backslash is left out.
        text.push(char::from(if digit < b'\\' { digit } else { digit + 1 }));
        if number == 0 {
            return;
        }
    }
}

fn take_number(text: &mut &[u8]) -> Result<u64, StorageError> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (digit, left) = text.split_first().ok_or(StorageError::Malformed)?;
        *text = left;
        let digit = if *digit < b'\\' { *digit } else { digit - 1 };
        let value = digit.checked_sub(FIRST_DIGIT).map(u64::from);
        let value = value.filter(|value| *value < 2 * MORE);
        let value = value.ok_or(StorageError::Malformed)?;
        if shift >= u64::BITS - BITS {
            return Err(StorageError::Malformed);
        }
        number |= (value & (MORE - 1)) << shift;
        shift += BITS;
        if value < MORE {
            return Ok(number);
        }
    }
}

#[cfg(test)]
mod tests;
