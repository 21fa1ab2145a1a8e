//! The `/v1` protocol over the real capabilities, on stores in memory.

// What clippy allows in test functions holds for their helpers as well.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod bodies;
mod clients;
mod coercions;
mod config;
mod identity;
mod logins;
mod mounts;
mod paths;
mod policies;
mod refusals;
mod roles;
mod sealed;
mod server;
mod status;
mod tokens;
mod tuning;
mod wrapping;
