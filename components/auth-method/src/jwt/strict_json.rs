//! JSON without room for two readings: unique names at every level, bounded depth and size (SEC-J6, J7).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// How deep objects and arrays may nest.
const MAXIMUM_DEPTH: u32 = 16;
/// How many members and elements one text may have.
const MAXIMUM_ENTRIES: u32 = 10_000;

/// A JSON value. Members keep their order; their names are unique.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Json>),
    Object(Members),
}

impl Json {
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The members of an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Members(Vec<(String, Json)>);

impl Members {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0
            .iter()
            .find(|(candidate, _)| candidate == name)
            .map(|(_, value)| value)
    }

    fn has_duplicate(&self) -> bool {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair.first() == pair.last())
    }
}

/// Why a text was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonFlaw {
    NotObject,
    TooComplex,
}

/// Reads exactly one object in UTF-8.
pub(super) fn read_object(bytes: &[u8]) -> Result<Members, JsonFlaw> {
    let mut budget = Budget {
        entries: MAXIMUM_ENTRIES,
        exhausted: false,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = Value {
        budget: &mut budget,
        depth: MAXIMUM_DEPTH,
    };
    let read = seed.deserialize(&mut deserializer);
    match (read, deserializer.end()) {
        (Ok(Json::Object(members)), Ok(())) => Ok(members),
        _ if budget.exhausted => Err(JsonFlaw::TooComplex),
        _ => Err(JsonFlaw::NotObject),
    }
}

struct Budget {
    entries: u32,
    exhausted: bool,
}

impl Budget {
    fn spend<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.entries = self.entries.checked_sub(1).ok_or_else(|| self.exhaust())?;
        Ok(())
    }

    fn exhaust<E: serde::de::Error>(&mut self) -> E {
        self.exhausted = true;
        E::custom("too complex")
    }
}

struct Value<'a> {
    budget: &'a mut Budget,
    depth: u32,
}

impl Value<'_> {
    fn deeper<E: serde::de::Error>(&mut self) -> Result<u32, E> {
        self.depth
            .checked_sub(1)
            .ok_or_else(|| self.budget.exhaust())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Json, E> {
        Number::from_f64(number)
            .map(Json::Number)
            .ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Json, A::Error> {
        let depth = self.deeper()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(Value {
            budget: self.budget,
            depth,
        })? {
            self.budget.spend()?;
            array.push(element);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Json, A::Error> {
        let depth = self.deeper()?;
        let mut object = Members::default();
        while let Some(name) = members.next_key::<String>()? {
            self.budget.spend()?;
            let value = members.next_value_seed(Value {
                budget: self.budget,
                depth,
            })?;
            object.0.push((name, value));
        }
        if object.has_duplicate() {
            return Err(A::Error::custom("a member name stands twice"));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j6_one_object_with_unique_names_is_read() {
        let members = read_object(br#"{"a":1,"b":{"a":[true,null,"x",1.5]}}"#).unwrap();
        assert_eq!(members.get("a"), Some(&Json::Number(1.into())));
        assert_eq!(members.get("c"), None);
    }

    #[test]
    fn j6_everything_with_two_readings_is_refused() {
        let refused: [&[u8]; 12] = [
            br#"{"a":1,"a":1}"#,
            br#"{"x":{"a":1,"b":2,"a":3}}"#,
            br#"{"x":[{"a":1,"\u0061":3}]}"#,
            br#"{"a":1} {}"#,
            br#"{"a":1}x"#,
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xff\"}",
            br#"{"a":"\ud800"}"#,
            br#"{"a":1e400}"#,
            br#"{"a":NaN}"#,
            b"[]",
            b"",
        ];
        for text in refused {
            assert_eq!(read_object(text), Err(JsonFlaw::NotObject), "{text:?}");
        }
    }

    #[test]
    fn j7_depth_is_bounded() {
        let nested = |depth: usize| {
            let open = "[".repeat(depth - 1);
            let close = "]".repeat(depth - 1);
            format!("{{\"a\":{open}{close}}}")
        };
        assert!(read_object(nested(16).as_bytes()).is_ok());
        for depth in [17, 100, 5000] {
            assert_eq!(
                read_object(nested(depth).as_bytes()),
                Err(JsonFlaw::TooComplex)
            );
        }
    }

    #[test]
    fn j7_the_number_of_members_and_elements_is_bounded() {
        let array = |length: usize| format!("{{\"a\":[{}]}}", vec!["1"; length].join(","));
        assert!(read_object(array(9_999).as_bytes()).is_ok());
        assert_eq!(
            read_object(array(10_000).as_bytes()),
            Err(JsonFlaw::TooComplex)
        );
    }
}
