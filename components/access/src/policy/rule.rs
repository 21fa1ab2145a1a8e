//! One rule: a path pattern and what it grants.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::constraints::Constraints;
use super::names::AskedPath;
use super::template::{self, Identity, LITERAL_PLUS, Oddities};
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
    /// On which conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) constraints: Option<Box<Constraints>>,
}

impl Rule {
    /// Whether the pattern, filled for any caller, can be met by `path` or by `path` without its last character. Cheap, and true
    /// of few of a policy's rules.
    pub(crate) fn may_match(&self, path: &AskedPath<'_>) -> bool {
        path.begins_with(self.fixed_beginning())
    }

    /// What the pattern says before its first wildcard or template.
    fn fixed_beginning(&self) -> &str {
        let end = self.pattern.find(['+', '{']);
        let fixed = end.and_then(|end| self.pattern.get(..end));
        fixed.unwrap_or(&self.pattern)
    }

    /// Whether it takes away, whatever else it says.
    pub(crate) const fn denies(&self) -> bool {
        self.capabilities.contains(Capability::Deny)
    }

    /// The pattern for this caller; `None` where a rule that grants has a template that cannot be filled (SEC-A5).
    ///
    /// A rule that denies never vanishes. Values that would match more than they say stand for themselves in it, and where a value is
    /// missing it denies everything below what stands before its first template (contract 5.6).
    pub(crate) fn filled(&self, identity: Option<&dyn Identity>) -> Option<Filled<'_>> {
        let as_written = |pattern| Filled {
            pattern,
            prefix: self.prefix,
            unfillable: false,
        };
        if !self.template {
            return Some(as_written(Cow::Borrowed(self.pattern.as_str())));
        }
        let oddities = match self.denies() {
            true => Oddities::Literal,
            false => Oddities::Refused,
        };
        let filled = identity.and_then(|it| template::fill(&self.pattern, it, oddities));
        match filled {
            Some(pattern) => Some(as_written(Cow::Owned(pattern))),
            None if self.denies() => Some(Filled {
                pattern: Cow::Borrowed(template::before_first(&self.pattern)),
                prefix: true,
                unfillable: true,
            }),
            None => None,
        }
    }

    /// The accessors of mounts whose aliases its templates name.
    pub(crate) fn alias_accessors(&self) -> impl Iterator<Item = &str> {
        let pattern = Some(self.pattern.as_str()).filter(|_| self.template);
        pattern.into_iter().flat_map(template::alias_accessors)
    }
}

/// A rule's pattern as it is for one caller.
#[derive(Debug, Clone)]
pub(crate) struct Filled<'r> {
    /// As [`Rule::pattern`], without templates.
    pub(crate) pattern: Cow<'r, str>,
    /// Whether anything may follow.
    pub(crate) prefix: bool,
    /// Whether this is the fixed beginning of a rule that denies and has no value for a template: it decides before all other rules.
    pub(crate) unfillable: bool,
}

impl Filled<'_> {
    /// The pattern as an operator would write it.
    pub(crate) fn shown(self) -> String {
        literal(&self.pattern).into_owned()
    }
}

/// Whether `path` fits `pattern`; with `prefix` anything may follow what fits.
pub(crate) fn matches(pattern: &str, prefix: bool, path: &str) -> bool {
    if first_wildcard(pattern).is_none() {
        let pattern = literal(pattern);
        return if prefix {
            path.starts_with(pattern.as_ref())
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
        let text = literal(segment);
        let fits =
            segment == "+" || text == asked || (last_of_prefix && asked.starts_with(text.as_ref()));
        if !fits {
            return false;
        }
    }
    prefix || asked.next().is_none()
}

/// `pattern` with every `+` that came out of a template as a plus.
fn literal(pattern: &str) -> Cow<'_, str> {
    if pattern.contains(LITERAL_PLUS) {
        Cow::Owned(pattern.replace(LITERAL_PLUS, "+"))
    } else {
        Cow::Borrowed(pattern)
    }
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
    fn a5_a_plus_out_of_a_template_is_no_wildcard() {
        let pattern = format!("a/{LITERAL_PLUS}/+");
        assert!(matches(&pattern, false, "a/+/b"));
        assert!(!matches(&pattern, false, "a/x/b"));
        let pattern = format!("a/{LITERAL_PLUS}");
        assert!(matches(&pattern, false, "a/+"));
        assert!(!matches(&pattern, false, "a/x"));
    }

    #[test]
    fn rules_of_the_last_version_stay_readable() {
        let stored = r#"{"pattern":"a/b","capabilities":4}"#;
        let rule: Rule = serde_json::from_str(stored).unwrap();
        assert_eq!(rule.constraints, None);
        assert_eq!(serde_json::to_string(&rule).unwrap(), stored);
    }
}
