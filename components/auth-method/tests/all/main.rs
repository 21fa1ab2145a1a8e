//! The rules of the auth method, each against the capability as a whole, with a store in memory and a Google made of a function.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod algorithms;
mod ancestry;
mod bounds;
mod caching;
mod compute;
mod config_check;
mod config_rules;
mod configuration;
mod credentials;
mod default_credentials;
mod edges;
mod explanations;
mod federation;
mod fleet;
mod gce_role_refusals;
mod gce_roles;
mod google;
mod google_credentials;
mod google_failures;
mod groups;
mod instance_bounds;
mod instance_renewals;
mod instances;
mod issuer;
mod key_documents;
mod keys;
mod login;
mod malformed;
mod refusals;
mod register;
mod renewal;
mod retries;
mod role_edits;
mod role_lists;
mod role_refusals;
mod role_warnings;
mod roles;
mod rotation;
mod rotation_crashes;
mod sharing;
mod single_flight;
mod stage;
mod steps;
mod stored_forms;
mod trusted_claims;
mod work;
