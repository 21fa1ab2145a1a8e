//! Properties of what the host reads of strangers: forwarded addresses, the heads of messages, and documents for the audit.
//!
//! They stand in the place of fuzz targets: this crate brings an engine along that is too much to be built with instrumentation.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod audit;
mod deployed_settings;
mod forwarded;
mod head;
