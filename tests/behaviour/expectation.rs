//! Expectations of answers, and how an answer is held against one.

use serde_json::{Map, Value};

/// `value` with what its texts with `$` stand for.
pub fn filled(value: &Value, values: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with('$') => {
            let found = values.pointer(&text.replacen('$', "/", 1).replace('.', "/"));
            found
                .unwrap_or_else(|| panic!("there is no {text}"))
                .clone()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(Map::from_iter(
                members.map(|(name, member)| (name.clone(), filled(member, values))),
            ))
        }
        value => value.clone(),
    }
}

/// Where `found` is not what was expected; `place` says where in the answer it stands.
pub fn difference(found: &Value, expected: &Value, place: &str) -> Option<String> {
    match (found, expected) {
        (Value::Array(items), Value::Object(members)) if members.contains_key("$has") => {
            let wanted = members["$has"].as_array()?;
            let is_there = |wanted: &&Value| {
                items
                    .iter()
                    .any(|item| difference(item, wanted, place).is_none())
            };
            let missing = wanted.iter().find(|wanted| !is_there(wanted))?;
            Some(format!("{place}: {missing} is not in {found}"))
        }
        (Value::Object(members), Value::Object(wanted)) => {
            wanted.iter().find_map(|(name, wanted)| {
                let place = format!("{place}.{name}");
                match members.get(name) {
                    Some(member) => difference(member, wanted, &place),
                    None => Some(format!("{place}: missing in {found}")),
                }
            })
        }
        (Value::Array(items), Value::Array(wanted)) if items.len() == wanted.len() => {
            let pairs = items.iter().zip(wanted).enumerate();
            pairs.into_iter().find_map(|(index, (item, wanted))| {
                difference(item, wanted, &format!("{place}[{index}]"))
            })
        }
        _ if found == expected => None,
        _ => Some(format!("{place}: {expected} was expected, not {found}")),
    }
}

#[test]
fn what_is_not_named_can_be_anything_and_all_else_is_compared() {
    use serde_json::json;

    let found = json!({"name": "acme", "tags": ["a", "b"], "settings": {"email": null}});
    let fits = [
        json!({}),
        json!({"name": "acme"}),
        json!({"settings": {"email": null}}),
        json!({"tags": ["a", "b"]}),
        json!({"tags": {"$has": ["b"]}}),
    ];
    for expected in fits {
        assert_eq!(difference(&found, &expected, "found"), None, "{expected}");
    }
    let differs = [
        json!(null),
        json!([]),
        json!({"name": "Acme"}),
        json!({"other": null}),
        json!({"settings": null}),
        json!({"settings": {"email": ""}}),
        json!({"tags": ["a"]}),
        json!({"tags": ["b", "a"]}),
        json!({"tags": {"$has": ["c"]}}),
    ];
    for expected in differs {
        assert!(
            difference(&found, &expected, "found").is_some(),
            "{expected}"
        );
    }
    let values = json!({"jwt": {"honest": "e30"}});
    let filled = filled(&json!([{"jwt": "$jwt.honest"}, 1]), &values);
    assert_eq!(filled, json!([{"jwt": "e30"}, 1]));
}
