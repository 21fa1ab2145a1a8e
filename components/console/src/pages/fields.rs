//! The fields of forms that follow a table: how they are shown, and what is sent of them.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::api::ApiError;
use crate::form::Fields;
use crate::layout::{area, input, select, tick};

/// The form of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text on one line.
    Text,
    /// One entry on each line.
    Lines,
    /// `key:value` on each line.
    Labels,
    Seconds,
    Number,
    Flag,
    Choice(&'static [&'static str]),
}

/// An attribute of a resource that a form changes.
pub struct Attribute {
    /// Its name in the API.
    pub name: &'static str,
    pub label: &'static str,
    /// The purpose, as the form tells it.
    pub help: &'static str,
    pub kind: Kind,
}

/// A row of a table of attributes.
pub const fn attribute(
    name: &'static str,
    label: &'static str,
    help: &'static str,
    kind: Kind,
) -> Attribute {
    Attribute {
        name,
        label,
        help,
        kind,
    }
}

/// A field with `value` as the form shows it.
pub fn field(name: &str, label: &str, help: &str, kind: Kind, value: &str) -> Markup {
    match kind {
        Kind::Lines | Kind::Labels => area(name, label, help, value, 2),
        Kind::Text | Kind::Seconds | Kind::Number => input(name, label, help, value),
        Kind::Flag => tick(name, label, help, value == "true"),
        Kind::Choice(options) => select(name, label, help, options, value),
    }
}

/// A value as its field shows it: entries on lines of their own.
pub fn lines(value: Option<&Value>) -> String {
    match value {
        Some(Value::Array(entries)) => {
            let entries: Vec<String> = entries.iter().map(crate::api::shown).collect();
            entries.join("\n")
        }
        Some(Value::Object(labels)) => {
            let labels: Vec<String> = labels
                .iter()
                .map(|(key, value)| format!("{key}:{}", crate::api::shown(value)))
                .collect();
            labels.join("\n")
        }
        Some(value) => crate::api::shown(value),
        None => String::new(),
    }
}

/// The members of an object as a field of pairs shows them: a key and its value on each line.
pub fn pair_lines(value: Option<&Value>) -> String {
    let members = value.and_then(Value::as_object);
    let lines: Vec<String> = members
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", crate::api::shown(value)))
        .collect();
    lines.join("\n")
}

/// The pairs of a text that has one on each line, as `key=value`.
///
/// # Errors
///
/// When a line is not a pair.
pub fn pairs(text: &str) -> Result<Map<String, Value>, ApiError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match line.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().into())),
            None => Err(ApiError {
                status: 400,
                messages: vec!["a line has no = between its key and its value".to_owned()],
            }),
        })
        .collect()
}

/// The fields of the attributes that `resource` has. One that it lacks is not of this edition, and has no field.
pub fn attribute_fields(table: &[Attribute], resource: &Value) -> Markup {
    let of_resource = |row: &&Attribute| resource.get(row.name).is_some();
    html! {
        @for row in table.iter().filter(of_resource) {
            (field(row.name, row.label, row.help, row.kind, &lines(resource.get(row.name))))
        }
    }
}

/// The attributes that a form changes, against `before`: what is left as it is is not sent, so that a change made meanwhile stays.
pub fn changed(table: &[Attribute], form: &Fields, before: &Value) -> Map<String, Value> {
    let mut changes = Map::new();
    for row in table {
        let Some(was) = before.get(row.name) else {
            continue;
        };
        let text = form.text(row.name);
        let is: Value = match row.kind {
            Kind::Flag => form.is_ticked(row.name).into(),
            Kind::Lines | Kind::Labels => form.lines(row.name).into(),
            Kind::Seconds | Kind::Number if text.is_empty() => Value::Null,
            // An invalid number is sent as it is: the API names the mistake.
            Kind::Seconds | Kind::Number => text
                .parse::<u64>()
                .map_or_else(|_| text.into(), Value::from),
            Kind::Text | Kind::Choice(_) => text.into(),
        };
        // What is not set and was not filled in stays so, and of a choice nothing can be taken away.
        let is_left = text.is_empty() && (was.is_null() || matches!(row.kind, Kind::Choice(_)));
        if is != *was && !is_left {
            changes.insert(row.name.to_owned(), is);
        }
    }
    changes
}
