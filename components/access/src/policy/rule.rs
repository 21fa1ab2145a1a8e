//! One rule: a path pattern and what it grants.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::asked::AskedPath;
use super::constraints::Constraints;
use super::template::{self, Identity, LITERAL};
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

    /// True if it holds `capability`.
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

    /// The names to show for it: `deny` alone where nothing is granted.
    pub(crate) fn to_list(self) -> Vec<Capability> {
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

/// A path pattern and what it grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    /// The pattern without leading `/` and without a final `*`. A segment `+` stands for any one segment.
    pub(crate) pattern: String,
    /// True if the pattern ended in `*`, so that anything may follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prefix: bool,
    /// True if the pattern holds templates, to be filled for each caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) template: bool,
    /// Its grant.
    pub(crate) capabilities: CapabilitySet,
    /// On which conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) constraints: Option<Box<Constraints>>,
}

impl Rule {
    /// True if the pattern, filled for any caller, can be met by `path` or by `path` without its last character. Cheap, and true
    /// of few of a policy's rules.
    pub(crate) fn may_match(&self, path: &AskedPath<'_>) -> bool {
        let end = self.pattern.find(['+', '{']);
        let fixed = end.and_then(|end| self.pattern.get(..end));
        path.may_begin_with(fixed.unwrap_or(&self.pattern))
    }

    /// The rule as it is for this caller (SEC-A5).
    pub(crate) fn filled_for(&self, identity: Option<&dyn Identity>) -> Filled<'_> {
        if !self.template {
            return Filled::Pattern(Cow::Borrowed(&self.pattern));
        }
        let denies = self.capabilities.contains(Capability::Deny);
        let filled = identity.and_then(|it| template::fill(&self.pattern, it, denies));
        match filled {
            Some(pattern) => Filled::Pattern(Cow::Owned(pattern)),
            None if denies => Filled::DenialBelow(self.fixed_beginning()),
            None => Filled::NoRule,
        }
    }

    /// The common beginning of all paths that the pattern can fit, whatever fills its templates.
    fn fixed_beginning(&self) -> &str {
        let pattern = self.pattern.as_str();
        let ends = [pattern.find("{{"), first_wildcard(pattern)];
        let end = ends.into_iter().flatten().min();
        end.and_then(|end| pattern.get(..end)).unwrap_or(pattern)
    }

    /// The accessors of mounts whose aliases its templates name.
    pub(crate) fn alias_accessors(&self) -> impl Iterator<Item = &str> {
        let pattern = Some(self.pattern.as_str()).filter(|_| self.template);
        pattern.into_iter().flat_map(template::alias_accessors)
    }
}

/// A rule as it is for one caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filled<'r> {
    /// It has this pattern.
    Pattern(Cow<'r, str>),
    /// It denies, and a value is missing: it denies everything that begins with this, since the paths that it would have denied are unknown.
    DenialBelow(&'r str),
    /// It grants, and a value is missing or could match more than one segment: it grants nothing.
    NoRule,
}

/// `pattern` as people read it.
pub(crate) fn shown_pattern(pattern: &str) -> String {
    pattern.replace(LITERAL, "")
}

/// True if `path` fits `pattern`; with `prefix` anything may follow what fits.
pub(crate) fn matches(pattern: &str, prefix: bool, path: &str) -> bool {
    let has_literals = pattern.contains(LITERAL);
    if !has_literals && first_wildcard(pattern).is_none() {
        return if prefix {
            path.starts_with(pattern)
        } else {
            path == pattern
        };
    }
    let plain = |segment| match has_literals {
        true => Cow::Owned(shown_pattern(segment)),
        false => Cow::Borrowed(segment),
    };
    let mut asked = path.split('/');
    let mut segments = pattern.split('/').peekable();
    while let Some(segment) = segments.next() {
        let Some(asked) = asked.next() else {
            return false;
        };
        let last_of_prefix = prefix && segments.peek().is_none();
        let text = plain(segment);
        let fits =
            segment == "+" || text == asked || (last_of_prefix && asked.starts_with(text.as_ref()));
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

    #[test]
    fn a5_a_plus_of_a_value_is_no_wildcard() {
        assert!(matches("a/\0+/c", false, "a/+/c"));
        assert!(!matches("a/\0+/c", false, "a/b/c"));
        assert!(matches("a/\0+", true, "a/+x/y"));
        assert!(!matches("a/\0+", true, "a/b"));
        assert!(matches("+/x\0+", false, "b/x+"));
    }

    #[test]
    fn rules_of_the_last_version_stay_readable() {
        let stored = r#"{"pattern":"a/b","capabilities":4}"#;
        let rule: Rule = serde_json::from_str(stored).unwrap();
        assert_eq!(rule.constraints, None);
        assert_eq!(serde_json::to_string(&rule).unwrap(), stored);
    }
}
