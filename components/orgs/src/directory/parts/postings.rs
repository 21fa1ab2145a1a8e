//! Rows of the index of parts: for each *gram*, the documents it occurs in.
//!
//! A gram is a hash of three or five bytes that stand together in a name or an address, or of a whole name. Two that are equal by chance
//! cost a look in vain and nothing else, for whatever is found is compared with the text itself.

use gatehouse_storage::{Cacheable, Record, StorageError};
use serde::{Deserialize, Serialize};

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

/// Some grams of a run, in ascending order of their hashes.
pub type Grams = Vec<(u32, Postings)>;

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

/// The grams of these occurrences, in whatever order these are; more than `told` of one gram are too many.
pub fn grams_of(mut occurrences: Vec<(u32, Occurrence)>, told: usize) -> Grams {
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
    let same_gram = occurrences.chunk_by(|(gram, _), (other, _)| gram == other);
    let grams = same_gram.filter_map(|of_gram| {
        let (gram, _) = of_gram.first()?;
        let postings = if of_gram.len() > told {
            Postings::Common
        } else {
            Postings::In(of_gram.iter().map(|(_, occurrence)| *occurrence).collect())
        };
        Some((*gram, postings))
    });
    grams.collect()
}

/// The grams of several parts of a run, one behind the other, of so many documents each; more than `told` of one gram are too many.
pub fn merged(parts: impl IntoIterator<Item = Grams>, documents: u32, told: usize) -> Grams {
    let mut all = Grams::new();
    for (part, grams) in (0..).zip(parts) {
        all.extend(grams.into_iter().map(|(gram, mut postings)| {
            if let Postings::In(occurrences) = &mut postings {
                for (document, _) in occurrences {
                    *document += part * documents;
                }
            }
            (gram, postings)
        }));
    }
    // A stable sort: what is in order within each part is merged, and what is equal stays in the order of the parts.
    all.sort_by_key(|(gram, _)| *gram);
    let mut grams = Grams::with_capacity(all.len());
    for (gram, postings) in all {
        match grams.last_mut() {
            Some((last, before)) if *last == gram => before.append(postings, told),
            _ => grams.push((gram, postings)),
        }
    }
    grams
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

impl Postings {
    /// Adds occurrences that come behind those that are there, if all together are at most `most`.
    fn append(&mut self, further: Self, most: usize) {
        match (&mut *self, further) {
            (Self::In(here), Self::In(further)) if here.len() + further.len() <= most => {
                here.extend(further);
            }
            _ => *self = Self::Common,
        }
    }
}

/// Some grams of a run, packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowRecord(String);

impl Record for RowRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for RowRecord {}

impl RowRecord {
    /// A row of these grams.
    pub fn of(grams: &[(u32, Postings)]) -> Self {
        let mut row = String::new();
        let mut list = String::new();
        let mut last = 0;
        for (gram, postings) in grams {
            list.clear();
            if let Postings::In(occurrences) = postings {
                if occurrences.is_empty() {
                    continue;
                }
                let mut before = 0;
                for (document, places) in occurrences {
                    let step = u64::from(document - before);
                    push_number(&mut list, step << 2 | u64::from(*places));
                    before = *document;
                }
            }
            if row.len() + list.len() > MAXIMUM_ROW_BYTES {
                list.clear();
            }
            push_number(&mut row, u64::from(gram - last));
            push_number(&mut row, list.len() as u64);
            row.push_str(&list);
            last = *gram;
        }
        Self(row)
    }

    /// The documents that have `gram`.
    ///
    /// # Errors
    ///
    /// When the row is damaged.
    pub fn get(&self, gram: u32) -> Result<Postings, StorageError> {
        let mut lists = Lists::of(self);
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

    /// All grams of the row.
    ///
    /// # Errors
    ///
    /// When the row is damaged.
    pub fn grams(&self) -> Result<Grams, StorageError> {
        let mut grams = Grams::new();
        let mut lists = Lists::of(self);
        while let Some((gram, list)) = lists.next_list()? {
            grams.push((gram, postings(list)?));
        }
        Ok(grams)
    }
}

/// The lists of a row that have not been read yet.
struct Lists<'a> {
    left: &'a [u8],
    gram: u32,
}

impl<'a> Lists<'a> {
    const fn of(row: &'a RowRecord) -> Self {
        Self {
            left: row.0.as_bytes(),
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
        let number = take_number(&mut list)?;
        let step = u32::try_from(number >> 2).map_err(|_| StorageError::Malformed)?;
        document = document.checked_add(step).ok_or(StorageError::Malformed)?;
        let places = if number & 1 == 0 { 0 } else { IN_NAME };
        let places = places | if number & 2 == 0 { 0 } else { IN_EMAIL };
        occurrences.push((document, places));
    }
    Ok(Postings::In(occurrences))
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
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn some_grams() -> impl Strategy<Value = BTreeMap<u32, Postings>> {
        let documents = prop::collection::btree_map(any::<u32>(), 1..=3_u8, 1..6);
        let list = documents.prop_map(|all| Postings::In(all.into_iter().collect()));
        let postings = prop_oneof![9 => list, 1 => Just(Postings::Common)];
        prop::collection::btree_map(any::<u32>(), postings, 0..8)
    }

    proptest! {
        #[test]
        fn a_row_says_what_was_put_into_it(grams in some_grams(), other in any::<u32>()) {
            let in_order: Grams = grams.clone().into_iter().collect();
            let row = RowRecord::of(&in_order);
            prop_assert!(serde_json::to_string(&row).unwrap().len() == row.0.len() + 2);
            prop_assert_eq!(row.grams().unwrap(), in_order);
            let none = Postings::In(Vec::new());
            for gram in grams.keys().copied().chain([other]) {
                let expected = grams.get(&gram).unwrap_or(&none);
                prop_assert_eq!(&row.get(gram).unwrap(), expected);
            }
        }

        #[test]
        fn any_text_is_a_row_or_refused(text in ".{0,20}") {
            let row = RowRecord(text);
            let _ = row.grams();
            let _ = row.get(7);
        }

        #[test]
        fn a_document_has_every_gram_that_any_part_of_it_is_looked_for_by(
            name in "[a-c]{1,9}", email in "[a-cé]{1,9}", from in 0..9_usize, to in 0..9_usize,
        ) {
            let mut grams: BTreeMap<u32, u8> = BTreeMap::new();
            for_each_gram(&name, &email, |gram, place| *grams.entry(gram).or_default() |= place);
            let parts = [(name.as_bytes(), IN_NAME), (email.as_bytes(), IN_EMAIL)];
            for (text, place) in parts {
                for gram in grams_within(text.get(from..to).unwrap_or_default()) {
                    prop_assert!(grams.get(&gram).is_some_and(|places| places & place != 0));
                }
            }
            prop_assert!(grams.contains_key(&gram_of_whole(&name)));
        }
    }

    #[test]
    fn a_gram_in_more_documents_than_are_told_is_common_in_every_run_above() {
        let occurrences = [7, 7, 8].into_iter().flat_map(|gram| {
            let places = [(0, IN_NAME), (1, IN_EMAIL), (1, IN_NAME)];
            places.map(|occurrence| (gram, occurrence))
        });
        let mut occurrences: Vec<_> = occurrences.collect();
        occurrences.push((8, (2, IN_NAME)));
        let grams = grams_of(occurrences, 2);
        let told = Postings::In(vec![(0, IN_NAME), (1, IN_NAME | IN_EMAIL)]);
        assert_eq!(grams, [(7, told), (8, Postings::Common)]);
        let one = vec![
            (7, Postings::In(vec![(0, IN_EMAIL)])),
            (8, Postings::In(vec![(0, IN_EMAIL)])),
        ];
        let expected = Postings::In(vec![(0, IN_NAME), (1, IN_NAME | IN_EMAIL), (4, IN_EMAIL)]);
        let both = merged([grams.clone(), one], 4, 3);
        assert_eq!(both, [(7, expected), (8, Postings::Common)]);
        assert_eq!(
            merged([grams.clone(), grams], 4, 3)[0],
            (7, Postings::Common)
        );
    }

    #[test]
    fn a_row_has_a_bound() {
        let list: Vec<Occurrence> = (0..4096).map(|number| (number * 32, IN_NAME)).collect();
        let grams = (0..200).map(|gram| (gram, Postings::In(list.clone())));
        let row = RowRecord::of(&grams.collect::<Grams>());
        assert!(
            row.0.len() <= MAXIMUM_ROW_BYTES + 200 * 8,
            "{}",
            row.0.len()
        );
        assert_eq!(row.get(0).unwrap(), Postings::In(list));
        assert_eq!(row.get(199).unwrap(), Postings::Common);
        assert_eq!(row.grams().unwrap().len(), 200);
    }
}
