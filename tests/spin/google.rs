//! The Google Cloud auth method of the front for Spin, with the same Google as that of the release server.

#[path = "../google/compatibility.rs"]
mod compatibility;
#[path = "../google/default_credentials.rs"]
mod default_credentials;
#[path = "../google/failures.rs"]
mod failures;
#[path = "../google/federation.rs"]
mod federation;
#[path = "../google/group_aliases.rs"]
mod group_aliases;
#[path = "../google/instance_groups.rs"]
mod instance_groups;
#[path = "../google/instances.rs"]
mod instances;
#[path = "../google/renewals.rs"]
mod renewals;
#[path = "../google/replay.rs"]
mod replay;
#[path = "../google/rotation.rs"]
mod rotation;
#[path = "../google/single_flight.rs"]
mod single_flight;
#[path = "../google/stage.rs"]
mod stage;
#[path = "../google/unknown_keys.rs"]
mod unknown_keys;

/// The program that runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
