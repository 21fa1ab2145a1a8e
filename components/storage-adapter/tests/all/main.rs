//! The adapters over the doubles of Spin's stores and databases: what one instance does, what several do to each other, and what is left
//! when one is cut off.
//!
//! The rules of every store are in the conformance suite of `host/store`, which runs against the adapters too.

// Clippy knows test functions, and not the helpers that they call.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod cache;
mod costs;
mod cut_off;
mod faults;
mod histories;
mod model;
mod postgres;
mod races;
mod room;
mod secrecy;
mod setting;
mod shape;
mod sqlite;
mod stage;
