//! Twins of the types of this crate.

use super::bindings::exports::gatehouse::auth_method::{
    config as config_wit, identity_tokens as identity_tokens_wit, login as login_wit,
    roles as roles_wit, types as types_wit,
};

crate::crossings!();
