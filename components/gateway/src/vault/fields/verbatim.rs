//! A body that is handed on and not looked into.

use serde::{Serialize, Serializer};

use super::input::{self, BodyError, Content};
use crate::http::Request;
use gatehouse_json::Duplicates;

/// The values of a body exactly as they were sent, every digit of a number and every `null` included. It serializes as an
/// object; where a name is given twice, the last value counts.
pub(crate) struct Verbatim<'a>(Content<'a>);

impl<'a> Verbatim<'a> {
    /// The values of a request's body: a JSON object or a form.
    ///
    /// # Errors
    ///
    /// When the body is neither, or exceeds a limit.
    pub(crate) fn of_body(request: &'a Request) -> Result<Self, BodyError> {
        input::content(request, Duplicates::LastWins).map(Self)
    }
}

impl Verbatim<'_> {
    /// The names of the values.
    pub(crate) fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.0 {
            Content::Members(members) => Box::new(members.iter().map(|(name, _)| name.as_ref())),
            Content::Form(pairs) => Box::new(pairs.iter().map(|(name, _)| name.as_ref())),
        }
    }
}

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Content::Members(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
            Content::Form(pairs) => {
                serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}
