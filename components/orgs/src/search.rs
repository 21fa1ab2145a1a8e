//! Which organizations are meant: by what occurs in them (contract 3.1), and by what they are called.

use std::collections::BTreeSet;
use std::ops::Bound;

use memchr::memmem::Finder;

use crate::record::OrganizationRecord;
use crate::{Filter, Reach};

/// Which organizations are searched for.
#[derive(Debug)]
pub struct Search {
    pub scope: Scope,
    pub matcher: Matcher,
    /// Whether disabled ones are meant as well.
    pub with_disabled: bool,
}

impl Search {
    /// Whether it is all there are.
    pub fn is_for_all(&self) -> bool {
        self.scope.is_everything() && self.matcher.accepts_all() && self.with_disabled
    }

    /// Whether an organization of that folded name is meant, whatever is looked for in it.
    pub fn covers(&self, name: &str, is_disabled: impl FnOnce() -> bool) -> bool {
        self.scope.covers(name) && (self.with_disabled || !is_disabled())
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

    /// Whether an organization of that name and that address is wanted, both folded.
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

    pub fn accepts_record(&self, record: &OrganizationRecord) -> bool {
        self.accepts_all()
            || self.accepts(
                &folded_text(&record.name),
                &folded_text(&record.settings.email),
            )
    }
}

/// `text` as searches compare it.
pub fn folded_text(text: &str) -> String {
    text.to_lowercase()
}

/// The names that some names and beginnings of names cover.
#[derive(Debug)]
pub struct Scope {
    names: BTreeSet<String>,
    /// None begins with another, so a name begins with one of them at most.
    prefixes: BTreeSet<String>,
}

impl Scope {
    /// What `reach` names, and `further` names.
    pub fn of(reach: &Reach, further: impl IntoIterator<Item = String>) -> Self {
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
        let mut names: BTreeSet<String> = further.into_iter().collect();
        names.extend(reach.names.iter().map(|text| folded_text(text)));
        Self { names, prefixes }
    }

    /// All names.
    pub fn everything() -> Self {
        Self {
            names: BTreeSet::new(),
            prefixes: BTreeSet::from([String::new()]),
        }
    }

    pub fn is_everything(&self) -> bool {
        self.prefixes.contains("")
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.iter().map(String::as_str)
    }

    pub fn covers(&self, name: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        let up_to_name = (Bound::Unbounded, Bound::Included(name));
        let nearest = self.prefixes.range::<str, _>(up_to_name).next_back();
        nearest.is_some_and(|prefix| name.starts_with(prefix)) || self.names.contains(name)
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
            name in "[ab]{0,5}",
        ) {
            let reach = Reach { names: exact.clone(), prefixes: prefixes.clone(), user: None };
            let scope = Scope::of(&reach, []);
            let expected = exact.iter().any(|exact| exact.to_lowercase() == name)
                || prefixes.iter().any(|prefix| name.starts_with(&prefix.to_lowercase()));
            prop_assert_eq!(scope.covers(&name), expected);
        }
    }
}
