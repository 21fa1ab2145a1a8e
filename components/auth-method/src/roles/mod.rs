//! Roles: names, and what a write does to a stored role (contract 3).

mod bindings;
mod bounds;
mod changes;
mod edits;
mod gce;
mod iam;
mod labels;
mod listing;
mod lists;
mod requirements;
mod store;
mod token_fields;
mod warnings;

pub(crate) use changes::apply as apply_role;
pub(crate) use lists::ANY_ACCOUNT;

/// Replaces a field that was sent.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// The names beside which there is a true.
fn true_names<const N: usize>(fields: [(&str, bool); N]) -> Vec<String> {
    let true_ones = fields.into_iter().filter(|(_, is_true)| *is_true);
    true_ones.map(|(name, _)| name.into()).collect()
}
