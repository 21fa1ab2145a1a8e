//! Filters of organizations: by a text that occurs in them (contract 3.1), and by name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Not};

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use crate::record::OrganizationRecord;
use crate::{Filter, Reach, folded_name};

/// The reasons that keep an organization out of lists that it could be in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barred {
    /// A site administrator has disabled it.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub disabled: bool,
    /// It takes no user's token.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub user_tokens_off: bool,
}

impl Barred {
    pub const fn reasons_of(organization: &OrganizationRecord) -> Self {
        Self {
            disabled: organization.disabled,
            user_tokens_off: !organization.settings.user_tokens_enabled,
        }
    }

    pub fn by_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The organizations that are searched for.
#[derive(Debug)]
pub struct Search {
    pub scope: Scope,
    pub matcher: Matcher,
    /// The reasons that may bar them nevertheless.
    pub despite: Barred,
}

impl Search {
    /// True if it is all there are.
    pub fn is_for_all(&self) -> bool {
        let Barred {
            disabled,
            user_tokens_off,
        } = self.despite;
        self.scope.is_everything() && self.matcher.accepts_all() && disabled && user_tokens_off
    }

    /// True if an organization of that folded name is meant, whatever is looked for in it.
    pub fn covers(&self, name: &str, barred: impl FnOnce() -> Barred) -> bool {
        self.scope.covers(name) && self.shows(barred())
    }

    /// True if that organization, which is stored under this folded name, is meant.
    pub fn accepts(&self, name: &str, organization: &OrganizationRecord) -> bool {
        self.scope.admits(name, &organization.external_id)
            && self.shows(Barred::reasons_of(organization))
            && (self.matcher.accepts_all()
                || self
                    .matcher
                    .accepts(name, &folded_text(&organization.settings.email)))
    }

    const fn shows(&self, barred: Barred) -> bool {
        (self.despite.disabled || !barred.disabled)
            && (self.despite.user_tokens_off || !barred.user_tokens_off)
    }
}

/// A filter, made ready to look at many organizations.
#[derive(Debug)]
pub struct Matcher {
    pub name_or_email: Option<Finder<'static>>,
    pub name: Option<Finder<'static>>,
    pub email: Option<Finder<'static>>,
}

impl Matcher {
    pub fn new(filter: &Filter) -> Self {
        let wanted = |text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            Some(Finder::new(&folded_text(text)).into_owned())
        };
        Self {
            name_or_email: wanted(&filter.name_or_email),
            name: wanted(&filter.name),
            email: wanted(&filter.email),
        }
    }

    pub const fn accepts_all(&self) -> bool {
        self.name_or_email.is_none() && self.name.is_none() && self.email.is_none()
    }

    /// True if an organization of that name and that address is wanted, both folded.
    pub fn accepts(&self, name: &str, email: &str) -> bool {
        let occurs = |wanted: &Option<Finder<'static>>, texts: &[&str]| {
            let found_in = |wanted: &Finder<'_>, text: &str| wanted.find(text.as_bytes()).is_some();
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| texts.iter().any(|text| found_in(wanted, text)))
        };
        occurs(&self.name_or_email, &[name, email])
            && occurs(&self.name, &[name])
            && occurs(&self.email, &[email])
    }
}

/// `text` as searches compare it.
pub fn folded_text(text: &str) -> String {
    text.to_lowercase()
}

/// The names that some names and beginnings of names cover.
#[derive(Debug)]
pub struct Scope {
    /// Each with the external id that its organization must have, if it is that organization that is meant and not its name.
    names: BTreeMap<String, Option<String>>,
    /// None begins with another, so a name begins with one of them at most.
    prefixes: BTreeSet<String>,
}

impl Scope {
    /// The organizations that `reach` names, and those of which the folded name and the external id are known.
    pub fn reached_by(reach: &Reach, known: impl IntoIterator<Item = (String, String)>) -> Self {
        let all: BTreeSet<String> = reach
            .prefixes
            .iter()
            .map(|text| folded_text(text))
            .collect();
        let mut prefixes: BTreeSet<String> = BTreeSet::new();
        for prefix in all {
            // Whatever begins with the last one comes right behind it.
            if !prefixes.last().is_some_and(|last| prefix.starts_with(last)) {
                prefixes.insert(prefix);
            }
        }
        let known = known.into_iter().map(|(name, id)| (name, Some(id)));
        let mut names: BTreeMap<_, _> = known.collect();
        // Nothing has a name that is none.
        let named = reach.names.iter().filter_map(|name| folded_name(name));
        names.extend(named.map(|name| (name, None)));
        Self { names, prefixes }
    }

    /// All names.
    pub fn everything() -> Self {
        Self {
            names: BTreeMap::new(),
            prefixes: BTreeSet::from([String::new()]),
        }
    }

    pub fn is_everything(&self) -> bool {
        self.prefixes.contains("")
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub fn prefixes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.prefixes.iter().map(String::as_str)
    }

    /// True if an organization of that folded name can be meant.
    pub fn covers(&self, name: &str) -> bool {
        self.has_prefix_of(name) || self.names.contains_key(name)
    }

    /// True if the organization with that external id is meant, which has this folded name.
    fn admits(&self, name: &str, external_id: &str) -> bool {
        let named = || self.names.get(name);
        self.has_prefix_of(name)
            || named().is_some_and(|id| id.as_ref().is_none_or(|id| id == external_id))
    }

    fn has_prefix_of(&self, name: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        let up_to_name = (Bound::Unbounded, Bound::Included(name));
        let nearest = self.prefixes.range::<str, _>(up_to_name).next_back();
        nearest.is_some_and(|prefix| name.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_scope_covers_its_names_and_what_begins_with_its_prefixes(
            exact in prop::collection::vec("[a-bA]{0,4}", 0..5),
            prefixes in prop::collection::vec("[a-bA]{0,4}", 0..5),
            name in "[ab]{1,5}",
        ) {
            let reach = Reach { names: exact.clone(), prefixes: prefixes.clone(), user: None };
            let scope = Scope::reached_by(&reach, []);
            let expected = exact.iter().any(|exact| exact.to_lowercase() == name)
                || prefixes.iter().any(|prefix| name.starts_with(&prefix.to_lowercase()));
            prop_assert_eq!(scope.covers(&name), expected);
        }
    }
}
