//! API tokens: what users, teams, organizations and the workers of pools present (contract 1.6, 4.6, 4.7, 4.10).
//!
//! Of a token's text only a keyed hash is stored, under which it is found.

mod ending;
mod issue;
mod lifetime;
pub(crate) mod record;
mod store;
mod text;

pub(crate) use lifetime::{LifetimesRecord, lifetimes_key};
pub(crate) use text::SecretHasher;

#[cfg(test)]
mod tests;
