//! What Spin is given: that its manifests are as Spin documents them, and that what they name fits Spin and one another.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod composition;
mod faces;
mod manifests;
mod offered;
mod parts;
mod schema;
