//! The demands of a rule on a request besides its path: parameters, and the life of a wrapped answer (contract 5.6).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::parameter::ParameterValue;
use crate::api::{Operation, Parameter};

/// Stands for every parameter.
const ANY: &str = "*";

/// Values by parameter, names in lower case; an empty list stands for every value.
pub(crate) type Listed = BTreeMap<String, Vec<ParameterValue>>;

/// Conditions of a rule. Without any it is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Constraints {
    /// Allowed parameters; if it is not empty, a request may have no others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) allowed: Listed,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) denied: Listed,
    /// Parameters that a request must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) required: BTreeSet<String>,
    /// Seconds; a request whose answer is not wrapped does not meet the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min_wrapping_ttl: Option<u64>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_wrapping_ttl: Option<u64>,
}

impl Constraints {
    /// Adds the conditions of `other`: parameters are united, and of two minimums, as of two maximums, the shorter one counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        merge_listed(&mut self.allowed, &other.allowed);
        merge_listed(&mut self.denied, &other.denied);
        self.required.extend(other.required.iter().cloned());
        self.min_wrapping_ttl = shorter(self.min_wrapping_ttl, other.min_wrapping_ttl);
        self.max_wrapping_ttl = shorter(self.max_wrapping_ttl, other.max_wrapping_ttl);
    }

    /// True if it depends on the parameters of a request that does `operation`.
    pub(crate) fn concern_parameters(&self, operation: Operation) -> bool {
        has_parameters(operation)
            && !(self.allowed.is_empty() && self.denied.is_empty() && self.required.is_empty())
    }

    /// True if an answer may be wrapped for `ttl` seconds; `None` means that it is not to be wrapped.
    pub(crate) fn permit_wrapping(&self, ttl: Option<u64>) -> bool {
        match (self.min_wrapping_ttl, self.max_wrapping_ttl, ttl) {
            (None, None, _) => true,
            (_, _, None) => false,
            // The limits of several policies may exclude every value.
            (min, max, Some(ttl)) => {
                min.is_none_or(|min| min <= ttl) && max.is_none_or(|max| ttl <= max)
            }
        }
    }

    /// True if a request may have these parameters: all that are required, none that is denied, and only allowed ones where any
    /// are listed. A request without parameters can fail only for required ones.
    pub(crate) fn permit_parameters(&self, parameters: &[Parameter]) -> bool {
        let mut missing: BTreeSet<&str> = self.required.iter().map(String::as_str).collect();
        if !parameters.is_empty() && self.denied.contains_key(ANY) {
            return false;
        }
        let allows_any = self.allowed.is_empty() || self.allowed.contains_key(ANY);
        for Parameter { name, value } in parameters {
            let name = name.to_lowercase();
            missing.remove(name.as_str());
            let denied = self.denied.get(&name);
            let allowed = self.allowed.get(&name);
            if denied.is_none() && allowed.is_none() {
                if allows_any {
                    continue;
                }
                return false;
            }
            // A value that cannot be compared is in no list that allows, and in every one that denies.
            let value = ParameterValue::from_json(value);
            let in_denied = denied.is_some_and(|listed| is_listed(listed, value.as_ref(), true));
            let in_allowed = match allowed {
                Some(listed) => is_listed(listed, value.as_ref(), false),
                None => allows_any,
            };
            if in_denied || !in_allowed {
                return false;
            }
        }
        missing.is_empty()
    }
}

/// True if parameter conditions apply to `operation` at all.
const fn has_parameters(operation: Operation) -> bool {
    match operation {
        Operation::Read | Operation::Update | Operation::CreateOrUpdate | Operation::Patch => true,
        Operation::List | Operation::Delete | Operation::Help => false,
    }
}

fn is_listed(listed: &[ParameterValue], value: Option<&ParameterValue>, unknown: bool) -> bool {
    listed.is_empty()
        || value.map_or(unknown, |value| {
            listed.iter().any(|listed| listed.admits(value))
        })
}

/// Adds values to those of the same parameter; a list without values stands for all of them and stays so.
pub(super) fn add_listed(all: &mut Listed, name: String, values: Vec<ParameterValue>) {
    match all.entry(name) {
        Entry::Vacant(entry) => {
            entry.insert(values);
        }
        Entry::Occupied(mut entry) if values.is_empty() => entry.get_mut().clear(),
        Entry::Occupied(entry) if entry.get().is_empty() => {}
        Entry::Occupied(mut entry) => entry.get_mut().extend(values),
    }
}

fn merge_listed(all: &mut Listed, other: &Listed) {
    for (name, values) in other {
        add_listed(all, name.clone(), values.clone());
    }
}

fn shorter(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    left.into_iter().chain(right).min()
}

#[cfg(test)]
mod tests;
