//! Choosing the one rule that decides (contract 5.6, SEC-A1).

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use super::rule::{CapabilitySet, Identity, Rule, first_wildcard, matches, wildcard_count};
use crate::api::Capability;

/// What is asked of a set of rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The canonical path.
    pub(crate) path: &'a str,
    /// Whether it is to be listed, where a trailing `/` makes no difference.
    pub(crate) list: bool,
    /// Who asks; `None` for a token without an entity.
    pub(crate) identity: Option<Identity<'a>>,
}

/// What the deciding rule grants; nothing when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict(Option<CapabilitySet>);

impl Verdict {
    /// Whether `capability` is granted.
    pub(crate) fn allows(self, capability: Capability) -> bool {
        self.0.is_some_and(|granted| granted.contains(capability))
    }

    /// What to show for it: `deny` alone where nothing is granted.
    pub(crate) fn capabilities(self) -> Vec<Capability> {
        self.0.unwrap_or_default().shown()
    }
}

/// A matching rule, for one caller.
struct Candidate<'a> {
    pattern: Cow<'a, str>,
    prefix: bool,
    capabilities: CapabilitySet,
}

impl Candidate<'_> {
    /// Greater decides: wildcard or glob further right, not ending in a glob, fewer wildcards, longer, lexically larger.
    fn rank(&self) -> (usize, bool, Reverse<usize>, usize, &str) {
        (
            first_wildcard(&self.pattern).unwrap_or(self.pattern.len()),
            !self.prefix,
            Reverse(wildcard_count(&self.pattern)),
            self.pattern.len(),
            &self.pattern,
        )
    }

    fn is_denial(&self) -> bool {
        self.capabilities.contains(Capability::Deny)
    }
}

impl Question<'_> {
    /// What `rules`, of all policies together and in any order, grant.
    pub(crate) fn decide(&self, rules: &[&Rule]) -> Verdict {
        let without_slash = self.path.strip_suffix('/').filter(|_| self.list);
        let decided = self
            .exact(rules, self.path)
            .or_else(|| self.exact(rules, without_slash?))
            .or_else(|| {
                let with_slash = self.best_pattern(rules, self.path);
                let without_slash = without_slash.and_then(|path| self.best_pattern(rules, path));
                match (without_slash, with_slash) {
                    // A list never escapes a rule that denies what lies below the path (SEC-A3).
                    (Some(_), Some(denial)) if denial.is_denial() => Some(denial.capabilities),
                    (Some(chosen), _) | (None, Some(chosen)) => Some(chosen.capabilities),
                    (None, None) => None,
                }
            });
        Verdict(decided)
    }

    /// The union of all rules for exactly `path`.
    fn exact(&self, rules: &[&Rule], path: &str) -> Option<CapabilitySet> {
        rules
            .iter()
            .filter(|rule| !rule.prefix)
            .filter(|rule| {
                rule.pattern_for(self.identity)
                    .is_some_and(|pattern| pattern == path && first_wildcard(&pattern).is_none())
            })
            .map(|rule| rule.capabilities)
            .reduce(CapabilitySet::union)
    }

    /// The best of the patterns that `path` fits; equal patterns of several policies are united.
    fn best_pattern<'a>(&self, rules: &[&'a Rule], path: &str) -> Option<Candidate<'a>> {
        let mut best: Option<Candidate<'a>> = None;
        for rule in rules {
            let Some(pattern) = rule.pattern_for(self.identity) else {
                continue;
            };
            let exact = !rule.prefix && first_wildcard(&pattern).is_none();
            if exact || !matches(&pattern, rule.prefix, path) {
                continue;
            }
            let candidate = Candidate {
                pattern,
                prefix: rule.prefix,
                capabilities: rule.capabilities,
            };
            best = Some(match best {
                None => candidate,
                Some(best) => match candidate.rank().cmp(&best.rank()) {
                    Ordering::Less => best,
                    Ordering::Greater => candidate,
                    Ordering::Equal => Candidate {
                        capabilities: best.capabilities.union(candidate.capabilities),
                        ..best
                    },
                },
            });
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn set(names: &[Capability]) -> CapabilitySet {
        names.iter().copied().collect()
    }

    fn rule(text: &str, capabilities: &[Capability]) -> Rule {
        let (pattern, prefix) = match text.strip_suffix('*') {
            Some(pattern) => (pattern, true),
            None => (text, false),
        };
        Rule {
            pattern: pattern.to_owned(),
            prefix,
            template: false,
            capabilities: set(capabilities),
        }
    }

    fn ask(rules: &[Rule], path: &str, list: bool) -> Verdict {
        let question = Question {
            path,
            list,
            identity: None,
        };
        question.decide(&rules.iter().collect::<Vec<_>>())
    }

    use Capability::{Deny, List, Read, Update};

    #[test]
    fn a1_nothing_is_granted_without_a_rule() {
        assert_eq!(ask(&[], "a", false).capabilities(), [Deny]);
        let rules = [rule("a/b", &[Read])];
        assert!(!ask(&rules, "a", false).allows(Read));
        assert!(!ask(&rules, "a/b/", false).allows(Read));
    }

    #[test]
    fn a1_an_exact_rule_decides_before_patterns() {
        let rules = [
            rule("a/*", &[Deny]),
            rule("a/b", &[Read]),
            rule("a/+", &[Deny]),
        ];
        assert!(ask(&rules, "a/b", false).allows(Read));
    }

    #[test]
    fn a1_deny_wins_within_one_rule_text() {
        let rules = [
            rule("a/*", &[Read]),
            rule("a/*", &[Deny]),
            rule("a/*", &[Update]),
        ];
        assert_eq!(ask(&rules, "a/b", false).capabilities(), [Deny]);
    }

    #[test]
    fn a1_the_more_specific_pattern_decides() {
        for (winner, loser) in [
            ("a/b/*", "a/*"),
            ("a/b/+", "a/+/c"),
            ("a/b/c*", "a/b/+"),
            ("a/+", "a/*"),
            ("a/+/c", "a/+/*"),
            ("a/+/c/+", "a/+/+/+"),
            ("a/+/c*", "a/+/*"),
        ] {
            let rules = [rule(loser, &[Deny]), rule(winner, &[Read])];
            let path = if winner.matches('/').count() == 3 {
                "a/b/c/d"
            } else if winner == "a/+" {
                "a/b"
            } else {
                "a/b/c"
            };
            assert!(
                ask(&rules, path, false).allows(Read),
                "{winner} over {loser}"
            );
        }
    }

    #[test]
    fn lists_find_the_rule_without_the_slash() {
        let rules = [rule("auth/gcp/role", &[List])];
        assert!(ask(&rules, "auth/gcp/role/", true).allows(List));
        assert!(!ask(&rules, "auth/gcp/role/", false).allows(List));
        let rules = [rule("auth/+/role", &[List])];
        assert!(ask(&rules, "auth/gcp/role/", true).allows(List));
    }

    #[test]
    fn a3_a_list_does_not_escape_a_denial_of_what_lies_below() {
        let rules = [
            rule("auth/gcp/*", &[List]),
            rule("auth/gcp/role/*", &[Deny]),
        ];
        assert!(!ask(&rules, "auth/gcp/role/", true).allows(List));
    }

    /// The rules of contract 5.6 written as a table of all candidates; shares no code with the evaluator.
    fn model(rules: &[(String, CapabilitySet)], path: &str) -> Option<CapabilitySet> {
        let mut by_text: BTreeMap<&str, CapabilitySet> = BTreeMap::new();
        for (text, capabilities) in rules {
            let entry = by_text.entry(text).or_default();
            *entry = entry.union(*capabilities);
        }
        let wild = |text: &str| text.split('/').any(|it| it == "+");
        if let Some(exact) = by_text.get(path)
            && !path.ends_with('*')
            && !wild(path)
        {
            return Some(*exact);
        }
        by_text
            .into_iter()
            .filter(|(text, _)| (text.ends_with('*') || wild(text)) && fits(text, path))
            .max_by_key(|(text, _)| {
                let bare = text.trim_end_matches('*').to_owned();
                let segments: Vec<&str> = bare.split('/').collect();
                let before = segments.iter().take_while(|it| **it != "+");
                let first = if wild(&bare) {
                    before.map(|it| it.len() + 1).sum()
                } else {
                    bare.len()
                };
                let wildcards = segments.iter().filter(|it| **it == "+").count();
                let plain_end = u8::from(!text.ends_with('*'));
                (first, plain_end, usize::MAX - wildcards, bare.len(), bare)
            })
            .map(|(_, capabilities)| capabilities)
    }

    /// Character by character: `+` as a whole segment eats up to the next slash, a final `*` eats the rest.
    fn fits(text: &str, path: &str) -> bool {
        fn step(text: &[u8], path: &[u8], at_segment_start: bool) -> bool {
            match text {
                [] => path.is_empty(),
                [b'*'] => true,
                [b'+', rest @ ..]
                    if at_segment_start && matches!(rest.first(), None | Some(b'/')) =>
                {
                    let eaten = path.iter().take_while(|byte| **byte != b'/').count();
                    step(rest, &path[eaten..], false)
                }
                [first, rest @ ..] => {
                    path.first() == Some(first) && step(rest, &path[1..], *first == b'/')
                }
            }
        }
        step(text.as_bytes(), path.as_bytes(), true)
    }

    fn capabilities() -> impl Strategy<Value = CapabilitySet> {
        prop_oneof![
            4 => Just(set(&[Read])),
            4 => Just(set(&[Update, List])),
            1 => Just(set(&[Deny])),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a1_agrees_with_an_independent_evaluator(
            texts in prop::collection::vec(("([abc+]{1,2}/){0,3}[abc+]{0,2}[*]?", capabilities()), 0..8),
            path in "([abc]{1,2}/){0,3}[abc]{1,2}",
        ) {
            let texts: Vec<_> = texts
                .into_iter()
                .filter(|(text, _)| !text.contains("+*"))
                .collect();
            let rules: Vec<Rule> = texts
                .iter()
                .map(|(text, capabilities)| Rule {
                    capabilities: *capabilities,
                    ..rule(text, &[])
                })
                .collect();
            prop_assert_eq!(ask(&rules, &path, false), Verdict(model(&texts, &path)));
        }

        #[test]
        fn a1_the_order_of_rules_and_policies_does_not_matter(
            texts in prop::collection::vec(("[ab+]/[ab+*]?", capabilities()), 0..6), path in "[ab]/[ab]",
        ) {
            let mut rules: Vec<Rule> = texts
                .iter()
                .map(|(text, capabilities)| Rule { capabilities: *capabilities, ..rule(text, &[]) })
                .collect();
            let forward = ask(&rules, &path, true);
            rules.reverse();
            prop_assert_eq!(forward, ask(&rules, &path, true));
        }
    }
}
