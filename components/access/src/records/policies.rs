//! The records of policies.

use gatehouse_storage::{Cacheable, Record, key_segment};
use serde::{Deserialize, Serialize};

use crate::policy::Rule;

/// The prefix of the keys of all [`PolicyRecord`]s.
pub(crate) const POLICY_PREFIX: &str = "policy/";

/// The prefix of the keys of all [`PolicyNameRecord`]s.
pub(crate) const POLICY_NAME_PREFIX: &str = "policy-name/";

/// Key of the [`PolicyRecord`] of a policy.
pub(crate) fn policy_key(name: &str) -> String {
    format!("{POLICY_PREFIX}{}", key_segment(name))
}

/// Key of the [`PolicyNameRecord`] of a policy.
pub(crate) fn policy_name_key(name: &str) -> String {
    format!("{POLICY_NAME_PREFIX}{}", key_segment(name))
}

/// Key of the [`RulesRecord`] of a policy.
pub(crate) fn rules_key(name: &str) -> String {
    format!("rules/{}", key_segment(name))
}

/// A policy as it was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PolicyRecord {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Record for PolicyRecord {
    const SCHEMA: u16 = 1;
}

/// The name of a policy, for lists. It leaves out the other fields of a [`PolicyRecord`], so it can be read from one as well.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PolicyNameRecord {
    pub(crate) name: String,
}

impl Record for PolicyNameRecord {
    const SCHEMA: u16 = 1;
}

/// A policy as requests need it: parsed. Written in the same commit as its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RulesRecord {
    pub(crate) rules: Vec<Rule>,
}

impl Record for RulesRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for RulesRecord {}
