//! The conversion of a value to the type of its field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gatehouse_access_api::duration::{self, DurationError, Quoted};
use serde::Deserialize;
use serde_json::value::RawValue;

use gatehouse_json::{self as json, Members};

/// A value by its outer form. The content of an array or object is read when a field asks for it.
pub(super) enum Shape<'a> {
    Null,
    Boolean(bool),
    /// The digits as written.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(&'a RawValue),
    Object(&'a RawValue),
    /// A JSON text with an unpaired surrogate.
    BrokenText,
}

/// The value of a field does not have the type of the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Field validation failed: error converting input for field \"{field}\": {reason}")]
pub(crate) struct ConversionError {
    /// The field.
    pub(crate) field: &'static str,
    /// The reason.
    pub(crate) reason: ValueError,
}

/// The reason why a value cannot be converted. The value is repeated only if it is short and the type is not text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("expected {expected}, got {found}")]
    Kind {
        expected: &'static str,
        found: &'static str,
    },
    #[error("text contains an escape that is no character")]
    BrokenText,
    #[error("cannot parse as bool: strconv.ParseBool: parsing{}: invalid syntax", Quoted(.0))]
    Boolean(String),
    #[error("cannot parse as int: strconv.ParseInt: parsing{}: invalid syntax", Quoted(.0))]
    Integer(String),
    #[error("cannot parse as int: strconv.ParseInt: parsing{}: value out of range", Quoted(.0))]
    IntegerRange(String),
    #[error("could not parse duration from input")]
    NotDuration,
    #[error(transparent)]
    Duration(#[from] DurationError),
    #[error("cannot provide negative value '{0}'")]
    Negative(i64),
    #[error("invalid key pair{}", Quoted(.0))]
    Pair(String),
    #[error("the list holds only blanks; name what it is to hold, or send [] for none")]
    OnlyBlanks,
}

#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

fn require_bound(elements: &[String]) -> Result<(), ValueError> {
    let blank = |element: &String| element.trim().is_empty();
    match elements {
        [] => Ok(()),
        elements if elements.iter().all(blank) => Err(ValueError::OnlyBlanks),
        _ => Ok(()),
    }
}

impl<'a> Shape<'a> {
    pub(super) fn from_raw(value: &'a RawValue) -> Self {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'"') => match serde_json::from_str::<Borrowed<'a>>(text) {
                Ok(Borrowed(text)) => Self::Text(text),
                Err(_) => Self::BrokenText,
            },
            Some(b'[') => Self::Array(value),
            Some(b'{') => Self::Object(value),
            Some(b't') => Self::Boolean(true),
            Some(b'f') => Self::Boolean(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(text),
        }
    }

    fn refused(&self, expected: &'static str) -> ValueError {
        let found = match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
            Self::BrokenText => return ValueError::BrokenText,
        };
        ValueError::Kind { expected, found }
    }

    pub(super) fn string(&self) -> Result<String, ValueError> {
        match self {
            Self::Text(text) => Ok(text.clone().into_owned()),
            Self::Number(digits) => Ok((*digits).to_owned()),
            Self::Boolean(truth) => Ok(if *truth { "1" } else { "0" }.to_owned()),
            other => Err(other.refused("a string")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, ValueError> {
        match self {
            Self::Boolean(truth) => Ok(*truth),
            Self::Number(digits) => Ok(digits.parse::<f64>().is_ok_and(|number| number != 0.0)),
            Self::Text(text) if text.is_empty() => Ok(false),
            Self::Text(text) => {
                parse_boolean(text).ok_or_else(|| ValueError::Boolean(text.clone().into_owned()))
            }
            other => Err(other.refused("a boolean")),
        }
    }

    pub(super) fn integer(&self) -> Result<i64, ValueError> {
        match self {
            Self::Boolean(truth) => Ok(i64::from(*truth)),
            Self::Number(digits) => {
                truncated(digits).ok_or_else(|| ValueError::IntegerRange((*digits).to_owned()))
            }
            Self::Text(text) if text.is_empty() => Ok(0),
            Self::Text(text) => parse_integer(text),
            other => Err(other.refused("an integer")),
        }
    }

    pub(super) fn signed_duration(&self) -> Result<i64, ValueError> {
        match self {
            Self::Number(digits) => {
                let seconds = truncated(digits).map(|seconds| seconds.to_string());
                Ok(duration::parse(
                    &seconds.unwrap_or_else(|| (*digits).to_owned()),
                )?)
            }
            Self::Text(text) => Ok(duration::parse(text)?),
            Self::BrokenText => Err(ValueError::BrokenText),
            _ => Err(ValueError::NotDuration),
        }
    }

    pub(super) fn duration(&self) -> Result<u64, ValueError> {
        let seconds = self.signed_duration()?;
        u64::try_from(seconds).map_err(|_| ValueError::Negative(seconds))
    }

    pub(super) fn list(&self) -> Result<Vec<String>, ValueError> {
        match self {
            Self::Text(text) if text.is_empty() => Ok(Vec::new()),
            // A text of blanks is one blank element: it was sent, so a rule that reads an empty list as "all" must not get one.
            Self::Text(text) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
            other => other.unsplit_list(),
        }
    }

    /// A list whose emptiness means "any" or "no limit". A list with only blanks is refused, since it would not limit what it was meant to limit.
    pub(super) fn bounding_list(&self) -> Result<Vec<String>, ValueError> {
        let elements = self.list()?;
        require_bound(&elements)?;
        Ok(elements)
    }

    /// One element of such a list; an empty text is no element.
    pub(super) fn bound(&self) -> Result<String, ValueError> {
        let element = self.string()?;
        if !element.is_empty() {
            require_bound(std::slice::from_ref(&element))?;
        }
        Ok(element)
    }

    pub(super) fn unsplit_list(&self) -> Result<Vec<String>, ValueError> {
        match self {
            Self::Array(array) => {
                let elements = json::array(array).unwrap_or_default();
                let element = |element| Shape::from_raw(element).element();
                elements.into_iter().map(element).collect()
            }
            Self::Text(text) => Ok(vec![text.trim().to_owned()]),
            Self::Number(digits) => Ok(vec![(*digits).to_owned()]),
            other => Err(other.refused("a list")),
        }
    }

    pub(super) fn labels(&self) -> Result<Vec<String>, ValueError> {
        match self {
            Self::Object(_) => {
                let pairs = self.texts()?.into_iter();
                // Dropping a label with a null value would bind the role to fewer labels than its operator means.
                let label = |(key, value): (String, Option<String>)| {
                    format!("{key}:{}", value.unwrap_or_default())
                };
                Ok(pairs.map(label).collect())
            }
            other => other.list(),
        }
    }

    fn element(&self) -> Result<String, ValueError> {
        match self {
            Self::Text(text) => Ok(text.trim().to_owned()),
            Self::Number(_) | Self::Boolean(_) => self.string(),
            other => Err(other.refused("a list of strings")),
        }
    }

    pub(super) fn map(&self) -> Result<BTreeMap<String, String>, ValueError> {
        match self {
            Self::Object(_) => {
                let texts = self.texts()?.into_iter();
                Ok(texts
                    .filter_map(|(name, text)| Some((name, text?)))
                    .collect())
            }
            Self::Array(_) => self.unsplit_list()?.iter().map(|text| pair(text)).collect(),
            Self::Text(text) => pair(text).map(|pair| BTreeMap::from([pair])),
            other => Err(other.refused("an object of strings")),
        }
    }

    /// The members of an object as texts, with `None` for `null`.
    fn texts(&self) -> Result<BTreeMap<String, Option<String>>, ValueError> {
        let text = |value| match Shape::from_raw(value) {
            Shape::Null => Ok(None),
            shape => shape.string().map(Some),
        };
        self.members()?
            .into_iter()
            .map(|(name, value)| Ok((name.into_owned(), text(value)?)))
            .collect()
    }

    pub(super) fn members(&self) -> Result<Members<'a>, ValueError> {
        match self {
            // It is part of a body that has been parsed, so it parses again.
            Self::Object(object) => Ok(json::object(object.get().as_bytes()).unwrap_or_default()),
            other => Err(other.refused("an object")),
        }
    }
}

fn pair(text: &str) -> Result<(String, String), ValueError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(ValueError::Pair(text.to_owned())),
    }
}

/// The spellings of truth values that query strings and text fields share.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// A JSON number without its fraction; `None` beyond 64 bits.
fn truncated(digits: &str) -> Option<i64> {
    if let Ok(integer) = digits.parse() {
        return Some(integer);
    }
    let number: f64 = digits.parse().ok()?;
    // Beyond 2^63, the cast would return the largest value.
    let fits = number.abs() < 9_223_372_036_854_775_808.0;
    #[allow(clippy::cast_possible_truncation)]
    fits.then_some(number as i64)
}

/// An integer in base 10, or in the base of its prefix `0x`, `0o`, `0b` or `0`.
fn parse_integer(text: &str) -> Result<i64, ValueError> {
    let (sign, magnitude) = match text.as_bytes() {
        [b'-', ..] => ("-", text.get(1..).unwrap_or_default()),
        [b'+', ..] => ("", text.get(1..).unwrap_or_default()),
        _ => ("", text),
    };
    let lower = magnitude.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, lower.get(2..)),
        [b'0', b'o', ..] => (8, lower.get(2..)),
        [b'0', b'b', ..] => (2, lower.get(2..)),
        [b'0', _, ..] => (8, lower.get(1..)),
        _ => (10, Some(lower.as_str())),
    };
    let digits = digits.unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(ValueError::Integer(text.to_owned()));
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix)
        .map_err(|_| ValueError::IntegerRange(text.to_owned()))
}
