//! Users: people, and workloads that have been made users.

mod account;
mod entity;
mod fellows;
mod store;

pub(crate) use account::id_of_user;
pub(crate) use entity::name_of_entity;
pub(crate) use store::{is_reserved_address, subject_key, user_key, username_key};
