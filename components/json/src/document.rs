//! A whole JSON document as a tree, in which no member's name has a meaning of its own.
//!
//! A [`Value`] must not be read of a foreign text by serde_json itself: an object whose first member is called
//! `$serde_json::private::RawValue` would stand there for what the text in that member is parsed to, beyond all limits.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{JsonError, check_to_depth};

const DUPLICATE: &str = "duplicate member";

/// Reads a document within the limits and `maximum_depth` levels of nesting; an object that names a member twice is refused.
///
/// # Errors
///
/// [`JsonError`] says what is wrong with the text.
pub fn document(body: &[u8], maximum_depth: usize) -> Result<Value, JsonError> {
    let text = check_to_depth(body, maximum_depth)?;
    match serde_json::from_str::<Tree<true>>(text) {
        Ok(Tree(value)) => Ok(value),
        // The marker is ours alone: serde_json's own messages do not start with it.
        Err(error) if error.is_data() && error.to_string().starts_with(DUPLICATE) => {
            Err(JsonError::DuplicateMember)
        }
        Err(_) => Err(JsonError::Malformed),
    }
}

/// A value of any text that [`check_to_depth`] or its writer has bounded. Of a member that is given twice the last one counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain(pub Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Tree(value) = Tree::<false>::deserialize(deserializer)?;
        Ok(Self(value))
    }
}

/// A value, whose members must be `UNIQUE` or else may be repeated.
struct Tree<const UNIQUE: bool>(Value);

impl<'de, const UNIQUE: bool> Deserialize<'de> for Tree<UNIQUE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(TreeVisitor::<UNIQUE>)
            .map(Self)
    }
}

struct TreeVisitor<const UNIQUE: bool>;

impl<'de, const UNIQUE: bool> Visitor<'de> for TreeVisitor<UNIQUE> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Tree::<UNIQUE>(element)) = access.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Tree::<UNIQUE>(value))) = access.next_entry::<String, _>()? {
            if members.insert(name, value).is_some() && UNIQUE {
                return Err(A::Error::custom(DUPLICATE));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &[u8]) -> Result<Value, JsonError> {
        document(text, 16)
    }

    #[test]
    fn a_document_reads_as_serde_json_reads_it() {
        let text = r#"{"a":[1,-2,1.5,true,null,"x\n"],"b":{"c":{}}}"#;
        let expected = json!({"a": [1, -2, 1.5, true, null, "x\n"], "b": {"c": {}}});
        assert_eq!(read(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn h11_duplicates_are_refused_at_every_level() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"x":{"a":1,"\u0061":2}}]"#,
            r#"{"x":{"a":1,"b":2,"a":3}}"#,
        ] {
            assert_eq!(read(text.as_bytes()), Err(JsonError::DuplicateMember));
        }
    }

    #[test]
    fn h11_of_repeated_members_the_last_counts_in_a_plain_value() {
        let Plain(value) =
            serde_json::from_str(r#"{"a":{"b":1,"\u0062":2},"a":{"c":[1]}}"#).unwrap();
        assert_eq!(value, json!({"a": {"c": [1]}}));
        let Plain(value) = serde_json::from_str(r#"[{"b":1,"\u0062":2.5}]"#).unwrap();
        assert_eq!(value, json!([{"b": 2.5}]));
        assert!(serde_json::from_str::<Plain>("{} {}").is_err());
    }

    #[test]
    fn h11_no_name_makes_a_text_be_parsed_again() {
        let long = format!("[{}]", vec!["1"; 20_000].join(","));
        let inner = ["[1]", "{\"a\":1,\"a\":2}", &"[".repeat(100), &long];
        for inner in inner {
            for name in ["RawValue", "Number"] {
                let name = format!("$serde_json::private::{name}");
                let object = Map::from_iter([(name, inner.into())]);
                let expected = json!({"x": [object]});
                let text = expected.to_string();
                assert_eq!(read(text.as_bytes()).as_ref(), Ok(&expected));
                let Plain(plain) = serde_json::from_str(&text).unwrap();
                assert_eq!(plain, expected);
            }
        }
    }

    #[test]
    fn j6_everything_with_two_readings_is_refused() {
        let malformed: [&[u8]; 13] = [
            br#"{"a":1} {}"#,
            br#"{"a":1}x"#,
            b"\xef\xbb\xbf{}",
            br#"{"a":"\ud800"}"#,
            br#"{"a":1e400}"#,
            br#"{"a":NaN}"#,
            b"",
            b"{",
            b"{\"duplicate member\"",
            b"[1,]",
            b"1 2",
            b"1e999",
            b"{\"a\":01}",
        ];
        for text in malformed {
            assert_eq!(read(text), Err(JsonError::Malformed), "{text:?}");
        }
        assert_eq!(read(b"{\"a\":\"\xff\"}"), Err(JsonError::NotUtf8));
    }

    #[test]
    fn j7_depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(16).as_bytes()).is_ok());
        for depth in [17, 100, 5000] {
            let refused = read(nested(depth).as_bytes());
            assert_eq!(refused, Err(JsonError::TooDeep(16)));
        }
    }

    #[test]
    fn j7_the_number_of_members_and_elements_is_bounded() {
        let array = |length: usize| format!("{{\"a\":[{}]}}", vec!["1"; length].join(","));
        assert!(read(array(9_999).as_bytes()).is_ok());
        let refused = read(array(10_000).as_bytes());
        assert_eq!(refused, Err(JsonError::TooManyMembers));
    }
}
