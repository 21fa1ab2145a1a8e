//! A whole JSON document as a tree, every member given at most once.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{JsonError, check};

const DUPLICATE: &str = "duplicate member";

/// Reads a document within the limits; an object that names a member twice is refused.
///
/// # Errors
///
/// [`JsonError`] says what is wrong with the text.
pub fn document(body: &[u8]) -> Result<Value, JsonError> {
    let text = check(body)?;
    match serde_json::from_str::<Unique>(text) {
        Ok(Unique(value)) => Ok(value),
        // The marker is ours alone: serde_json's own messages do not start with it.
        Err(error) if error.is_data() && error.to_string().starts_with(DUPLICATE) => {
            Err(JsonError::DuplicateMember)
        }
        Err(_) => Err(JsonError::Malformed),
    }
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
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
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Unique(element)) = access.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Unique(value))) = access.next_entry::<String, Unique>()? {
            if members.insert(name, value).is_some() {
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

    #[test]
    fn a_document_reads_as_serde_json_reads_it() {
        let text = r#"{"a":[1,-2,1.5,true,null,"x\n"],"b":{"c":{}}}"#;
        let expected = json!({"a": [1, -2, 1.5, true, null, "x\n"], "b": {"c": {}}});
        assert_eq!(document(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn h11_duplicates_are_refused_at_every_level() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"\u0061":2}}]"#] {
            assert_eq!(document(text.as_bytes()), Err(JsonError::DuplicateMember));
        }
    }

    #[test]
    fn malformed_documents_are_refused() {
        for text in ["", "{", "{\"duplicate member\"", "[1,]", "1 2", "1e999"] {
            assert_eq!(
                document(text.as_bytes()),
                Err(JsonError::Malformed),
                "{text}"
            );
        }
    }
}
