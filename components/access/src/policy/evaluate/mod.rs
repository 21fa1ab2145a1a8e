//! Choosing the one rule that decides (contract 5.6, SEC-A1).
//!
//! The rules come from the store with every request and are looked at once, so an index would cost more than it saves: one pass
//! over them compares the fixed beginnings of their patterns, and little else.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use super::asked::AskedPath;
use super::constraints::Constraints;
use super::rule::{CapabilitySet, Filled, Rule, first_wildcard, matches, wildcard_count};
use super::template::Identity;
use crate::api::{Capability, Operation, Parameter};

/// A question to a set of rules.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The canonical path.
    pub(crate) path: &'a str,
    /// True if it is to be listed, where a trailing `/` makes no difference.
    pub(crate) list: bool,
    /// The identity that asks; `None` for a token without an entity.
    pub(crate) identity: Option<&'a dyn Identity>,
}

/// The common grant of all rules with one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Grant<'r> {
    capabilities: CapabilitySet,
    constraints: Option<Cow<'r, Constraints>>,
}

impl<'r> Grant<'r> {
    fn from_rule(rule: &'r Rule) -> Self {
        let mut grant = Self::default();
        grant.add(rule);
        grant
    }

    /// Capabilities are united, and conditions too: those of one policy hold for what another one grants. A denial has none.
    fn add(&mut self, rule: &'r Rule) {
        self.capabilities = self.capabilities.union(rule.capabilities);
        if self.is_denial() {
            self.constraints = None;
        } else if let Some(added) = rule.constraints.as_deref() {
            match &mut self.constraints {
                Some(constraints) => constraints.to_mut().merge(added),
                none => *none = Some(Cow::Borrowed(added)),
            }
        }
    }

    /// True if it holds whatever else a request says.
    fn is_unconditional(&self) -> bool {
        self.constraints.is_none()
    }

    const fn is_denial(&self) -> bool {
        self.capabilities.contains(Capability::Deny)
    }
}

/// The grant of the deciding rule; nothing when there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict<'r>(Option<Grant<'r>>);

impl Verdict<'_> {
    /// True if `capability` is granted.
    pub(crate) fn allows(&self, capability: Capability) -> bool {
        let granted = self.0.as_ref();
        granted.is_some_and(|granted| granted.capabilities.contains(capability))
    }

    /// The names to show for it: `deny` alone where nothing is granted.
    pub(crate) fn capabilities(&self) -> Vec<Capability> {
        let granted = self.0.as_ref();
        granted
            .map_or_else(CapabilitySet::default, |granted| granted.capabilities)
            .to_list()
    }

    /// The same of what is granted without conditions (contract 5.6): who may change one field only owns nothing.
    pub(crate) fn unconditional_capabilities(&self) -> Vec<Capability> {
        let granted = self.0.as_ref().filter(|granted| granted.is_unconditional());
        granted
            .map_or_else(CapabilitySet::default, |granted| granted.capabilities)
            .to_list()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.0.as_ref()?.constraints.as_deref()
    }

    /// True if it depends on the parameters of a request that does `operation`.
    pub(crate) fn concerns_parameters(&self, operation: Operation) -> bool {
        let constraints = self.constraints();
        constraints.is_some_and(|constraints| constraints.concern_parameters(operation))
    }

    /// True if its conditions let a request pass that has these parameters, and asks for an answer wrapped for so many seconds.
    pub(crate) fn permits(
        &self,
        operation: Operation,
        parameters: &[Parameter],
        wrap_ttl: Option<u64>,
    ) -> bool {
        self.constraints().is_none_or(|constraints| {
            constraints.permit_wrapping(wrap_ttl)
                && (!constraints.concern_parameters(operation)
                    || constraints.permit_parameters(parameters))
        })
    }
}

/// A rule with its pattern as it is for the caller, folded as the path is.
struct Applied<'r> {
    rule: &'r Rule,
    pattern: Cow<'r, str>,
}

/// The best of the patterns seen so far that a path fits.
struct Candidate<'r> {
    pattern: Cow<'r, str>,
    prefix: bool,
    grant: Grant<'r>,
}

/// Greater decides: wildcard or glob further right, not ending in a glob, fewer wildcards, longer, lexically larger.
fn rank(pattern: &str, prefix: bool) -> (usize, bool, Reverse<usize>, usize, &str) {
    (
        first_wildcard(pattern).unwrap_or(pattern.len()),
        !prefix,
        Reverse(wildcard_count(pattern)),
        pattern.len(),
        pattern,
    )
}

/// The verdict of the rules seen so far on one spelling of the path.
#[derive(Default)]
struct Findings<'r> {
    exact: Option<Grant<'r>>,
    best: Option<Candidate<'r>>,
}

impl<'r> Findings<'r> {
    /// Takes a rule into account. Rules with equal patterns, of several policies mostly, count as one.
    fn consider(&mut self, path: &str, applied: &Applied<'r>) {
        let Applied { rule, pattern } = applied;
        if !matches(pattern, rule.prefix, path) {
            return;
        }
        if !rule.prefix && first_wildcard(pattern).is_none() {
            match &mut self.exact {
                Some(grant) => grant.add(rule),
                none => *none = Some(Grant::from_rule(rule)),
            }
            return;
        }
        let order = self.best.as_ref().map_or(Ordering::Greater, |best| {
            rank(pattern, rule.prefix).cmp(&rank(&best.pattern, best.prefix))
        });
        match (order, &mut self.best) {
            (Ordering::Equal, Some(best)) => best.grant.add(rule),
            (Ordering::Greater, best) => {
                *best = Some(Candidate {
                    pattern: pattern.clone(),
                    prefix: rule.prefix,
                    grant: Grant::from_rule(rule),
                });
            }
            _ => {}
        }
    }
}

impl Question<'_> {
    /// The verdict of `rules`, of all policies together and in any order.
    pub(crate) fn decide<'r>(&self, rules: impl IntoIterator<Item = &'r Rule>) -> Verdict<'r> {
        let path = AskedPath::new(self.path);
        let bare_path = path.as_str().strip_suffix('/').filter(|_| self.list);
        let mut asked = Findings::default();
        let mut bare = Findings::default();
        for rule in rules {
            if !rule.may_match(&path) {
                continue;
            }
            let pattern = match rule.filled_for(self.identity) {
                Filled::Pattern(pattern) => path.folded(pattern),
                Filled::DenialBelow(beginning) => {
                    let beginning = path.folded(Cow::Borrowed(beginning));
                    if path.as_str().starts_with(beginning.as_ref()) {
                        return Verdict(Some(Grant::from_rule(rule)));
                    }
                    continue;
                }
                Filled::NoRule => continue,
            };
            let applied = Applied { rule, pattern };
            asked.consider(path.as_str(), &applied);
            if let Some(path) = bare_path {
                bare.consider(path, &applied);
            }
        }
        // Of a list, what is said with its slash is the more specific.
        let best = |found: Findings<'r>| found.best.map(|best| best.grant);
        let exact = asked.exact.take().or(bare.exact.take());
        Verdict(exact.or_else(|| best(asked)).or_else(|| best(bare)))
    }
}

#[cfg(test)]
mod tests;
