//! Reading what Google answers as what it must be, and as nothing else (SEC-G6).

use std::fmt;
use std::marker::PhantomData;

use gatehouse_json::{MAXIMUM_DEPTH, document};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};

/// A structure that is written as an object. A list of the values of its fields, which derived code would take too, is refused.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

/// The answer is not what was asked for. Its parser's words may hold part of it, so they are not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an answer of another kind")]
pub(super) struct AnswerError;

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(ObjectVisitor(PhantomData))
            .map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(access))
    }
}

/// The object that `body` is. Members that no reader wants are not looked at, so it may be of any size.
pub(super) fn object_in<T: DeserializeOwned>(body: &[u8]) -> Result<T, AnswerError> {
    let text = std::str::from_utf8(body).map_err(|_| AnswerError)?;
    let Object(answer) = serde_json::from_str(text).map_err(|_| AnswerError)?;
    Ok(answer)
}

/// The same for an answer that says who a caller is: all of it must be within the limits of a request's document and have one reading.
pub(super) fn identity_in<T: DeserializeOwned>(body: &[u8]) -> Result<T, AnswerError> {
    let answer = document(body, MAXIMUM_DEPTH).map_err(|_| AnswerError)?;
    let Object(answer) = serde_json::from_value(answer).map_err(|_| AnswerError)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, serde::Deserialize)]
    struct Two {
        a: String,
        #[serde(default)]
        b: Option<Box<Inner>>,
    }

    #[derive(Debug, PartialEq, Eq, serde::Deserialize)]
    struct Inner {
        c: u8,
    }

    fn both(body: &[u8]) -> [Result<Two, AnswerError>; 2] {
        [object_in(body), identity_in(body)]
    }

    #[test]
    fn g6_an_answer_is_an_object_with_one_reading() {
        for read in both(br#" {"a":"x","b":{"c":1},"z":[{}]} "#) {
            let two = read.unwrap();
            assert_eq!((two.a.as_str(), two.b.unwrap().c), ("x", 1));
        }
        for body in [
            &br#"["x",{"c":1}]"#[..],
            br#"["x"]"#,
            br#"{"a":"x","a":"y"}"#,
            br#"{"a":"x"} {}"#,
            br#"{"a":"x""#,
            b"{\"a\":\"x\",\"z\":\"\xff\"}",
            b"<html>",
            b"null",
            b"",
        ] {
            assert_eq!(both(body), [Err(AnswerError), Err(AnswerError)], "{body:?}");
        }
    }

    #[test]
    fn g6_an_answer_about_an_identity_is_read_whole() {
        let deep = format!(r#"{{"a":"x","z":{}{}}}"#, "[".repeat(60), "]".repeat(60));
        let broken = r#"{"a":"x","z":"\ud800"}"#;
        let twice = r#"{"a":"x","z":1,"z":2}"#;
        for body in [deep.as_str(), broken, twice] {
            assert_eq!(identity_in::<Two>(body.as_bytes()), Err(AnswerError));
        }
    }
}
