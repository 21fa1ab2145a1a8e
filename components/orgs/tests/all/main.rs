//! Organizations through their interface, over a store in memory: the answers, and what is stored.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod authority;
mod concurrency;
mod crashes;
mod damage;
mod lifecycle;
mod listing;
mod meanwhile;
mod people;
mod sharing;
mod site;
mod subscriptions;
mod tokens;
mod world;

use world::*;
