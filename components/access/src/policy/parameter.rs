//! Values of parameters: those that requests bring, and those that rules list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::document::{Statement, Value, read_json};

/// A parameter's value as rules see it.
///
/// Clients send the same value in several ways: a command line and a form know texts only, where a library sends numbers and
/// booleans, and routes take all of them for the same (contract 1.4). So a rule that names `5` means `"5"` as well, and the
/// other way round: could one be told from the other, every such denial could be walked around.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ParameterValue {
    Null,
    /// A text, a number, or a boolean.
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl ParameterValue {
    /// The value of a JSON text; `None` when it is not JSON, or nests too deep.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        Some(Self::from(read_json(text).ok()?))
    }

    /// True if `given` is what this element of a rule's list means. `*` at either end of a text stands for anything there, but
    /// not within lists and objects, and alone it is a plain character.
    pub(crate) fn admits(&self, given: &Self) -> bool {
        match (self, given) {
            (Self::Text(pattern), Self::Text(given)) => glob(pattern, given),
            (listed, given) => listed == given,
        }
    }
}

fn glob(pattern: &str, given: &str) -> bool {
    let (head, tail) = (pattern.strip_prefix('*'), pattern.strip_suffix('*'));
    match (head, tail) {
        _ if pattern.len() < 2 => given == pattern,
        (Some(head), Some(_)) => {
            let inner = head.strip_suffix('*').unwrap_or_default();
            given.contains(inner)
        }
        (Some(tail), None) => given.ends_with(tail),
        (None, Some(head)) => given.starts_with(head),
        (None, None) => given == pattern,
    }
}

impl From<Value> for ParameterValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Text(text) => Self::Text(text),
            Value::Number(digits) => Self::Text(plain_number(digits)),
            Value::Boolean(truth) => Self::Text(truth.to_string()),
            Value::List(values) => Self::List(values.into_iter().map(Self::from).collect()),
            Value::Statements(statements) => {
                let member = |Statement { key, value, .. }| (key, Self::from(value));
                Self::Object(statements.into_iter().map(member).collect())
            }
        }
    }
}

/// The one spelling of a number: decimal digits for whole numbers, every one of them kept.
pub(super) fn plain_number(written: String) -> String {
    let (sign, digits) = match written.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", written.as_str()),
    };
    let integer = if let Some(digits) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        i128::from_str_radix(digits, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(is_octal) {
        i128::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    };
    match integer {
        Some(0) => return "0".to_owned(),
        Some(integer) => return format!("{sign}{integer}"),
        None => {}
    }
    match written.parse::<f64>() {
        Ok(0.0) => "0".to_owned(),
        // Rust prints a whole number without its fraction, and never with an exponent.
        Ok(number) if digits.bytes().any(|byte| !byte.is_ascii_digit()) => number.to_string(),
        _ => written,
    }
}

const fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(listed: &str, given: &str) -> bool {
        let value = |text| ParameterValue::from_json(text).unwrap();
        value(listed).admits(&value(given))
    }

    #[test]
    fn contract_5_6_globs_stand_at_the_ends_of_texts() {
        for (listed, given, expected) in [
            (r#""a""#, r#""a""#, true),
            (r#""a""#, r#""A""#, false),
            (r#""b*""#, r#""bz""#, true),
            (r#""b*""#, r#""b""#, true),
            (r#""b*""#, r#""ab""#, false),
            (r#""*c""#, r#""zc""#, true),
            (r#""*c""#, r#""cz""#, false),
            (r#""*d*""#, r#""zdz""#, true),
            (r#""*d*""#, r#""z""#, false),
            (r#""a*b""#, r#""axb""#, false),
            (r#""*""#, r#""a""#, false),
            (r#""*""#, r#""*""#, true),
            (r#""**""#, r#""a""#, true),
            (r#""""#, r#""""#, true),
        ] {
            assert_eq!(admits(listed, given), expected, "{listed} {given}");
        }
    }

    #[test]
    fn lists_and_objects_are_compared_as_a_whole_and_without_globs() {
        for (listed, given, expected) in [
            (r#"["l","m"]"#, r#"["l","m"]"#, true),
            (r#"["l","m"]"#, r#"["m","l"]"#, false),
            (r#"["l*"]"#, r#"["lm"]"#, false),
            (r#""l*""#, r#"["lm"]"#, false),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, true),
            ("null", "null", true),
            (r#""""#, "null", false),
        ] {
            assert_eq!(admits(listed, given), expected, "{listed} {given}");
        }
    }

    /// Contract 5.6, D30: the other spelling evades no denial.
    #[test]
    fn a_number_and_its_digits_are_the_same_value() {
        for (listed, given, expected) in [
            ("5", "5", true),
            ("5", r#""5""#, true),
            (r#""5""#, "5.0", true),
            ("5", "5e0", true),
            ("1.5", r#""1.5""#, true),
            ("true", r#""true""#, true),
            ("-0", "0", true),
            ("100000000000000000001", "100000000000000000002", false),
            (
                "100000000000000000000000000000000000000001",
                "100000000000000000000000000000000000000002",
                false,
            ),
        ] {
            assert_eq!(admits(listed, given), expected, "{listed} {given}");
        }
        for (written, plain) in [
            ("0x1F", "31"),
            ("-0x1f", "-31"),
            ("017", "15"),
            ("08", "8"),
            ("1.", "1"),
            (".5", "0.5"),
        ] {
            assert_eq!(plain_number(written.to_owned()), plain);
        }
    }

    #[test]
    fn what_is_no_json_has_no_value() {
        let deep = "[".repeat(100) + &"]".repeat(100);
        for text in ["", "x", "1 2", "\"\\ud800\"", &deep] {
            assert_eq!(ParameterValue::from_json(text), None, "{text}");
        }
    }
}
