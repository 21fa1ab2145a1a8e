//! The forms that values of settings have, for descriptions of the settings: a reference for people, a schema for editors.

use std::fmt;

use serde_json::{Value, json};

/// The form of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// True or false.
    Boolean,
    /// A text that is not empty.
    Text,
    /// A path of this machine.
    Path,
    /// An address with a port.
    Address,
    /// An address, or a network of them.
    Network,
    /// An absolute URL.
    Url,
    /// A host that may be called.
    Host,
    /// A time longer than zero: a text with units, or a number of seconds.
    Time,
    /// A time as above; 0 means never.
    Interval,
    /// A whole number above zero.
    Count,
    /// A number of bytes above zero, or a text with units.
    Size,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any number of values of this form.
    List(&'static Self),
    /// A value of this form, or the word `none`.
    OrNone(&'static Self),
}

impl SettingKind {
    /// The JSON Schema (draft 7) of a value in the configuration file.
    #[must_use]
    pub fn schema(self) -> Value {
        match self {
            Self::Boolean => json!({"type": "boolean"}),
            Self::Text | Self::Path | Self::Address | Self::Network | Self::Host => {
                json!({"type": "string", "minLength": 1})
            }
            Self::Url => json!({"type": "string", "format": "uri"}),
            Self::Time | Self::Size => json!({"type": ["string", "integer"], "minimum": 1}),
            Self::Interval => json!({"type": ["string", "integer"], "minimum": 0}),
            Self::Count => json!({"type": "integer", "minimum": 1}),
            Self::Choice(words) => json!({"enum": words}),
            Self::List(items) => json!({"anyOf": [
                {"type": "array", "items": items.schema()},
                {"type": "string", "description": "The values between commas."},
            ]}),
            Self::OrNone(value) => json!({"anyOf": [{"const": "none"}, value.schema()]}),
        }
    }
}

impl fmt::Display for SettingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Boolean => "true or false",
            Self::Text => "text",
            Self::Path => "path",
            Self::Address => "address with a port",
            Self::Network => "address or network",
            Self::Url => "URL",
            Self::Host => "host",
            Self::Time => "time (\"90s\", \"1m 30s\", or seconds)",
            Self::Interval => "time (\"90s\", \"1m 30s\", or seconds), or 0 for never",
            Self::Count => "number above zero",
            Self::Size => "size (\"1 MiB\", \"16 KiB\", or bytes)",
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                return write!(formatter, "one of {}", words.join(", "));
            }
            Self::List(items) => return write!(formatter, "list, each: {items}"),
            Self::OrNone(value) => return write!(formatter, "{value}, or \"none\""),
        })
    }
}
