//! Roles: names, and what a write does to a stored role (contract 3).

mod changes;
mod lists;
mod name;
mod token_fields;

pub(crate) use changes::{Written, apply};
pub(crate) use lists::ANY_ACCOUNT;
pub(crate) use name::RoleName;

use gatehouse_storage::Record;

use crate::Role;
use crate::excerpt::excerpt;

/// Most of an operator's input that an error repeats, in bytes.
const SHOWN_BYTES: usize = 128;

impl Record for Role {
    const SCHEMA: u16 = 1;
}

fn shown(text: &str) -> String {
    excerpt(text, SHOWN_BYTES)
}
