//! The console, with an API that the tests script.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod browser;
mod changes;
mod configuration;
mod forms;
mod lists;
mod overview;
mod own_tokens;
mod posts;
mod reading;
mod secrets;
mod sessions;
mod settings;
mod signing_out;
mod tuning;
