//! The Google Cloud auth method of the running server, with a Google beside it that is watched, disturbed and changed.

mod compatibility;
mod default_credentials;
mod failures;
mod federation;
mod group_aliases;
mod instance_groups;
mod instances;
mod renewals;
mod replay;
mod rotation;
mod single_flight;
mod stage;
mod unknown_keys;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Gatehouse;
