//! Objects and arrays whose values stay text until the reader knows what type they should have.
//!
//! A number keeps all of its digits this way (an account's unique ID has more than 64 bits hold), and nothing is built for
//! members that nobody reads.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{JsonError, check};

/// The members of an object in the order written, each name once.
pub type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// What to do about a member that is given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// The last one counts.
    LastWins,
    /// The object is refused.
    Refuse,
}

/// Reads an object within the limits. An empty text and `null` are an object without members (contract 1.3).
///
/// # Errors
///
/// [`JsonError`] says what is wrong with the text.
pub fn object(body: &[u8], duplicates: Duplicates) -> Result<Members<'_>, JsonError> {
    let text = check(body)?.trim_ascii();
    if text.is_empty() || text == "null" {
        return Ok(Vec::new());
    }
    let mut repeated = false;
    let seed = MembersSeed {
        duplicates,
        repeated: &mut repeated,
    };
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = seed.deserialize(&mut parser);
    match members.and_then(|members| parser.end().map(|()| members)) {
        Ok(members) => Ok(members),
        Err(_) if repeated => Err(JsonError::DuplicateMember),
        Err(_) if serde_json::from_str::<&RawValue>(text).is_ok() && !text.starts_with('{') => {
            Err(JsonError::NotAnObject)
        }
        Err(_) => Err(JsonError::Malformed),
    }
}

/// Splits an array that has been through [`object`] into its elements; `None` when it is not an array.
#[must_use]
pub fn array(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

struct MembersSeed<'r> {
    duplicates: Duplicates,
    repeated: &'r mut bool,
}

impl<'de> DeserializeSeed<'de> for MembersSeed<'_> {
    type Value = Members<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MembersSeed<'_> {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(4);
        while let Some((Name(name), value)) = access.next_entry::<Name<'de>, &'de RawValue>()? {
            members.push((name, value));
        }
        // Sorting finds repeats without comparing every pair; a stable sort keeps the last of them last.
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|a, b| name_at(&members, *a).cmp(name_at(&members, *b)));
        let mut superseded: Vec<usize> = order
            .windows(2)
            .filter_map(|pair| match pair {
                [a, b] if name_at(&members, *a) == name_at(&members, *b) => Some(*a),
                _ => None,
            })
            .collect();
        if superseded.is_empty() {
            return Ok(members);
        }
        if self.duplicates == Duplicates::Refuse {
            *self.repeated = true;
            return Err(A::Error::custom("duplicate member"));
        }
        superseded.sort_unstable();
        let mut index = 0;
        members.retain(|_| {
            let keep = superseded.binary_search(&index).is_err();
            index += 1;
            keep
        });
        Ok(members)
    }
}

fn name_at<'m>(members: &'m Members<'_>, index: usize) -> &'m str {
    members.get(index).map_or("", |(name, _)| name)
}

/// A member's name, borrowed where it is written without escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Result<Vec<(String, String)>, JsonError> {
        let members = object(text.as_bytes(), Duplicates::LastWins)?;
        Ok(members
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value.get().to_owned()))
            .collect())
    }

    #[test]
    fn numbers_keep_every_digit() {
        let members = pairs("{\"id\": 112233445566778899001, \"x\":1.50}").unwrap();
        assert_eq!(members[0].1, "112233445566778899001");
        assert_eq!(members[1].1, "1.50");
    }

    #[test]
    fn empty_text_and_null_have_no_members() {
        for text in ["", " \n", "null", " null ", "{}"] {
            assert_eq!(pairs(text), Ok(vec![]), "{text:?}");
        }
    }

    #[test]
    fn what_is_json_but_no_object_is_told_apart_from_what_is_not_json() {
        for text in ["[]", "1", "\"x\"", "true"] {
            assert_eq!(pairs(text), Err(JsonError::NotAnObject), "{text:?}");
        }
        for text in [
            "{",
            "{\"a\"}",
            "{\"a\":1,}",
            "{} {}",
            "{'a':1}",
            "nul",
            "[1",
            "{\"a\":01}",
        ] {
            assert_eq!(pairs(text), Err(JsonError::Malformed), "{text:?}");
        }
    }

    #[test]
    fn of_repeated_members_the_last_wins() {
        let text = r#"{"a":1,"b":2,"a":3,"\u0061":4,"c":5,"b":6}"#;
        let members = pairs(text).unwrap();
        let members: Vec<_> = members
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(members, [("a", "4"), ("c", "5"), ("b", "6")]);
    }

    #[test]
    fn repeated_members_are_refused_where_asked_also_when_escaped() {
        for text in [
            r#"{"jwt":"a","jwt":"b"}"#,
            r#"{"jwt":"a","x":1,"\u006awt":"b"}"#,
        ] {
            let refused = object(text.as_bytes(), Duplicates::Refuse);
            assert_eq!(refused.err(), Some(JsonError::DuplicateMember), "{text}");
        }
    }

    #[test]
    fn arrays_split_into_their_elements() {
        let members = object(b"{\"a\":[1,\"x\",[2]]}", Duplicates::LastWins).unwrap();
        let elements = array(members[0].1).unwrap();
        let elements: Vec<_> = elements.iter().map(|element| element.get()).collect();
        assert_eq!(elements, ["1", "\"x\"", "[2]"]);
        assert!(array(elements_of("{}")).is_none());
    }

    fn elements_of(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }
}
