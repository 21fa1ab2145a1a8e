//! Comparison of the wanted values with those that a server shows, which are seldom spelled the same.
//!
//! A server keeps "1h" as 3600, `"b,a"` as `["a", "b"]`, and leaves out what is empty. This module infers the common form from the shown
//! value; the name of a field matters only where the field is shown otherwise than it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gatehouse_ports::networks;
use jiff::SignedDuration;
use serde_json::Value;

use super::Fields;

/// A field whose value is not the wanted one.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) field: String,
    /// `None` where the server shows none.
    pub(super) present: Option<Value>,
    pub(super) wanted: Value,
}

/// The wanted fields whose shown values differ.
pub(super) fn differences(wanted: &Fields, present: &Fields) -> Vec<Difference> {
    let differing = wanted.iter().filter_map(|(field, wanted)| {
        let present = shown_value(field, present);
        (!is_same(field, wanted, present)).then(|| Difference {
            field: field.clone(),
            present: present.cloned(),
            wanted: wanted.clone(),
        })
    });
    differing.collect()
}

/// Older names of fields that begin with `token_` now.
pub(super) const RENAMED: [&str; 6] = [
    "bound_cidrs",
    "explicit_max_ttl",
    "max_ttl",
    "period",
    "policies",
    "ttl",
];

/// The value that answers to a field: that of its name, or of the name that took its place.
fn shown_value<'a>(field: &str, present: &'a Fields) -> Option<&'a Value> {
    let renamed = match field {
        "project_id" => "bound_projects".to_owned(),
        "service_accounts" => "bound_service_accounts".to_owned(),
        "bound_zone" | "bound_region" | "bound_instance_group" => format!("{field}s"),
        _ if RENAMED.contains(&field) => format!("token_{field}"),
        _ => return present.get(field),
    };
    present.get(field).or_else(|| present.get(&renamed))
}

/// The metadata that the word `default` stands for, by field.
const USUAL_METADATA: [(&str, &[&str]); 2] = [
    (
        "iam_metadata",
        &[
            "project_id",
            "role",
            "service_account_email",
            "service_account_id",
        ],
    ),
    (
        "gce_metadata",
        &[
            "instance_creation_timestamp",
            "instance_id",
            "instance_name",
            "project_id",
            "project_number",
            "role",
            "service_account_email",
            "service_account_id",
            "zone",
        ],
    ),
];

/// The values that the server shows for fields that were written as nothing.
const SHOWN_DEFAULTS: [(&str, &str); 4] = [
    ("gce_alias", "role_id"),
    ("iam_alias", "role_id"),
    ("identity_token_ttl", "3600"),
    ("max_jwt_exp", "900"),
];

/// The value that is shown for a field that was written as nothing; `None` where none is.
fn shown_default(field: &str) -> Option<&'static str> {
    let mut defaults = SHOWN_DEFAULTS.iter();
    defaults.find_map(|(name, shown)| (*name == field).then_some(*shown))
}

/// Tells whether the server would show `present` after it was sent `wanted`.
fn is_same(field: &str, wanted: &Value, present: Option<&Value>) -> bool {
    match present {
        None | Some(Value::Null) => is_default(field, wanted),
        Some(present) if present == wanted => true,
        Some(Value::Bool(present)) => flag(wanted) == Some(*present),
        Some(Value::Number(present)) => {
            let present = present.as_f64();
            let written = number(field, wanted);
            let is_nothing = written == Some(0.0);
            present.is_some()
                && (written == present
                    || is_nothing && present == shown_default(field).and_then(|it| it.parse().ok()))
        }
        Some(Value::String(present)) => is_same_text(field, wanted, present),
        Some(Value::Array(present)) => {
            let present: Option<Vec<String>> = present.iter().map(scalar).collect();
            match (present, texts(wanted)) {
                (Some(present), Some(wanted)) => {
                    is_same_set(field, &set(field, wanted), &set(field, present))
                }
                _ => false,
            }
        }
        Some(Value::Object(present)) => {
            let shown: Option<BTreeMap<String, String>> = present
                .iter()
                .map(|(key, value)| Some((key.clone(), scalar(value)?)))
                .collect();
            let written = pairs(wanted).filter(|_| shown.is_some());
            match (shown, written) {
                // A write sets the keys that it names, and an empty value removes its key.
                (Some(shown), Some(written)) if field == "custom_endpoint" => {
                    let shown = |key| shown.get(key).map(String::as_str).unwrap_or_default();
                    written
                        .iter()
                        .all(|(key, value)| value.trim() == shown(key))
                }
                (Some(mut shown), Some(mut written)) => {
                    shown.retain(|_, value| !value.is_empty());
                    written.retain(|_, value| !value.is_empty());
                    shown == written
                }
                _ => false,
            }
        }
    }
}

/// True if a server need not show a field of this value.
fn is_default(field: &str, wanted: &Value) -> bool {
    match (field, wanted) {
        // Live checks are on by default, and the server shows the field only when they are off.
        ("live_checks", _) => flag(wanted) == Some(true),
        (_, Value::Null | Value::Bool(false)) => true,
        (_, Value::Bool(true)) => false,
        (_, Value::Number(wanted)) => wanted.as_f64() == Some(0.0),
        (_, Value::String(text)) => {
            text.is_empty() || text == "false" || number(field, wanted) == Some(0.0)
        }
        (_, Value::Array(items)) => items.is_empty(),
        (_, Value::Object(members)) => members.values().all(|value| value == ""),
    }
}

fn is_same_text(field: &str, wanted: &Value, present: &str) -> bool {
    let Some(wanted) = scalar(wanted) else {
        return wanted.is_null() && present.is_empty();
    };
    match field {
        // The space around a policy means nothing, and files end in a line break.
        "policy" => wanted.trim() == present.trim(),
        // Roles know no other default than that of their mount.
        "token_type" => {
            let plain = |text: &str| text.trim_start_matches("default-").to_owned();
            wanted == present
                || (wanted.is_empty() && present.starts_with("default"))
                || plain(&wanted) == plain(present)
        }
        _ => wanted == present || wanted.is_empty() && shown_default(field) == Some(present),
    }
}

fn is_same_set(field: &str, wanted: &BTreeSet<String>, present: &BTreeSet<String>) -> bool {
    if wanted == present {
        return true;
    }
    if FIELDS_THAT_ADD.contains(&field) {
        return wanted.is_subset(present);
    }
    let usual = USUAL_METADATA.iter().find(|(name, _)| *name == field);
    usual.is_some_and(|(_, usual)| {
        let is_usual = |set: &BTreeSet<String>| set.iter().eq(usual.iter());
        let says_default = |set: &BTreeSet<String>| set.len() == 1 && set.contains("default");
        (says_default(wanted) && is_usual(present)) || (is_usual(wanted) && says_default(present))
    })
}

/// Fields whose elements are added to those that are there.
const FIELDS_THAT_ADD: [&str; 3] = ["bound_instance_group", "bound_region", "bound_zone"];

/// Fields of names of resources, which may be written as links to them.
const FIELDS_OF_RESOURCES: [&str; 3] = ["bound_instance_groups", "bound_regions", "bound_zones"];

/// The elements of a list, which has no order and no empty elements, as servers keep those of this field.
fn set(field: &str, texts: Vec<String>) -> BTreeSet<String> {
    let kept = texts.into_iter().map(|text| {
        let text = text.trim();
        if field.ends_with("policies") || field.ends_with("_metadata") {
            text.to_lowercase()
        } else if field.ends_with("cidrs") {
            networks::normalized(text).unwrap_or_else(|| text.to_lowercase())
        } else if FIELDS_OF_RESOURCES.contains(&field) || FIELDS_THAT_ADD.contains(&field) {
            resource_name(text).to_owned()
        } else {
            text.to_owned()
        }
    });
    kept.filter(|text| !text.is_empty()).collect()
}

/// The last part of a link.
fn resource_name(link: &str) -> &str {
    match link.trim_end_matches('/').rsplit('/').next() {
        None | Some("") => link,
        Some(name) => name,
    }
}

/// The elements of a list: itself, or text with commas between them.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(scalar).collect(),
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(text.split(',').map(str::to_owned).collect()),
        other => Some(vec![scalar(other)?]),
    }
}

/// The members of a map: itself, or a list of `key:value` or `key=value`.
fn pairs(value: &Value) -> Option<BTreeMap<String, String>> {
    if let Value::Object(members) = value {
        let member = |(key, value): (&String, &Value)| Some((key.clone(), scalar(value)?));
        return members.iter().map(member).collect();
    }
    let pairs = texts(value)?
        .into_iter()
        .filter(|pair| !pair.trim().is_empty());
    let pair = |pair: String| {
        let (key, value) = pair.split_once(['=', ':'])?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    pairs.map(pair).collect()
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Null => Some(false),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Some(true),
            "false" | "f" | "0" | "" => Some(false),
            _ => None,
        },
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number, or the seconds of a duration.
fn number(field: &str, value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Null => Some(0.0),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) => match text.trim() {
            "" => Some(0.0),
            // The word by which a mount gives up a lease of its own.
            "system" if field.ends_with("lease_ttl") => Some(0.0),
            text => text.parse().ok().or_else(|| seconds(text)),
        },
    }
}

/// The seconds of a duration such as `1h30m` or `2d`.
fn seconds(text: &str) -> Option<f64> {
    let duration: SignedDuration = match text.strip_suffix('d') {
        Some(days) => {
            let hours = days.parse::<i64>().ok()?.checked_mul(24)?;
            SignedDuration::try_from_hours(hours)?
        }
        None => text.parse().ok()?,
    };
    Some(Duration::try_from(duration).ok()?.as_secs_f64())
}

/// A value that is no list and no map, as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn same(field: &str, wanted: Value, present: Value) -> bool {
        is_same(field, &wanted, Some(&present))
    }

    #[test]
    fn durations_are_numbers_of_seconds() {
        for wanted in [
            json!("1h"),
            json!(3600),
            json!("3600"),
            json!("60m"),
            json!("3600s"),
        ] {
            assert!(same("token_ttl", wanted.clone(), json!(3600)), "{wanted}");
        }
        assert!(same("token_max_ttl", json!("2d"), json!(172_800)));
        assert!(same("default_lease_ttl", json!("system"), json!(0)));
        assert!(same("token_ttl", json!(""), json!(0)));
        assert!(!same("token_ttl", json!("system"), json!(0)));
        assert!(!same("token_ttl", json!("1h"), json!(3601)));
        assert!(!same("token_ttl", json!("soon"), json!(0)));
        assert!(!same("token_ttl", json!("-1h"), json!(3600)));
    }

    #[test]
    fn lists_have_no_order_and_may_be_text_with_commas() {
        assert!(same("bound_zones", json!("b, a"), json!(["a", "b"])));
        assert!(same(
            "bound_zones",
            json!(["b", "a", "a"]),
            json!(["a", "b"])
        ));
        assert!(same("token_policies", json!(["Ops"]), json!(["ops"])));
        assert!(same(
            "token_bound_cidrs",
            json!(["10.0.0.1/32", "::1/128"]),
            json!(["10.0.0.1", "::1"])
        ));
        assert!(same("bound_zones", json!(""), json!([])));
        assert!(!same("bound_zones", json!(["A"]), json!(["a"])));
        assert!(!same("bound_zones", json!(["a"]), json!(["a", "b"])));
        assert!(!same("bound_zones", json!([["a"]]), json!(["a"])));
    }

    #[test]
    fn maps_may_be_lists_of_pairs() {
        let shown = json!({"env": "prod", "team": "a"});
        assert!(same(
            "bound_labels",
            json!(["team:a", "env:prod"]),
            shown.clone()
        ));
        assert!(same(
            "bound_labels",
            json!("env:prod,team:a"),
            shown.clone()
        ));
        assert!(same(
            "metadata",
            json!({"env": "prod", "team": "a"}),
            shown.clone()
        ));
        assert!(same(
            "metadata",
            json!(["env=prod", "team=a"]),
            shown.clone()
        ));
        assert!(same(
            "metadata",
            json!({"n": 1, "empty": ""}),
            json!({"n": "1"})
        ));
        assert!(!same("metadata", json!({"env": "prod"}), shown.clone()));
        assert!(!same("bound_labels", json!(["team"]), shown));
    }

    #[test]
    fn what_is_not_shown_has_its_default() {
        for wanted in [
            json!(null),
            json!(""),
            json!(0),
            json!("0s"),
            json!(false),
            json!([]),
            json!({}),
        ] {
            assert!(is_same("refuse_replay", &wanted, None), "{wanted}");
        }
        for wanted in [
            json!(true),
            json!(1),
            json!("x"),
            json!(["x"]),
            json!({"a": "b"}),
        ] {
            assert!(!is_same("refuse_replay", &wanted, None), "{wanted}");
        }
        assert!(is_same("live_checks", &json!(true), None));
        assert!(!is_same("live_checks", &json!(false), None));
        assert!(is_same("metadata", &json!({}), Some(&Value::Null)));
    }

    #[test]
    fn flags_and_numbers_may_be_texts() {
        assert!(same("orphan", json!("true"), json!(true)));
        assert!(same("orphan", json!(0), json!(false)));
        assert!(!same("orphan", json!("yes"), json!(true)));
        assert!(same("token_num_uses", json!("5"), json!(5)));
        assert!(same("description", json!(5), json!("5")));
        assert!(!same("description", json!("1h"), json!("60m")));
    }

    #[test]
    fn some_fields_are_shown_otherwise_than_written() {
        assert!(same(
            "policy",
            json!("path \"a\" {}\n"),
            json!("path \"a\" {}")
        ));
        assert!(same(
            "token_type",
            json!("default-service"),
            json!("service")
        ));
        assert!(same("token_type", json!(""), json!("default")));
        assert!(!same("token_type", json!("batch"), json!("service")));
        let usual = json!([
            "role",
            "project_id",
            "service_account_id",
            "service_account_email"
        ]);
        assert!(same("iam_metadata", json!("default"), usual));
        assert!(!same("iam_metadata", json!("default"), json!(["role"])));
        let shown = Fields::from_iter([
            ("bound_projects".to_owned(), json!(["p"])),
            ("token_policies".to_owned(), json!(["a"])),
            ("bound_zones".to_owned(), json!(["z"])),
        ]);
        let old = Fields::from_iter([
            ("project_id".to_owned(), json!("p")),
            ("policies".to_owned(), json!("a")),
            ("bound_zone".to_owned(), json!("z")),
        ]);
        assert_eq!(differences(&old, &shown), []);
    }

    #[test]
    fn what_is_written_as_nothing_is_shown_as_its_default() {
        assert!(same("iam_alias", json!(""), json!("role_id")));
        assert!(same("gce_alias", json!(""), json!("role_id")));
        assert!(!same("iam_alias", json!(""), json!("unique_id")));
        assert!(same("identity_token_ttl", json!(0), json!(3600)));
        assert!(same("identity_token_ttl", json!("0s"), json!(3600)));
        assert!(!same("identity_token_ttl", json!(0), json!(900)));
        assert!(same("max_jwt_exp", json!(0), json!(900)));
        assert!(!same("token_ttl", json!(0), json!(900)));
    }

    #[test]
    fn of_endpoints_only_those_that_are_named_are_compared() {
        let shown = json!({"api": "https://a.example", "iam": "https://i.example"});
        let same = |wanted| same("custom_endpoint", wanted, shown.clone());
        assert!(same(json!({"api": " https://a.example"})));
        assert!(same(json!({"iam": "https://i.example", "crm": ""})));
        assert!(same(json!({})));
        assert!(!same(json!({"api": ""})));
        assert!(!same(json!({"crm": "https://c.example"})));
        assert!(is_same("custom_endpoint", &json!({"api": ""}), None));
        assert!(!is_same(
            "custom_endpoint",
            &json!({"api": "https://a.example"}),
            None
        ));
    }

    #[test]
    fn links_and_networks_have_one_form() {
        let zone = "https://www.googleapis.com/compute/v1/projects/p/zones/europe-west1-b/";
        assert!(same(
            "bound_zones",
            json!([zone]),
            json!(["europe-west1-b"])
        ));
        assert!(!same("bound_zones", json!(["zones/b"]), json!(["c"])));
        assert!(!same("bound_zones", json!(["b"]), json!(["b", "c"])));
        assert!(same("bound_zone", json!("zones/b"), json!(["b", "c"])));
        assert!(same(
            "token_bound_cidrs",
            json!(["2001:DB8:0:0::/32", "::ffff:10.0.0.0/104"]),
            json!(["2001:db8::/32", "10.0.0.0/8"])
        ));
    }

    #[test]
    fn only_what_differs_is_told_with_both_values() {
        let wanted = Fields::from_iter([
            ("token_ttl".to_owned(), json!("2h")),
            ("type".to_owned(), json!("iam")),
        ]);
        let shown = Fields::from_iter([
            ("token_ttl".to_owned(), json!(3600)),
            ("type".to_owned(), json!("iam")),
            ("other".to_owned(), json!(1)),
        ]);
        let expected = Difference {
            field: "token_ttl".to_owned(),
            present: Some(json!(3600)),
            wanted: json!("2h"),
        };
        assert_eq!(differences(&wanted, &shown), [expected]);
    }
}
