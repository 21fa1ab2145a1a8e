//! Conventions that every answer keeps so that no client breaks (contract 1.8, 1.10, 6.10). They are checked for each answer that any test
//! gets.

use serde_json::Value;

use crate::session::Reply;

/// Asserts what holds for every answer to a request for `target`.
#[track_caller]
pub fn check(target: &str, reply: &Reply) {
    let what = &reply.label;
    assert!(
        reply.status < 500,
        "{what}: {} {}",
        reply.status,
        reply.body
    );
    check_rate_limit(reply);
    if reply.status == 204 {
        assert_eq!(reply.body, "", "{what}");
        assert_eq!(reply.header("content-type"), None, "{what}");
        return;
    }
    let is_plain_json = target.starts_with("/api/v2/organization/audit-trail")
        || target == "/api/v2/openapi.json" && reply.status == 200;
    if !target.starts_with("/api/v2/") || is_plain_json {
        return;
    }
    assert_eq!(
        reply.header("content-type"),
        Some("application/vnd.api+json"),
        "{what}"
    );
    let document: Value = serde_json::from_str(&reply.body)
        .unwrap_or_else(|error| panic!("{what}: {error}: {}", reply.body));
    if reply.status >= 400 {
        check_errors(reply, &document);
    } else {
        check_resources(what, &document);
    }
}

/// The Go client throttles itself by the limit, and ends its process if the reset is not a number.
fn check_rate_limit(reply: &Reply) {
    let what = &reply.label;
    if let Some(limit) = reply.header("x-ratelimit-limit") {
        assert!(limit.parse::<u64>().is_ok(), "{what}: {limit}");
    }
    if let Some(reset) = reply.header("x-ratelimit-reset") {
        assert!(reset.parse::<f64>().is_ok(), "{what}: {reset}");
    }
}

/// A status that is a number makes the whole body unreadable for the Go clients.
fn check_errors(reply: &Reply, document: &Value) {
    let what = &reply.label;
    let errors = document["errors"].as_array();
    let errors = errors.unwrap_or_else(|| panic!("{what}: {document}"));
    assert!(!errors.is_empty(), "{what}");
    for error in errors {
        assert_eq!(error["status"], reply.status.to_string(), "{what}: {error}");
        assert!(error["title"].is_string(), "{what}: {error}");
        for member in error.as_object().unwrap().keys() {
            let known = ["status", "title", "detail", "source"];
            assert!(known.contains(&member.as_str()), "{what}: {error}");
        }
    }
}

/// Every object with a type has an id of text, and all points of time have one form.
fn check_resources(what: &str, value: &Value) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| check_resources(what, value)),
        Value::Object(members) => {
            if members.contains_key("type") && members.contains_key("id") {
                assert!(members["id"].is_string(), "{what}: {value}");
            }
            for (name, value) in members {
                if name.ends_with("-at") || name.ends_with("_at") {
                    check_time(what, name, value);
                }
                check_resources(what, value);
            }
        }
        _ => {}
    }
}

/// The Go client parses the literal `Z`, and compares fractions.
fn check_time(what: &str, name: &str, value: &Value) {
    const FORM: &str = "dddd-dd-ddTdd:dd:dd.dddZ";
    let Value::String(text) = value else {
        assert!(value.is_null(), "{what}: {name} is {value}");
        return;
    };
    let form: String = text
        .chars()
        .map(|character| {
            if character.is_ascii_digit() {
                'd'
            } else {
                character
            }
        })
        .collect();
    assert_eq!(form, FORM, "{what}: {name} is {text}");
}
