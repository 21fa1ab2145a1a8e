//! One rule: a path pattern and what it grants.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::api::Capability;

/// A set of capabilities; in the store a number with one bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CapabilitySet(u16);

impl CapabilitySet {
    /// These bits are stored: they never change their meaning.
    const fn bit(capability: Capability) -> u16 {
        match capability {
            Capability::Deny => 1,
            Capability::Create => 1 << 1,
            Capability::Read => 1 << 2,
            Capability::Update => 1 << 3,
            Capability::Delete => 1 << 4,
            Capability::List => 1 << 5,
            Capability::Sudo => 1 << 6,
            Capability::Patch => 1 << 7,
            Capability::Root => 0,
        }
    }

    /// Whether it holds `capability`.
    pub(crate) const fn contains(self, capability: Capability) -> bool {
        self.0 & Self::bit(capability) != 0
    }

    /// With all of both sets; `deny` in either leaves `deny` alone.
    pub(crate) const fn union(self, other: Self) -> Self {
        let united = Self(self.0 | other.0);
        if united.contains(Capability::Deny) {
            Self(Self::bit(Capability::Deny))
        } else {
            united
        }
    }

    /// What to show for it: `deny` alone where nothing is granted.
    pub(crate) fn shown(self) -> Vec<Capability> {
        let granted: Vec<Capability> = self.iter().collect();
        if granted.is_empty() {
            vec![Capability::Deny]
        } else {
            granted
        }
    }

    /// In the order in which lists of capabilities are shown.
    pub(crate) fn iter(self) -> impl Iterator<Item = Capability> {
        [
            Capability::Deny,
            Capability::Sudo,
            Capability::Read,
            Capability::List,
            Capability::Update,
            Capability::Delete,
            Capability::Create,
            Capability::Patch,
        ]
        .into_iter()
        .filter(move |capability| self.contains(*capability))
    }
}

impl FromIterator<Capability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        capabilities
            .into_iter()
            .fold(Self::default(), |set, capability| {
                set.union(Self(Self::bit(capability)))
            })
    }
}

/// Who asks, as templates name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity<'a> {
    /// The entity's identifier.
    pub(crate) id: &'a str,
    /// The entity's name.
    pub(crate) name: &'a str,
}

/// The template of the entity's identifier.
pub(crate) const ENTITY_ID: &str = "identity.entity.id";
/// The template of the entity's name.
pub(crate) const ENTITY_NAME: &str = "identity.entity.name";

/// A path pattern and what it grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    /// The pattern without leading `/` and without a final `*`. A segment `+` stands for any one segment.
    pub(crate) pattern: String,
    /// Whether the pattern ended in `*`, so that anything may follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prefix: bool,
    /// Whether the pattern holds templates, to be filled for each caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) template: bool,
    /// What it grants.
    pub(crate) capabilities: CapabilitySet,
}

impl Rule {
    /// The pattern for this caller; `None` when a template cannot be filled, or the value could widen the pattern (SEC-A5).
    pub(crate) fn pattern_for(&self, identity: Option<Identity<'_>>) -> Option<Cow<'_, str>> {
        if !self.template {
            return Some(Cow::Borrowed(&self.pattern));
        }
        let identity = identity?;
        let mut filled = String::with_capacity(self.pattern.len());
        let mut rest = self.pattern.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}")?;
            let value = match name.trim() {
                ENTITY_ID => identity.id,
                ENTITY_NAME => identity.name,
                _ => return None,
            };
            if value.is_empty() || value.contains(['/', '*', '+']) {
                return None;
            }
            filled.push_str(before);
            filled.push_str(value);
            rest = after;
        }
        filled.push_str(rest);
        Some(Cow::Owned(filled))
    }
}

/// Whether `path` fits `pattern`; with `prefix` anything may follow what fits.
pub(crate) fn matches(pattern: &str, prefix: bool, path: &str) -> bool {
    if first_wildcard(pattern).is_none() {
        return if prefix {
            path.starts_with(pattern)
        } else {
            path == pattern
        };
    }
    let mut asked = path.split('/');
    let mut segments = pattern.split('/').peekable();
    while let Some(segment) = segments.next() {
        let Some(asked) = asked.next() else {
            return false;
        };
        let last_of_prefix = prefix && segments.peek().is_none();
        let fits =
            segment == "+" || segment == asked || (last_of_prefix && asked.starts_with(segment));
        if !fits {
            return false;
        }
    }
    prefix || asked.next().is_none()
}

/// Byte position of the first segment `+`.
pub(crate) fn first_wildcard(pattern: &str) -> Option<usize> {
    let mut position = 0;
    for segment in pattern.split('/') {
        if segment == "+" {
            return Some(position);
        }
        position += segment.len() + 1;
    }
    None
}

/// How many segments are `+`.
pub(crate) fn wildcard_count(pattern: &str) -> usize {
    pattern.split('/').filter(|segment| *segment == "+").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_stands_for_exactly_one_segment() {
        assert!(matches("a/+/c", false, "a/b/c"));
        assert!(!matches("a/+/c", false, "a/b/b/c"));
        assert!(!matches("a/+/c", false, "a/c"));
        assert!(!matches("a/+", false, "a/b/c"));
        assert!(matches("a/+/c", true, "a/b/cd/e"));
        assert!(matches("+/+", true, "a/b/c"));
        assert!(!matches("a/+/", true, "a/b"));
        assert!(matches("a/+/", true, "a/b/"));
    }

    #[test]
    fn a_plus_beside_other_characters_is_a_plus() {
        assert!(matches("a+", false, "a+"));
        assert!(!matches("a+", false, "ab"));
        assert_eq!(first_wildcard("a+/+/x"), Some(3));
    }

    #[test]
    fn deny_swallows_all_other_capabilities() {
        let granted: CapabilitySet = [Capability::Read, Capability::List].into_iter().collect();
        let denied: CapabilitySet = [Capability::Deny].into_iter().collect();
        assert_eq!(granted.union(denied), denied);
        assert_eq!(denied.union(granted), denied);
    }

    fn templated(pattern: &str) -> Rule {
        Rule {
            pattern: pattern.to_owned(),
            prefix: false,
            template: true,
            capabilities: CapabilitySet::default(),
        }
    }

    #[test]
    fn templates_are_filled_with_the_caller() {
        let rule = templated("x/{{identity.entity.id}}/{{ identity.entity.name }}");
        let identity = Identity { id: "1", name: "n" };
        assert_eq!(rule.pattern_for(Some(identity)).unwrap(), "x/1/n");
        assert!(rule.pattern_for(None).is_none());
    }

    #[test]
    fn a5_values_that_could_widen_a_pattern_are_refused() {
        let rule = templated("x/{{identity.entity.name}}");
        for name in ["*", "+", "a/b", "a*", ""] {
            let identity = Identity { id: "1", name };
            assert!(rule.pattern_for(Some(identity)).is_none(), "{name:?}");
        }
    }
}
