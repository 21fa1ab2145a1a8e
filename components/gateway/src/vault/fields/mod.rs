//! The fields of a request and their types (contract 1.4).
//!
//! A command line sends every value as text, a browser as a form, a library as typed JSON. All three mean the same. A field that is `null` counts as
//! not sent (contract 1.3, rule 6).

mod conversion;
mod input;
mod of_write;
mod parameters;
mod verbatim;

pub(crate) use conversion::{ConversionError, parse_boolean};
pub(crate) use input::ContentError;
pub(crate) use of_write::fields_of_write;
pub(crate) use parameters::parameters;
pub(crate) use verbatim::Verbatim;

use std::borrow::Cow;

use conversion::Shape;

use super::text;
use crate::http::Request;
use gatehouse_json::Members;

/// The maximum length of a field's name in an answer, in bytes.
const SHOWN_NAME_BYTES: usize = 128;

/// The named values of one request, before their conversion.
pub(crate) struct Fields<'a> {
    values: Vec<(Cow<'a, str>, Shape<'a>)>,
    /// The names that have an effect.
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a request's body: a JSON object or a form.
    ///
    /// # Errors
    ///
    /// When the body is neither, or exceeds a limit.
    pub(crate) fn of_body(request: &'a Request) -> Result<Self, ContentError> {
        Ok(Self::unexpected(input::body(request)?))
    }

    /// The fields of a request's query, except for the two that select the operation.
    ///
    /// # Errors
    ///
    /// When there are more fields than a body may have.
    pub(crate) fn of_query(request: &'a Request) -> Result<Self, ContentError> {
        let mut fields = input::query(request)?;
        fields.retain(|(name, _)| !input::is_directive(name));
        Ok(Self::unexpected(fields))
    }

    fn of_members(members: Members<'a>) -> Self {
        Self::unexpected(input::shapes(members))
    }

    const fn unexpected(values: Vec<(Cow<'a, str>, Shape<'a>)>) -> Self {
        Self {
            values,
            known: Vec::new(),
        }
    }

    /// The same, with the names of the fields that have an effect.
    pub(crate) fn expecting(self, known: Vec<&'static str>) -> Self {
        Self { known, ..self }
    }

    /// The names that were sent and have no effect, sorted, each cut to 128 bytes.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let mut unknown: Vec<String> = self
            .values
            .iter()
            .filter(|(name, _)| !self.known.contains(&name.as_ref()))
            .map(|(name, _)| text::excerpt(name, SHOWN_NAME_BYTES).to_owned())
            .collect();
        unknown.sort_unstable();
        unknown
    }

    /// The warning about fields without effect, if there are any (contract 1.9).
    pub(crate) fn ignored_warning(&self) -> Option<String> {
        let unknown = self.unknown();
        (!unknown.is_empty()).then(|| {
            format!(
                "Endpoint ignored these unrecognized parameters: {}",
                text::bare(&unknown)
            )
        })
    }

    /// The warning about a field that the path also gives (contract 1.9).
    pub(crate) fn replaced_warning(&self, name: &str) -> Option<String> {
        self.has(name).then(|| {
            format!(
                "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [{name}]"
            )
        })
    }

    /// True if a field was sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.shape(name).is_some()
    }

    fn shape(&self, name: &str) -> Option<&Shape<'a>> {
        let (_, shape) = self.values.iter().find(|(found, _)| found == name)?;
        Some(shape)
    }

    fn converted<T>(
        &self,
        name: &'static str,
        convert: impl FnOnce(&Shape<'a>) -> Result<T, conversion::ValueError>,
    ) -> Result<Option<T>, ConversionError> {
        let converted = self.shape(name).map(convert).transpose();
        converted.map_err(|reason| ConversionError {
            field: name,
            reason,
        })
    }

    /// A text.
    pub(crate) fn string(&self, name: &'static str) -> Result<Option<String>, ConversionError> {
        self.converted(name, Shape::string)
    }

    /// A truth value.
    pub(crate) fn boolean(&self, name: &'static str) -> Result<Option<bool>, ConversionError> {
        self.converted(name, Shape::boolean)
    }

    /// An integer.
    pub(crate) fn integer(&self, name: &'static str) -> Result<Option<i64>, ConversionError> {
        self.converted(name, Shape::integer)
    }

    /// Whole seconds, not negative.
    pub(crate) fn duration(&self, name: &'static str) -> Result<Option<u64>, ConversionError> {
        self.converted(name, Shape::duration)
    }

    /// Whole seconds, for fields that refuse negative values with a text of their own.
    pub(crate) fn signed_duration(
        &self,
        name: &'static str,
    ) -> Result<Option<i64>, ConversionError> {
        self.converted(name, Shape::signed_duration)
    }

    /// A list; a single text is split at its commas. Elements are trimmed.
    pub(crate) fn list(&self, name: &'static str) -> Result<Option<Vec<String>>, ConversionError> {
        self.converted(name, Shape::list)
    }

    /// A list whose emptiness means "any" or "no limit". It may be empty, but must not hold only blanks (SEC-A4).
    pub(crate) fn bounding_list(
        &self,
        name: &'static str,
    ) -> Result<Option<Vec<String>>, ConversionError> {
        self.converted(name, Shape::bounding_list)
    }

    /// One element of such a list.
    pub(crate) fn bound(&self, name: &'static str) -> Result<Option<String>, ConversionError> {
        self.converted(name, Shape::bound)
    }

    /// A list in which a single text is one element, including its commas.
    pub(crate) fn unsplit_list(
        &self,
        name: &'static str,
    ) -> Result<Option<Vec<String>>, ConversionError> {
        self.converted(name, Shape::unsplit_list)
    }

    /// A list of `key:value` texts, or an object with the same content.
    pub(crate) fn labels(
        &self,
        name: &'static str,
    ) -> Result<Option<Vec<String>>, ConversionError> {
        self.converted(name, Shape::labels)
    }

    /// Texts by name, sorted by name, without those that are `null`.
    pub(crate) fn map(
        &self,
        name: &'static str,
    ) -> Result<Option<Vec<(String, String)>>, ConversionError> {
        let texts = self.converted(name, Shape::map)?;
        Ok(texts.map(|texts| texts.into_iter().collect()))
    }

    /// The fields of an object within the body.
    pub(crate) fn object(&self, name: &'static str) -> Result<Option<Self>, ConversionError> {
        let members = self.converted(name, Shape::members)?;
        Ok(members.map(Self::of_members))
    }
}

#[cfg(test)]
mod tests;
