use std::collections::BTreeMap;

use super::*;
use proptest::prelude::*;

/// All occurrences of a run, by gram.
type Told = BTreeMap<u32, BTreeMap<u32, u8>>;

const DOCUMENTS: u32 = 8;

fn some_grams() -> impl Strategy<Value = Told> {
    let gram = prop_oneof![any::<u32>(), 0..4_u32, Just(u32::MAX)];
    let documents = prop::collection::btree_map(0..DOCUMENTS, 1..=3_u8, 1..6);
    prop::collection::btree_map(gram, documents, 0..8)
}

fn flat(grams: &Told) -> Vec<(u32, Occurrence)> {
    let each = grams.iter().flat_map(|(gram, documents)| {
        let occurrences = documents.iter();
        occurrences.map(|(document, places)| (*gram, (*document, *places)))
    });
    each.collect()
}

const fn all_rows(in_all: u32, told: usize) -> RowsOfRun {
    RowsOfRun {
        rows: 0..in_all,
        in_all,
        told,
    }
}

fn postings_in(documents: &BTreeMap<u32, u8>, told: usize) -> Postings {
    if documents.len() > told {
        return Postings::Common;
    }
    let documents = documents.iter();
    Postings::In(
        documents
            .map(|(document, places)| (*document, *places))
            .collect(),
    )
}

fn get(rows: &[RowRecord], gram: u32) -> Postings {
    let row = Run::row_of(gram, u32::try_from(rows.len()).unwrap());
    rows[row as usize].get(gram).unwrap()
}

proptest! {
    #[test]
    fn rows_say_what_was_put_into_them(grams in some_grams(), other in any::<u32>(), told in 1..6_usize) {
        let rows = rows_of(flat(&grams), &all_rows(3, told));
        prop_assert_eq!(rows.len(), 3);
        for row in &rows {
            prop_assert_eq!(serde_json::to_string(row).unwrap().len(), row.text.len() + 2);
        }
        let none = BTreeMap::new();
        for gram in grams.keys().copied().chain([other]) {
            let expected = postings_in(grams.get(&gram).unwrap_or(&none), told);
            prop_assert_eq!(get(&rows, gram), expected);
        }
    }

    #[test]
    fn merged_rows_say_what_their_parts_say(parts in prop::collection::vec(some_grams(), 4), told in 1..9_usize) {
        let rows_below = 2_u32;
        let stored: Vec<Vec<RowRecord>> = parts.iter().map(|grams| rows_of(flat(grams), &all_rows(rows_below, told))).collect();
        let mut rows = Vec::new();
        for place in 0..rows_below {
            let of_place: Vec<RowRecord> = stored.iter().map(|rows| rows[place as usize].clone()).collect();
            let wanted = RowsOfRun { rows: place * 4..(place + 1) * 4, in_all: rows_below * 4, told };
            rows.extend(merged(&of_place, DOCUMENTS, &wanted).unwrap());
        }
        let mut whole = Told::new();
        for (part, grams) in (0..).zip(&parts) {
            for (gram, (document, places)) in flat(grams) {
                whole.entry(gram).or_default().insert(part * DOCUMENTS + document, places);
            }
        }
        // The same as if the run had been made of all documents at once.
        prop_assert_eq!(&rows, &rows_of(flat(&whole), &all_rows(rows_below * 4, told)));
        for (gram, documents) in &whole {
            prop_assert_eq!(get(&rows, *gram), postings_in(documents, told));
        }
    }

    #[test]
    fn any_text_is_a_row_or_refused(text in ".{0,20}") {
        let row = RowRecord::from(text);
        let _ = row.get(7);
        let _ = merged(&[row.clone(), row], u32::MAX / 2, &all_rows(4, 3));
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
    let row = rows_of(occurrences, &all_rows(1, 2)).remove(0);
    let told = Postings::In(vec![(0, IN_NAME), (1, IN_NAME | IN_EMAIL)]);
    assert_eq!(row.get(7).unwrap(), told);
    assert_eq!(row.get(8).unwrap(), Postings::Common);
    let one = [(7, (0, IN_EMAIL)), (8, (0, IN_EMAIL))];
    let one = rows_of(one.to_vec(), &all_rows(1, 2)).remove(0);
    let expected = Postings::In(vec![(0, IN_NAME), (1, IN_NAME | IN_EMAIL), (4, IN_EMAIL)]);
    let both = merged(&[row.clone(), one], 4, &all_rows(1, 3)).unwrap();
    assert_eq!(both[0].get(7).unwrap(), expected);
    assert_eq!(both[0].get(8).unwrap(), Postings::Common);
    let twice = merged(&[row.clone(), row], 4, &all_rows(1, 3)).unwrap();
    assert_eq!(twice[0].get(7).unwrap(), Postings::Common);
}

#[test]
fn every_gram_of_a_long_row_is_found_and_no_other() {
    let grams = (0..1_000).map(|number| (number * 3, (number % 7, IN_NAME)));
    let row = rows_of(grams.collect(), &all_rows(1, 5)).remove(0);
    for gram in 0..3_000 {
        let expected = match gram % 3 {
            0 => vec![(gram / 3 % 7, IN_NAME)],
            _ => Vec::new(),
        };
        assert_eq!(row.get(gram).unwrap(), Postings::In(expected), "{gram}");
    }
}

#[test]
fn a_row_has_a_bound() {
    let list: Vec<Occurrence> = (0..4096).map(|number| (number * 32, IN_NAME)).collect();
    let grams = (0..200).flat_map(|gram| list.iter().map(move |occurrence| (gram, *occurrence)));
    let row = rows_of(grams.collect(), &all_rows(1, 4096)).remove(0);
    assert!(
        row.text.len() <= MAXIMUM_ROW_BYTES + 200 * 8,
        "{}",
        row.text.len()
    );
    assert_eq!(row.get(0).unwrap(), Postings::In(list));
    assert_eq!(row.get(199).unwrap(), Postings::Common);
}
