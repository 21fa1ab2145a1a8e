//! The list, in the order in which it is asked.

pub mod gcp;
mod http;
mod identity;
mod mounts;
pub mod newer;
mod policies;
mod status;
mod tokens;
mod wrapping;

use crate::step::Step;

/// Everything that is asked of every reference.
pub fn all() -> Vec<Step> {
    [
        status::requests(),
        http::requests(),
        tokens::requests(),
        policies::requests(),
        mounts::requests(),
        identity::requests(),
        wrapping::requests(),
    ]
    .concat()
}
