//! The rules of the auth method, each against the capability as a whole, with a store in memory and a Google made of a function.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod caching;
mod configuration;
mod credentials;
mod google;
mod google_failures;
mod keys;
mod login;
mod malformed;
mod renewal;
mod role_refusals;
mod roles;
mod stage;
