//! Objects and arrays whose values stay text until the reader knows what type they should have.
//!
//! A number keeps all of its digits this way (an account's unique ID has more than 64 bits hold), and nothing is built for
//! members that are not read.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{JsonError, MAXIMUM_DEPTH, check, document};

/// The members of an object in the order written, each name once.
pub type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// Reads an object within the limits. An empty text and `null` are an object without members (contract 1.3).
///
/// # Errors
///
/// [`JsonError`] says what is wrong with the text, of a member that is given twice at any depth too.
pub fn object(body: &[u8]) -> Result<Members<'_>, JsonError> {
    let text = check(body)?.trim_ascii();
    if text.is_empty() || text == "null" {
        return Ok(Vec::new());
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = parser.deserialize_map(MembersVisitor);
    match members.and_then(|members| parser.end().map(|()| members)) {
        Ok(members) => {
            require_unique(&members)?;
            Ok(members)
        }
        Err(_) if serde_json::from_str::<&RawValue>(text).is_ok() && !text.starts_with('{') => {
            Err(JsonError::NotAnObject)
        }
        Err(_) => Err(JsonError::Malformed),
    }
}

/// Refuses members that are given twice, here and in the values.
fn require_unique(members: &Members<'_>) -> Result<(), JsonError> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(JsonError::DuplicateMember);
    }
    members
        .iter()
        .map(|(_, value)| value.get())
        .filter(|text| text.starts_with(['{', '[']))
        .try_for_each(|text| document(text.as_bytes(), MAXIMUM_DEPTH).map(|_| ()))
}

/// Splits an array that has been through [`object`] into its elements; `None` when it is not an array.
#[must_use]
pub fn array(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(4);
        while let Some((Name(name), value)) = access.next_entry::<Name<'de>, &'de RawValue>()? {
            members.push((name, value));
        }
        Ok(members)
    }
}

/// A member's name, borrowed where it is written without escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Result<Vec<(String, String)>, JsonError> {
        let members = object(text.as_bytes())?;
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
    fn h11_repeated_members_are_refused_at_every_depth_also_when_escaped() {
        for text in [
            r#"{"jwt":"a","jwt":"b"}"#,
            r#"{"jwt":"a","x":1,"\u006awt":"b"}"#,
            r#"{"x":{"a":1,"\u0061":2}}"#,
            r#"{"x":[{"b":1},{"a":1,"b":2,"a":3}]}"#,
        ] {
            assert_eq!(pairs(text), Err(JsonError::DuplicateMember), "{text}");
        }
        let apart = r#"{"a":{"a":[{"a":1},{"a":1}]},"b":{"a":1}}"#;
        assert_eq!(pairs(apart).unwrap().len(), 2);
    }

    #[test]
    fn arrays_split_into_their_elements() {
        let members = object(b"{\"a\":[1,\"x\",[2]]}").unwrap();
        let elements = array(members[0].1).unwrap();
        let elements: Vec<_> = elements.iter().map(|element| element.get()).collect();
        assert_eq!(elements, ["1", "\"x\"", "[2]"]);
        assert!(array(elements_of("{}")).is_none());
    }

    fn elements_of(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }
}
