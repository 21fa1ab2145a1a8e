//! The fake as a client on the network sees it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests"
)]

mod access_tokens;
mod account_keys;
mod accounts;
mod client;
mod endpoints;
mod faults;
mod federation;
mod impersonation;
mod instance_groups;
mod instances;
mod issuer;
mod key_documents;
mod metadata_server;
mod refresh_tokens;
mod resource_manager;
mod signing;
