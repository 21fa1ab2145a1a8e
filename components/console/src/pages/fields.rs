//! The fields of forms that follow a table: how they are shown, and which values are sent.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::api::ApiError;
use crate::form::{Fields, lines as entries};
use crate::layout::{area, input, select, tick};

/// The kind of a field.
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
    /// The help text of the form.
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

/// The hidden field in which a form carries the values that it showed.
const SHOWN: &str = "shown";

/// The texts that a form showed, by the names of its fields. The form carries them, so that only changed fields are sent, and an untouched field
/// keeps a change that another user made meanwhile.
pub struct Shown(Map<String, Value>);

impl Shown {
    /// The texts that a form with fields of these names shows.
    pub fn from_names<'n>(
        names: impl IntoIterator<Item = &'n str>,
        value: &dyn Fn(&str) -> String,
    ) -> Self {
        let texts = names.into_iter();
        Self(
            texts
                .map(|name| (name.to_owned(), value(name).into()))
                .collect(),
        )
    }

    /// The texts that a form shows for the attributes that `resource` has.
    pub fn of_attributes(table: &[Attribute], resource: &Value) -> Self {
        let of_resource = |name: &&str| resource.get(*name).is_some();
        Self::from_names(
            table.iter().map(|row| row.name).filter(of_resource),
            &|name| lines(resource.get(name)),
        )
    }

    /// The texts that a sent form carries. `None` where it carries none.
    pub fn carried(form: &Fields) -> Option<Self> {
        serde_json::from_str(form.raw(SHOWN)).ok().map(Self)
    }

    /// The text of a field; `None` where the form had no such field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The hidden field.
    pub fn field(&self) -> Markup {
        let texts = Value::Object(self.0.clone()).to_string();
        html! { input type="hidden" name=(SHOWN) value=(texts); }
    }
}

/// A field with `value` as the form shows it.
pub fn field(name: &str, label: &str, help: &str, kind: Kind, value: &str) -> Markup {
    match kind {
        Kind::Lines | Kind::Labels if !help.contains("on each line") => {
            area(name, label, &format!("{help} One on each line."), value, 2)
        }
        Kind::Lines | Kind::Labels => area(name, label, help, value, 2),
        Kind::Text | Kind::Seconds | Kind::Number => input(name, label, help, value),
        Kind::Flag => tick(name, label, help, value == "true"),
        Kind::Choice(options) => select(name, label, help, options, value),
    }
}

/// A value as its field shows it: each entry on a line of its own.
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

/// The text that was typed into a field, in the form in which it is shown again.
pub fn filled(form: &Fields, name: &str, kind: Kind) -> String {
    match kind {
        Kind::Flag => form.is_ticked(name).to_string(),
        _ => form.text(name).to_owned(),
    }
}

/// True if a field of pairs can show a member as one line, from which the same member is read back.
fn is_pair(key: &str, value: &Value) -> bool {
    let value = crate::api::shown(value);
    let is_line = |text: &str| text == text.trim() && !text.contains(['\n', '\r']);
    is_line(key) && is_line(&value) && !key.contains('=')
}

/// The keys of the members that a field of pairs leaves out, since no single line can hold them.
pub fn keys_left_out(value: Option<&Value>) -> Vec<String> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members
        .filter(|(key, value)| !is_pair(key, value))
        .map(|(key, _)| key.clone())
        .collect()
}

/// The members of an object as a field of pairs shows them: a key and its value on each line. Members that no single line can hold are left out.
pub fn pair_lines(value: Option<&Value>) -> String {
    let members = value.and_then(Value::as_object);
    let lines: Vec<String> = members
        .into_iter()
        .flatten()
        .filter(|(key, value)| is_pair(key, value))
        .map(|(key, value)| format!("{key}={}", crate::api::shown(value)))
        .collect();
    lines.join("\n")
}

/// The pairs in a text with one `key=value` on each line.
///
/// # Errors
///
/// When a line is not a pair.
pub fn pairs(text: &str) -> Result<Map<String, Value>, ApiError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match line.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().into())),
            None => Err(ApiError::new(
                400,
                "a line has no = between its key and its value",
            )),
        })
        .collect()
}

/// The fields of the attributes that `resource` has, with the typed values where `sent` was refused. An attribute that `resource` lacks does not
/// belong to this edition, and has no field.
pub fn attribute_fields(table: &[Attribute], resource: &Value, sent: Option<&Fields>) -> Markup {
    let shown = sent
        .and_then(Shown::carried)
        .unwrap_or_else(|| Shown::of_attributes(table, resource));
    let value = |row: &Attribute| match sent {
        Some(form) => filled(form, row.name, row.kind),
        None => lines(resource.get(row.name)),
    };
    let of_resource = |row: &&Attribute| resource.get(row.name).is_some();
    html! {
        (shown.field())
        @for row in table.iter().filter(of_resource) {
            (field(row.name, row.label, row.help, row.kind, &value(row)))
        }
    }
}

/// The new value of a field that showed `was`. `None` where it was not changed.
pub fn change(form: &Fields, name: &str, kind: Kind, was: &str) -> Option<Value> {
    let text = form.text(name);
    match kind {
        Kind::Flag => {
            let is = form.is_ticked(name);
            (is != (was == "true")).then(|| is.into())
        }
        Kind::Lines | Kind::Labels => {
            let is = form.lines(name);
            (is != entries(was)).then(|| is.into())
        }
        // A choice cannot be emptied unless it offers an empty option.
        Kind::Choice(options) if text.is_empty() && !options.contains(&"") => None,
        // Browsers remove line breaks from such a field: a difference in line breaks alone is no change.
        Kind::Text if text == was.replace(['\r', '\n'], "").trim() => None,
        _ if text == was.trim() => None,
        Kind::Seconds | Kind::Number if text.is_empty() => Some(Value::Null),
        // An invalid number is sent unchanged: the API reports the mistake.
        Kind::Seconds | Kind::Number => Some(
            text.parse::<u64>()
                .map_or_else(|_| text.into(), Value::from),
        ),
        Kind::Text | Kind::Choice(_) => Some(text.into()),
    }
}

/// The attributes whose fields differ from the texts `shown`. An unchanged attribute is not sent, so that a change made meanwhile stays.
pub fn changed(table: &[Attribute], form: &Fields, shown: &Shown) -> Map<String, Value> {
    let mut changes = Map::new();
    for row in table {
        let Some(was) = shown.text(row.name) else {
            continue;
        };
        let change = change(form, row.name, row.kind, was);
        changes.extend(change.map(|is| (row.name.to_owned(), is)));
    }
    changes
}

/// The same. Where the form does not carry the texts that it showed, the attributes of `resource` take their place.
pub fn changed_attributes(
    table: &[Attribute],
    form: &Fields,
    resource: &Value,
) -> Map<String, Value> {
    let shown = Shown::carried(form).unwrap_or_else(|| Shown::of_attributes(table, resource));
    changed(table, form, &shown)
}
