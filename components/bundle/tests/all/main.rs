//! The components: as they are built, as they are composed, and as Spin is given them.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod built;
mod compose;
mod sources;
mod spin;
