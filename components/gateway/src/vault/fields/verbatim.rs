//! A body that is passed on unread.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::input::{self, Content, ContentError};
use crate::http::Request;

/// The values of a body exactly as they were sent, including every digit of a number and every `null`. It serializes as an object. If a name is given
/// twice, the last value counts.
pub(crate) struct Verbatim<'a> {
    content: Content<'a>,
    set_aside: Option<(&'static str, Vec<String>)>,
}

impl<'a> Verbatim<'a> {
    /// The values of a request's body: a JSON object or a form.
    ///
    /// # Errors
    ///
    /// When the body is neither, or exceeds a limit.
    pub(crate) fn of_body(request: &'a Request) -> Result<Self, ContentError> {
        let content = input::content(request)?;
        Ok(Self {
            content,
            set_aside: None,
        })
    }
}

impl Verbatim<'_> {
    /// Moves the values whose names are not to be kept, with their names, into a list of texts under the name `elsewhere`.
    pub(crate) fn set_aside(&mut self, elsewhere: &'static str, is_kept: impl Fn(&str) -> bool) {
        let mut texts = Vec::new();
        match &mut self.content {
            Content::Members(members) => members.retain(|(name, value)| {
                let kept = is_kept(name);
                if !kept {
                    texts.push(format!("{name}={}", value.get()));
                }
                kept
            }),
            Content::Form(pairs) => pairs.retain(|(name, value)| {
                let kept = is_kept(name);
                if !kept {
                    texts.push(format!("{name}={value}"));
                }
                kept
            }),
        }
        self.set_aside = (!texts.is_empty()).then_some((elsewhere, texts));
    }

    /// True if there are no values apart from those set aside.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Members(members) => members.is_empty(),
            Content::Form(pairs) => pairs.is_empty(),
        }
    }
}

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.content {
            Content::Members(members) => {
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
            }
            Content::Form(pairs) => {
                for (name, value) in pairs {
                    map.serialize_entry(name, value)?;
                }
            }
        }
        if let Some((name, texts)) = &self.set_aside {
            map.serialize_entry(name, texts)?;
        }
        map.end()
    }
}
