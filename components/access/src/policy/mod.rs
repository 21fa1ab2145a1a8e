//! Policies: reading their text, and deciding by their rules (contract 5.6).

mod built_in;
mod compile;
mod document;
mod evaluate;
mod rule;
mod sudo_paths;

pub(crate) use built_in::{
    DEFAULT, DEFAULT_TEXT, RESPONSE_WRAPPING, RESPONSE_WRAPPING_TEXT, ROOT, is_immutable,
    is_unassignable, normalize_name, response_wrapping_rules, sanitize,
};
pub(crate) use compile::compile;
pub(crate) use evaluate::{Question, Verdict};
pub(crate) use rule::{Identity, Rule};
pub(crate) use sudo_paths::needs_sudo;
