//! Many short texts in one string.

use std::cmp::Ordering;

use memchr::memchr_iter;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize, Serializer};

/// Ends each text. Neither a name nor an e-mail address has a blank in it.
const END: char = ' ';

/// Texts without blanks, one row after the other. They are packed, so that looking for something in all of them is one pass over
/// one string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Column {
    text: String,
    /// Where in `text` each row ends, before its blank.
    ends: Vec<usize>,
}

impl Column {
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, row: usize) -> Option<&str> {
        let start = match row.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before)? + END.len_utf8(),
        };
        self.text.get(start..*self.ends.get(row)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.text.split_terminator(END)
    }

    /// True if a row says just `text`, where the rows are sorted.
    pub fn find_sorted(&self, text: &str) -> bool {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.get(middle).cmp(&Some(text)) {
                Ordering::Equal => return true,
                Ordering::Less => from = middle + 1,
                Ordering::Greater => to = middle,
            }
        }
        false
    }

    /// The rows in which `wanted` occurs, in ascending order.
    pub fn rows_with(&self, wanted: &Finder<'_>) -> impl Iterator<Item = usize> {
        // An occurrence with a blank in it would be one across two rows.
        let mut position = (!wanted.needle().contains(&(END as u8))).then_some(0);
        let mut rows = self.ends.iter().enumerate();
        std::iter::from_fn(move || {
            let from = position.take()?;
            let found = from + wanted.find(self.text.as_bytes().get(from..)?)?;
            let (row, end) = rows.find(|(_, end)| found <= **end)?;
            position = Some(*end);
            Some(row)
        })
    }
}

impl From<String> for Column {
    fn from(text: String) -> Self {
        let ends = memchr_iter(END as u8, text.as_bytes()).collect();
        Self { text, ends }
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'a> FromIterator<&'a str> for Column {
    fn from_iter<T: IntoIterator<Item = &'a str>>(texts: T) -> Self {
        let mut text = String::new();
        for row in texts {
            text.push_str(row);
            text.push(END);
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_occurrence_is_within_one_row() {
        let column: Column = ["ab", "c", "", "bc"].into_iter().collect();
        let rows = |wanted: &str| column.rows_with(&Finder::new(wanted)).collect::<Vec<_>>();
        assert_eq!(rows("b"), [0, 3]);
        assert_eq!(rows("c"), [1, 3]);
        assert_eq!(rows("ab c"), [0; 0]);
        assert_eq!(rows(" "), [0; 0]);
        assert_eq!(column.get(2), Some(""));
        assert_eq!(column.get(4), None);
    }

    proptest! {
        #[test]
        fn a_column_is_its_rows(texts in prop::collection::vec("[a-cé]{0,4}", 0..20), wanted in "[a-cé]{1,2}") {
            let column: Column = texts.iter().map(String::as_str).collect();
            prop_assert_eq!(column.len(), texts.len());
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), texts.clone());
            for (row, text) in texts.iter().enumerate() {
                prop_assert_eq!(column.get(row), Some(text.as_str()));
            }
            let expected: Vec<usize> = (0..texts.len()).filter(|row| texts[*row].contains(&wanted)).collect();
            prop_assert_eq!(column.rows_with(&Finder::new(&wanted)).collect::<Vec<_>>(), expected);
            let again: Column = serde_json::from_str(&serde_json::to_string(&column).unwrap()).unwrap();
            prop_assert_eq!(again, column);
        }
    }
}
