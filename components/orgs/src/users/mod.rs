//! Users: people, and workloads that have been made users.

mod account;
mod fellows;
mod store;

pub(crate) use account::id_of_user;
pub(crate) use store::{is_reserved_address, name_of_entity, subject_key, user_key, username_key};
