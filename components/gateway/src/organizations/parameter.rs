//! Parameters of queries.

use std::borrow::Cow;

use super::document_type::Kind;
use crate::query;

/// A parameter that a route reads from its query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
}

/// The parameter with the text to search for, in most lists.
pub(super) const Q: Parameter = Parameter::text("q", "A part of the name, in any case.");

impl Parameter {
    pub(super) const fn text(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Text,
            about,
        }
    }

    /// Several texts, separated by commas or repeated.
    pub(super) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Texts,
            about,
        }
    }

    /// One of these words.
    pub(super) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self {
            name,
            kind: Kind::Choice(words),
            about,
        }
    }

    /// The first value in a query.
    pub(super) fn first(self, query: &str) -> Option<Cow<'_, str>> {
        query::first(query, self.name)
    }

    /// The items of the list in a query, without empty ones.
    pub(super) fn items<'q>(self, query: &'q str) -> impl Iterator<Item = String> + use<'q> {
        query::list(query, self.name).filter(|item| !item.is_empty())
    }
}
