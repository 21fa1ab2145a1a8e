//! Tables of attributes. One row defines the description of an attribute, how a request sets it, and the value that is shown.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::document_type::Property;
use crate::json_writer::{NULL, WriteJson};

/// An attribute, and its value in a resource of type `R`.
pub(super) struct AttributeRow<R> {
    pub(super) property: Property,
    /// `None` for an attribute that is not shown, or not from the resource alone.
    pub(super) shown: Option<fn(&R) -> AttributeValue<'_>>,
}

/// The value of an attribute.
pub(super) enum AttributeValue<'a> {
    Null,
    Boolean(bool),
    Integer(u64),
    Text(Cow<'a, str>),
}

/// The attributes of a resource, as a table of rows shows them.
pub(super) struct ShownAttributes<'a, R: 'static> {
    pub(super) rows: &'static [AttributeRow<R>],
    pub(super) resource: &'a R,
}

/// Writes the table of a resource, and the function `changes`, which reads a request for it. A row has the kind, the name and the meaning, then
/// further properties; in brackets, for attributes that requests may set, the member of the changes and the function that reads it; and last the
/// value that is shown.
macro_rules! attribute_table {
    ($rows:ident: $resource:ident, $changes:ident; $(
        $kind:ident($name:literal, $about:expr) $(.$column:ident($($value:expr)?))*
        $([$change:ident $reader:ident])?
        => |$it:ident| $shown:expr;
    )*) => {
        const $rows: &[crate::organizations::attribute_table::AttributeRow<$resource>] = &[$(
            crate::organizations::attribute_table::AttributeRow {
                property: $kind($name, $about)$(.$column($($value)?))*,
                shown: Some(|$it| crate::organizations::attribute_table::AttributeValue::from($shown)),
            },
        )*];

        fn changes(attributes: &crate::organizations::input::Members<'_>) -> $changes {
            $changes {
                $($($change: attributes.$reader($name),)?)*
            }
        }
    };
}
pub(super) use attribute_table;

impl<R> Serialize for ShownAttributes<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter();
        let shown = rows.filter_map(|row| Some((row.property.name, row.shown?(self.resource))));
        serializer.collect_map(shown)
    }
}

impl Serialize for AttributeValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_u64(*value),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl WriteJson for AttributeValue<'_> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(NULL),
            Self::Boolean(value) => value.write_json(out),
            Self::Integer(value) => value.write_json(out),
            Self::Text(text) => text.as_ref().write_json(out),
        }
    }
}

impl From<bool> for AttributeValue<'_> {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<u32> for AttributeValue<'_> {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u64> for AttributeValue<'_> {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl<'a> From<&'a str> for AttributeValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for AttributeValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a, T: Into<AttributeValue<'a>>> From<Option<T>> for AttributeValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}
