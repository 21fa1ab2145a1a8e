//! Policies: reading their text, and deciding by their rules (contract 5.6).

mod asked;
mod built_in;
mod compile;
mod constraints;
mod document;
mod evaluate;
mod lexer;
#[cfg(test)]
mod model;
mod overlap;
mod parameter;
mod rule;
mod sudo_paths;
mod template;

pub(crate) use asked::AskedPath;
pub(crate) use built_in::{
    DEFAULT, DEFAULT_TEXT, RESPONSE_WRAPPING, RESPONSE_WRAPPING_TEXT, ROOT, folded, is_immutable,
    is_unassignable, normalize_name, response_wrapping_rules, sanitize,
};
pub(crate) use compile::compile;
pub(crate) use evaluate::{Question, Verdict};
pub(crate) use overlap::grants_below;
pub(crate) use rule::{CapabilitySet, Filled, Rule, first_wildcard, shown_pattern};
pub(crate) use sudo_paths::needs_sudo;
pub(crate) use template::{AliasField, GroupField, GroupSelector, Identity, Placeholder};
