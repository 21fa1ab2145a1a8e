//! A second reader of JSON, to compare with.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Number, Value};

/// A value as serde's own derived code reads it. [`Value`] cannot be asked, for it gives some members' names a meaning of its own.
#[derive(Deserialize)]
#[serde(untagged)]
enum Plain {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Plain>),
    Object(BTreeMap<String, Plain>),
}

/// The value of `text`; `None` when it is not JSON.
pub fn value(text: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Plain>(text).ok().map(Value::from)
}

impl From<Plain> for Value {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Null => Self::Null,
            Plain::Bool(truth) => Self::Bool(truth),
            Plain::Number(number) => Self::Number(number),
            Plain::Text(text) => Self::String(text),
            Plain::List(elements) => elements.into_iter().map(Self::from).collect(),
            Plain::Object(members) => {
                let members = members.into_iter();
                Self::Object(members.map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}
