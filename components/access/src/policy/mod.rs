//! Policies: reading their text, and deciding by their rules (contract 5.6).

mod built_in;
mod compile;
mod document;
mod evaluate;
mod overlap;
mod rule;
mod sudo_paths;

pub(crate) use built_in::{
    DEFAULT, DEFAULT_TEXT, RESPONSE_WRAPPING, RESPONSE_WRAPPING_TEXT, ROOT, is_immutable,
    is_unassignable, normalize_name, response_wrapping_rules, sanitize,
};
pub(crate) use compile::compile;
pub(crate) use evaluate::{Question, Verdict};
pub(crate) use overlap::grants_below;
pub(crate) use rule::{CapabilitySet, Identity, Rule, first_wildcard};
pub(crate) use sudo_paths::needs_sudo;
