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
mod name;
mod requirements;
mod store;
mod token_fields;
mod warnings;

pub(crate) use changes::apply as apply_role;
pub(crate) use lists::ANY_ACCOUNT;
pub(crate) use name::RoleName;

/// Replaces a field that was sent.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
