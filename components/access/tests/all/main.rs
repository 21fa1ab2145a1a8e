//! Behaviour of the capability, with a double behind each of its ports. One program, so that a changed rule links its tests once.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod accessors;
mod administration;
mod admission;
mod batch_keys;
mod batch_tokens;
mod bounds;
mod cached_reads;
mod conditions;
mod counting;
mod creation;
mod cubbyhole;
mod durability;
mod earlier_release;
mod ending;
mod entity_aliases;
mod generated_form;
mod identity;
mod interposed;
mod leases;
mod lifetimes;
mod lists;
mod login;
mod membership;
mod merge;
mod quotas;
mod reads;
mod register;
mod remount;
mod renewal_and_revocation;
mod revocation_tree;
mod revoke_alone;
mod rights;
mod role_tokens;
mod server;
mod simulation;
mod token_roles;
mod tuning;
mod under_role;
mod use_limits;
mod wrapping;
