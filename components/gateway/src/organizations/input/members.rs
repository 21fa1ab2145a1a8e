//! Attributes and relationships by name, in whichever spelling a client uses (contract 1.10).

use std::borrow::Cow;
use std::collections::HashMap;

use gatehouse_orgs_api::Attribute;
use serde_json::{Map, Value};

use crate::organizations::timestamp;

/// The members of an object under their dashed names. `session-timeout`, `session_timeout` and `sessionTimeout` are the same name; if several are
/// present, the dashed one counts.
#[derive(Debug, Default)]
pub(in crate::organizations) struct Members<'a>(HashMap<Cow<'a, str>, &'a Value>);

impl<'a> Members<'a> {
    /// The members of an object; empty where the value is absent or null; `None` for any other value.
    pub(in crate::organizations) fn from_object(value: Option<&'a Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(Self::default()),
            Some(Value::Object(object)) => Some(Self::dashed(object)),
            Some(_) => None,
        }
    }

    fn dashed(object: &'a Map<String, Value>) -> Self {
        let mut members = HashMap::with_capacity(object.len());
        for (name, value) in object {
            let dashed = dashed(name);
            if dashed == *name || !members.contains_key(&dashed) {
                members.insert(dashed, value);
            }
        }
        Self(members)
    }

    /// The members by their dashed names, in no order.
    pub(in crate::organizations) fn iter(&self) -> impl Iterator<Item = (&str, &'a Value)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The value of the member with this dashed name, as sent.
    pub(in crate::organizations) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).copied()
    }

    /// The attribute with this dashed name, converted by `convert`, which returns `None` for a value of the wrong type.
    pub(in crate::organizations) fn read<T>(
        &self,
        name: &str,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Attribute<T> {
        match self.get(name) {
            None => Attribute::Absent,
            Some(Value::Null) => Attribute::Null,
            Some(value) => convert(value).map_or(Attribute::WrongType, Attribute::Value),
        }
    }

    /// A text.
    pub(in crate::organizations) fn text(&self, name: &str) -> Attribute<String> {
        self.read(name, |value| value.as_str().map(str::to_owned))
    }

    /// A list of texts.
    pub(in crate::organizations) fn texts(&self, name: &str) -> Attribute<Vec<String>> {
        self.list(name, |value| value.as_str().map(str::to_owned))
    }

    /// A number without fraction, as a signed 64-bit integer.
    pub(in crate::organizations) fn integer(&self, name: &str) -> Attribute<i64> {
        self.read(name, Value::as_i64)
    }

    /// A point in time, sent as text, in milliseconds since 1970.
    pub(in crate::organizations) fn timestamp(&self, name: &str) -> Attribute<i64> {
        self.read(name, |value| timestamp::parsed(value.as_str()?))
    }

    /// A timeout as text, under its name or under the older name for it.
    pub(in crate::organizations) fn timeout(&self, name: &str) -> Attribute<String> {
        match self.text(name) {
            Attribute::Absent => self.text(&format!("terraform-build-worker-{name}")),
            given => given,
        }
    }

    /// True or false.
    pub(in crate::organizations) fn boolean(&self, name: &str) -> Attribute<bool> {
        self.read(name, Value::as_bool)
    }

    /// An object, whose members have dashed names too.
    pub(in crate::organizations) fn object(&self, name: &str) -> Attribute<Members<'a>> {
        self.read(name, as_object)
    }

    /// A list of objects.
    pub(in crate::organizations) fn objects(&self, name: &str) -> Attribute<Vec<Members<'a>>> {
        self.list(name, as_object)
    }

    /// A list of which `convert` accepts every element.
    fn list<T>(
        &self,
        name: &str,
        convert: impl FnMut(&'a Value) -> Option<T>,
    ) -> Attribute<Vec<T>> {
        self.read(name, |value| {
            value.as_array()?.iter().map(convert).collect()
        })
    }

    /// The id in the relationship of this name to one resource: `{"data": {"id": "..."}}`, or `{"data": null}` for none.
    pub(in crate::organizations) fn to_one(&self, name: &str) -> Attribute<String> {
        self.related(name, identified)
    }

    /// The ids in the relationship of this name to many resources, in their order: `{"data": [{"id": "..."}]}`.
    pub(in crate::organizations) fn to_many(&self, name: &str) -> Attribute<Vec<String>> {
        self.related(name, |data| {
            data.as_array()?.iter().map(identified).collect()
        })
    }

    /// A relationship that is itself null has the wrong type, while an attribute may be null.
    fn related<T>(&self, name: &str, convert: impl FnOnce(&'a Value) -> Option<T>) -> Attribute<T> {
        match self.get(name).map(|relationship| relationship.get("data")) {
            None => Attribute::Absent,
            Some(Some(Value::Null)) => Attribute::Null,
            Some(data) => data
                .and_then(convert)
                .map_or(Attribute::WrongType, Attribute::Value),
        }
    }
}

fn as_object(value: &Value) -> Option<Members<'_>> {
    value.as_object().map(Members::dashed)
}

/// The id of a resource identifier.
fn identified(identifier: &Value) -> Option<String> {
    let id = identifier.get("id").and_then(Value::as_str);
    id.map(str::to_owned)
}

/// `session_timeout` and `sessionTimeout` as `session-timeout`.
pub(in crate::organizations) fn dashed(name: &str) -> Cow<'_, str> {
    if !name.contains(|character: char| character == '_' || character.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut dashed = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        match character {
            '_' => dashed.push('-'),
            'A'..='Z' => {
                dashed.push('-');
                dashed.push(character.to_ascii_lowercase());
            }
            _ => dashed.push(character),
        }
    }
    Cow::Owned(dashed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::organizations::input::{Input, Kinds};

    /// Reads attributes that are written as JSON text.
    fn with_attributes<T>(text: &str, read: impl FnOnce(&Members<'_>) -> T) -> T {
        let input = Input::read(format!(r#"{{"data":{{"attributes":{text}}}}}"#).as_bytes());
        read(&input.unwrap().resource(Kinds::Any).unwrap().attributes)
    }

    #[test]
    fn contract_1_10_all_spellings_of_a_name_are_the_same() {
        for (dashed, spellings) in [
            (
                "session-timeout",
                ["session-timeout", "session_timeout", "sessionTimeout"],
            ),
            (
                "delete-older-than-n-days",
                [
                    "delete-older-than-n-days",
                    "delete_older_than_n_days",
                    "deleteOlderThanNDays",
                ],
            ),
        ] {
            for spelling in spellings {
                let found = with_attributes(&format!(r#"{{"{spelling}":60}}"#), |members| {
                    assert_eq!(members.iter().next().unwrap().0, dashed);
                    members.integer(dashed)
                });
                assert_eq!(found, Attribute::Value(60), "{spelling}");
            }
        }
    }

    #[test]
    fn contract_1_10_of_several_spellings_the_dashed_one_wins() {
        for other in ["session_timeout", "sessionTimeout", "session-timeout"] {
            let text = format!(r#"{{"{other}":1,"session-timeout":2,"{other}":3}}"#);
            let expected = if other == "session-timeout" { 3 } else { 2 };
            let found = with_attributes(&text, |members| members.integer("session-timeout"));
            assert_eq!(found, Attribute::Value(expected), "{other}");
        }
    }

    #[test]
    fn contract_2_2_types_are_strict_and_null_is_told_apart() {
        let text = r#"{"text":"a","null":null,"integer":-7,"fraction":1.5,"great":18446744073709551615,
            "true":true,"texts":["a","b"],"mixed":["a",1],"object":{"tokenType":"x"},"objects":[{"a_b":1},{}]}"#;
        with_attributes(text, |members| {
            assert_eq!(members.text("text"), Attribute::Value("a".to_owned()));
            assert_eq!(members.integer("integer"), Attribute::Value(-7));
            assert_eq!(members.boolean("true"), Attribute::Value(true));
            let texts = ["a", "b"].map(str::to_owned).to_vec();
            assert_eq!(members.texts("texts"), Attribute::Value(texts));
            for wrong in ["integer", "true", "texts", "object"] {
                assert_eq!(members.text(wrong), Attribute::WrongType, "{wrong}");
            }
            for wrong in ["text", "fraction", "great", "true"] {
                assert_eq!(members.integer(wrong), Attribute::WrongType, "{wrong}");
            }
            for wrong in ["text", "integer"] {
                assert_eq!(members.boolean(wrong), Attribute::WrongType, "{wrong}");
            }
            for wrong in ["text", "mixed", "objects"] {
                assert_eq!(members.texts(wrong), Attribute::WrongType, "{wrong}");
            }
            assert_eq!(members.text("null"), Attribute::Null);
            assert_eq!(members.texts("null"), Attribute::Null);
            assert_eq!(members.boolean("none"), Attribute::Absent);
            let Attribute::Value(object) = members.object("object") else {
                panic!("no object");
            };
            assert_eq!(object.text("token-type"), Attribute::Value("x".to_owned()));
            let Attribute::Value(objects) = members.objects("objects") else {
                panic!("no objects");
            };
            assert_eq!(objects.len(), 2);
            assert_eq!(objects[0].integer("a-b"), Attribute::Value(1));
            assert!(matches!(members.objects("mixed"), Attribute::WrongType));
            assert!(matches!(members.object("texts"), Attribute::WrongType));
        });
    }

    #[test]
    fn contract_2_2_relationships_name_resources_by_their_ids() {
        let relationships = json!({
            "default_agent_pool": {"data": {"id": "apool-1", "type": "agent-pools"}},
            "nothing": {"data": null},
            "teams": {"data": [{"id": "team-2"}, {"id": "team-1"}]},
            "null": null, "empty": {}, "text": {"data": "x"}, "number": {"data": [{"id": 1}]},
        });
        let document = json!({"data": {"relationships": relationships}});
        let input = Input::read(document.to_string().as_bytes()).unwrap();
        let found = input.resource(Kinds::Any).unwrap().relationships;
        let pool = Attribute::Value("apool-1".to_owned());
        assert_eq!(found.to_one("default-agent-pool"), pool);
        let teams = ["team-2", "team-1"].map(str::to_owned).to_vec();
        assert_eq!(found.to_many("teams"), Attribute::Value(teams));
        assert_eq!(found.to_one("nothing"), Attribute::Null);
        assert_eq!(found.to_many("nothing"), Attribute::Null);
        assert_eq!(found.to_one("absent"), Attribute::Absent);
        for wrong in ["null", "empty", "text", "number", "teams"] {
            assert_eq!(found.to_one(wrong), Attribute::WrongType, "{wrong}");
        }
        for wrong in ["null", "empty", "text", "number", "default-agent-pool"] {
            assert_eq!(found.to_many(wrong), Attribute::WrongType, "{wrong}");
        }
    }
}
