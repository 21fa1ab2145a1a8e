//! Both protocols over the real capabilities, with stores in memory, and histories of concurrent requests.

// Helpers of tests may do all that clippy allows in test functions.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod accessors;
mod audit;
mod background;
mod backup;
mod batch_tokens;
mod bodies;
mod bootstrap;
mod browsers;
mod ceremonies;
mod clients;
mod coercions;
mod config;
mod config_texts;
mod cubbyhole;
mod explanations;
mod facts;
mod histories;
mod http_rules;
mod identity;
mod internal_ui;
mod issuer;
mod leases;
mod left_out;
mod login_rate;
mod login_texts;
mod logins;
mod method;
mod monitor;
mod mounts;
mod openapi;
mod organizations;
mod paths;
mod policies;
mod policy_conditions;
mod recorder;
mod refusals;
mod register;
mod remount;
mod renewal_texts;
mod role_lists;
mod role_texts;
mod roles;
mod root_credentials;
mod rows;
mod seal;
mod sealed;
mod server;
mod shared_store;
mod status;
mod token_roles;
mod tokens;
mod tools;
mod tuning;
mod wrapping;
